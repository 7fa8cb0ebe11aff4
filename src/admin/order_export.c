/* SPDX-License-Identifier: Apache-2.0 */
/* admin/order_export.c: orders as comma-separated values, a page at a time; with the filters of the list. The
 * header `Stampede-Next` is the `before` of the next page; without it there is none. */
#include "admin/admin.h"
#include "api/customers.h"
#include "base/csv.h"
#include "base/time_text.h"
#include "contract/fulfilment.h"
#include "contract/limit_uses.h"
#include "contract/order_state.h"
#include "contract/payment.h"
#include "funnel/keys.h"
#include "worker/order_views.h"

#include <stdio.h>

enum { EXPORT_ROWS = 100, ROW_BYTES_MAX = 8 * 1024 }; /* every quote of a cell may be doubled */

static const char header[] =
    "order,state,reason,item,quantity,unit_price,amount,currency,refunded,created,pay_by,user,"
    "customer,shipment,carrier,tracking,shipped,delivered,name,phone,email,address,note,limit\r\n";

struct line {
    struct text *out;
    bool first;
};

static void cell(struct line *line, const char *text)
{
    csv_next(line->out, span_from_string(text), &line->first);
}

static void cell_u64(struct line *line, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    cell(line, text);
}

static void cell_time(struct line *line, uint64_t ms)
{
    char text[TIME_TEXT_BYTES] = "";
    if (ms != 0)
        time_text_format(ms, text);
    cell(line, text);
}

static void cell_money(struct line *line, uint64_t minor, const char *currency)
{
    char text[AMOUNT_CHARS_MAX];
    unsigned digits = 0;
    if (!currency_find(span_from_string(currency), &digits))
        digits = 0;
    amount_format(minor, digits, text);
    cell(line, text);
}

/* The shop's own name for the buyer; "": a guest. */
static enum status cell_customer(struct line *line, const struct admin *admin, user_id user)
{
    char bytes[8 * SUBJECT_BYTES_MAX];
    struct text json = text_in(bytes, sizeof bytes);
    const enum status status = customers_json(admin->views->customers, admin->store, user, &json);
    json_t *name = status == STATUS_OK ? json_loadb(bytes, json.size, JSON_DECODE_ANY, NULL) : NULL;
    cell(line, json_is_string(name) ? json_string_value(name) : "");
    json_decref(name);
    return status;
}

static enum status found(enum status status)
{
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* Money that went back, or is to go back. */
static enum status refunded_read(struct order_store *store, const struct order *order, uint64_t *amount)
{
    *amount = order->state == ORDER_REFUNDED ? order->amount : 0;
    return order->state == ORDER_PAID ? store->ops->payment->given_back(store, order->ticket, amount)
                                      : STATUS_OK;
}

static enum status row_write(struct admin *admin, const struct order *order, struct text *out)
{
    struct order_store *store = admin->store;
    struct shipment shipment = { .state = FULFIL_NONE };
    struct order_details details = { .name = "" };
    struct item item = { 0 };
    struct line line = { out, true };
    uint64_t refunded = 0;
    char id[20];
    enum status status = found(store->ops->item_get(store, order->item, &item));
    if (status == STATUS_OK)
        status = refunded_read(store, order, &refunded);
    if (status == STATUS_OK)
        status = found(store->ops->fulfil->get(store, order->ticket, &shipment));
    if (status == STATUS_OK)
        status = found(store->ops->payment->details(store, order->ticket, &details));
    if (status != STATUS_OK)
        return status;
    const char *reason = order_reason_name((enum order_reason)order->reason);
    snprintf(id, sizeof id, "%016llx",
        (unsigned long long)funnel_order_id(admin->lent->keys, order->ticket));
    cell(&line, id);
    cell(&line, order_state_name((enum order_state)order->state));
    cell(&line, reason == NULL ? "" : reason);
    cell_u64(&line, order->item);
    cell_u64(&line, order->quantity);
    cell_money(&line, order->unit_price, item.currency);
    cell_money(&line, order->amount, item.currency);
    cell(&line, item.currency);
    cell_money(&line, refunded, item.currency);
    cell_time(&line, order->created_ms);
    cell_time(&line, order->pay_by_ms);
    snprintf(id, sizeof id, "%016llx", (unsigned long long)order->user);
    cell(&line, id);
    status = cell_customer(&line, admin, order->user);
    cell(&line, fulfil_state_name((enum fulfil_state)shipment.state));
    cell(&line, shipment.carrier);
    cell(&line, shipment.tracking);
    cell_time(&line, shipment.shipped_ms);
    cell_time(&line, shipment.delivered_ms);
    cell(&line, details.name);
    cell(&line, details.phone);
    cell(&line, details.email);
    cell(&line, details.address);
    cell(&line, details.note);
    const char *limit = limit_kind_name(order->limited);
    cell(&line, limit == NULL ? "" : limit);
    text_literal(out, "\r\n");
    return status;
}

void admin_orders_export(struct admin *admin, struct job *job, uint32_t id)
{
    struct order rows[EXPORT_ROWS];
    struct order_filter filter = { 0 };
    uint64_t limit = EXPORT_ROWS;
    ticket_number next = 0;
    uint32_t count = 0;
    char more[64] = "";
    (void)id;
    if (!admin_order_filter(admin, job, &filter, &limit))
        return;
    enum status status =
        admin->store->ops->orders_list(admin->store, &filter, rows, (uint32_t)limit, &count, &next);
    struct text body = job_body(job);
    if (filter.before == 0)
        text_literal(&body, header);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        status = row_write(admin, &rows[i], &body);
        if (body.capacity - body.size < ROW_BYTES_MAX && i + 1 < count) {
            next = rows[i].ticket;
            break;
        }
    }
    if (!job_found(job, status, PROBLEM_BAD_QUERY, "before must be the number of an order."))
        return;
    if (next != 0)
        snprintf(more, sizeof more, "Stampede-Next: %llu\r\n", (unsigned long long)next);
    job_reply_bytes(job, 200, "text/csv; charset=utf-8", span_from_string(more), text_span(&body));
}
