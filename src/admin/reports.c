/* SPDX-License-Identifier: Apache-2.0 */
/* admin/reports.c: the final report of a sale: who came, who won, what became of it. */
#include "admin/admin.h"
#include "contract/payment.h"
#include "contract/report.h"

#include <string.h>

static void counts_json(
    const struct sale *sale, const struct sale_count *counts, uint32_t count, struct text *out)
{
    uint64_t sold_out_ms = 0, overlap_s = 0, opened_ms = sale->start_ms;
    const char *comma = "";
    text_literal(out, ",\"funnel\":{");
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(counts[i].layer, LAYER_SOLD_OUT) == 0)
            sold_out_ms = counts[i].count;
        else if (strcmp(counts[i].layer, LAYER_OPENED) == 0)
            opened_ms = counts[i].count < opened_ms ? counts[i].count : opened_ms;
        else if (strcmp(counts[i].layer, LAYER_OVERLAP) == 0)
            overlap_s = counts[i].count;
        else {
            text_format(out, "%s\"%s\":%llu", comma, counts[i].layer, (unsigned long long)counts[i].count);
            comma = ",";
        }
    }
    text_format(out,
        "},\"overlap_s\":%llu,\"opened_ms\":%llu,\"sold_out_ms\":%llu,\"sold_out_after_ms\":%llu",
        (unsigned long long)overlap_s, (unsigned long long)opened_ms, (unsigned long long)sold_out_ms,
        (unsigned long long)(sold_out_ms > opened_ms ? sold_out_ms - opened_ms : 0));
}

static void figures_json(const struct sale_figures *figures, struct text *out)
{
    const uint64_t *orders = figures->orders, *units = figures->units;
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = { { "winners", figures->winners }, { "orders_pending", orders[ORDER_PENDING] },
        { "orders_paid", orders[ORDER_PAID] }, { "orders_refunded", orders[ORDER_REFUNDED] },
        { "orders_expired", figures->closed[REASON_EXPIRED] },
        { "orders_cancelled", figures->closed[REASON_CANCELLED] },
        { "orders_rejected", figures->closed[REASON_REJECTED] },
        { "units_pending", units[ORDER_PENDING] }, { "units_paid", units[ORDER_PAID] },
        { "units_closed", units[ORDER_CLOSED] }, { "units_refunded", units[ORDER_REFUNDED] },
        { "payments", figures->payments }, { "payment_median_ms", figures->median_ms },
        { "payment_p95_ms", figures->p95_ms } };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        text_format(out, ",\"%s\":%llu", numbers[i].name, (unsigned long long)numbers[i].value);
    text_literal(out, ",\"money\":[");
    for (uint32_t i = 0; i < figures->currencies; i++) {
        text_format(out, "%s{\"currency\":", i == 0 ? "" : ",");
        text_json(out, span_from_string(figures->money[i].currency));
        text_format(out, ",\"revenue\":%llu,\"refunded\":%llu}",
            (unsigned long long)money_shown(figures->money[i].paid),
            (unsigned long long)money_shown(figures->money[i].refunded));
    }
    text_literal(out, "]");
}

void admin_sale_report(struct admin *admin, struct job *job, uint32_t id)
{
    struct order_store *store = admin->store;
    struct sale sale;
    struct sale_figures figures = { .winners = 0 };
    struct sale_count counts[LAYERS_MAX];
    uint32_t count = 0;
    struct text body = job_body(job);
    if (!admin_sale_read(admin, job, id, &sale))
        return;
    enum status status = store->ops->report->counts(store, id, counts, LAYERS_MAX, &count);
    if (status == STATUS_OK)
        status = store->ops->report->figures(store, id, &figures);
    if (!job_ok(job, status))
        return;
    text_format(&body, "{\"sale\":%u,\"title\":", id);
    text_json(&body, span_from_string(sale.title));
    text_format(&body, ",\"gate\":\"%s\",\"start_ms\":%llu,\"end_ms\":%llu",
        admin_sale_gate(admin, &sale), (unsigned long long)sale.start_ms,
        (unsigned long long)sale.end_ms);
    counts_json(&sale, counts, count, &body);
    figures_json(&figures, &body);
    text_literal(&body, "}");
    job_reply_json(job, 200, &body);
}
