/* SPDX-License-Identifier: Apache-2.0 */
/* admin/statements.c: a provider's statement against our books. The rows come in parts, as
 * `stampede admin statement import` has read them from the provider's file (payment/statement.h); each
 * part is judged by itself (orders/statement.h). What is captured there and not here is asked about
 * at once; money without an order raises an alarm. Rows that are found are marked, so that what
 * no statement has can be listed afterwards. */
#include "admin/admin.h"
#include "api/query.h"
#include "base/log.h"
#include "contract/payment.h"
#include "funnel/keys.h"
#include "orders/statement.h"
#include "payment/provider.h"
#include "worker/alarms.h"
#include "worker/order_views.h"
#include "worker/payment_requests.h"

#include <stdio.h>
#include <string.h>

enum { ROWS_MAX = 100 }; /* of one part, and of one page */

struct part {
    char provider[PROVIDER_NAME_MAX + 1];
    json_t *rows;
    bool first;                                     /* of a file */
    uint64_t payments[ROWS_MAX], refunds[ROWS_MAX]; /* that the statement has */
    uint32_t payment_count, refund_count;
    uint32_t agree, others, differ, asked, unknown;
    struct text body;
};

static const struct payment_store_ops *money_ops(const struct admin *admin)
{
    return admin->store->ops->payment;
}

/* False: `error` says what is wrong. */
static bool row_read(json_t *json, struct statement_row *row, char error[FIELD_ERROR])
{
    char kind[10];
    const struct field fields[] = {
        { "reference", FIELD_TEXT, row->reference, 0, REFERENCE_BYTES_MAX, true, NULL },
        { "kind", FIELD_TEXT, kind, 1, sizeof kind - 1, true, NULL },
        { "amount", FIELD_U64, &row->amount, 0, INT64_MAX, true, NULL },
        { "currency", FIELD_TEXT, row->currency, 3, 3, true, NULL },
    };
    *row = (struct statement_row){ 0 };
    if (!json_is_object(json)) {
        snprintf(error, FIELD_ERROR, "rows must be objects.");
        return false;
    }
    if (!admin_fields_read(json, fields, sizeof fields / sizeof *fields, error))
        return false;
    row->kind = strcmp(kind, "refunded") == 0 ? STATEMENT_REFUNDED : STATEMENT_CAPTURED;
    if (row->kind == STATEMENT_REFUNDED || strcmp(kind, "captured") == 0)
        return true;
    snprintf(error, FIELD_ERROR, "kind must be captured or refunded.");
    return false;
}

static void difference_json(const struct admin *admin, struct part *part, const struct statement_row *row,
    enum statement_verdict verdict, const struct payment *payment, const struct refund *refund)
{
    struct text *out = &part->body;
    text_string(out, part->differ++ == 0 ? "" : ",");
    text_format(out, "{\"difference\":\"%s\",\"reference\":", statement_verdict_name(verdict));
    text_json(out, span_from_string(row->reference));
    text_format(out, ",\"amount\":%llu,\"currency\":", (unsigned long long)row->amount);
    text_json(out, span_from_string(row->currency));
    if (payment != NULL)
        text_format(out, ",\"order\":\"%016llx\",\"state\":\"%s\",\"captured\":%llu",
            (unsigned long long)funnel_order_id(admin->lent->keys, payment->ticket),
            payment_state_name(payment), (unsigned long long)payment->captured);
    if (refund != NULL)
        text_format(out, ",\"refund\":{\"state\":\"%s\",\"amount\":%llu}",
            refund_state_name(refund->state), (unsigned long long)refund->amount);
    text_literal(out, "}");
}

static bool was_compared(const struct part *part, uint64_t refund)
{
    for (uint32_t i = 0; i < part->refund_count; i++)
        if (part->refunds[i] == refund)
            return true;
    return false;
}

/* How well a refund of the payment fits the row: its amount, and not that of another row. */
static int refund_fit(const struct part *part, const struct statement_row *row, const struct refund *refund)
{
    const bool other = refund->stated_ms != 0 || was_compared(part, refund->id);
    return (row->amount == refund->amount ? 4 : 0) + (other ? 0 : 2)
        + (refund->why != REFUND_OF_PART ? 1 : 0);
}

/* A payment may have gone back in parts. STATUS_NOT_FOUND: nothing of it did. */
static enum status refund_find(struct admin *admin, const struct part *part,
    const struct statement_row *row, uint64_t payment, struct refund *refund)
{
    struct refund list[1 + REFUND_PARTS_MAX];
    uint32_t count = 0, best = 0;
    const enum status status = money_ops(admin)->refunds_of_payment(
        admin->store, payment, list, 1 + REFUND_PARTS_MAX, &count);
    if (status != STATUS_OK)
        return status;
    for (uint32_t i = 1; i < count; i++)
        if (refund_fit(part, row, &list[i]) > refund_fit(part, row, &list[best]))
            best = i;
    if (count > 0)
        *refund = list[best];
    return count > 0 ? STATUS_OK : STATUS_NOT_FOUND;
}

/* Our payment with the row's reference, and its refund; NULL where there is none. */
static enum status books_read(struct admin *admin, const struct part *part,
    const struct statement_row *row, struct payment *payment, struct refund *refund, bool there[2])
{
    struct order_store *store = admin->store;
    there[0] = there[1] = false;
    if (row->reference[0] == 0)
        return STATUS_OK;
    enum status status = money_ops(admin)->by_reference(store, row->reference, payment);
    there[0] = status == STATUS_OK && strcmp(payment->provider, part->provider) == 0;
    if (status == STATUS_OK && there[0]) {
        status = refund_find(admin, part, row, payment->id, refund);
        there[1] = status == STATUS_OK;
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status row_compare(struct admin *admin, struct part *part, const struct statement_row *row)
{
    struct payment payment = { .id = 0 };
    struct refund refund;
    bool there[2];
    enum status status = books_read(admin, part, row, &payment, &refund, there);
    if (status != STATUS_OK)
        return status;
    const enum statement_verdict verdict =
        statement_judge(row, there[0] ? &payment : NULL, there[1] ? &refund : NULL);
    if (row->kind == STATEMENT_CAPTURED && there[0])
        part->payments[part->payment_count++] = payment.id;
    if (row->kind == STATEMENT_REFUNDED && there[1])
        part->refunds[part->refund_count++] = refund.id;
    part->agree += verdict == STATEMENT_AGREES;
    part->others += verdict == STATEMENT_OF_OTHERS;
    if (verdict == STATEMENT_AGREES || verdict == STATEMENT_OF_OTHERS)
        return STATUS_OK;
    difference_json(admin, part, row, verdict, there[0] ? &payment : NULL, there[1] ? &refund : NULL);
    if (verdict == STATEMENT_UNKNOWN_PAYMENT) {
        part->unknown++;
        log_error("statement", "%s has payment %s of %llu %s, which is not in the database",
            part->provider, row->reference, (unsigned long long)row->amount, row->currency);
    }
    if (verdict != STATEMENT_NOT_CAPTURED)
        return STATUS_OK;
    part->asked++;
    return money_ops(admin)->ask(admin->store, payment.id, admin->now_ms);
}

/* All rows are understood before the first is compared. False: answered. */
static bool rows_check(struct job *job, const struct part *part)
{
    struct statement_row row;
    char error[FIELD_ERROR];
    if (!json_is_array(part->rows) || json_array_size(part->rows) > ROWS_MAX) {
        job_reply_problem(job, PROBLEM_BAD_VALUE, "rows must be an array of up to 100 rows.", SPAN_NONE);
        return false;
    }
    if (provider_find(part->provider) == NULL) {
        job_reply_problem(job, PROBLEM_BAD_VALUE,
            "provider must be alipay, wechat, stripe or sandbox.", SPAN_NONE);
        return false;
    }
    for (size_t i = 0; i < json_array_size(part->rows); i++) {
        if (row_read(json_array_get(part->rows, i), &row, error))
            continue;
        job_reply_problem(job, PROBLEM_BAD_VALUE, error, SPAN_NONE);
        return false;
    }
    return true;
}

static enum status part_compare(struct admin *admin, struct part *part)
{
    struct statement_row row;
    char error[FIELD_ERROR];
    enum status status = STATUS_OK;
    text_literal(&part->body, "{\"differences\":[");
    for (size_t i = 0; i < json_array_size(part->rows) && status == STATUS_OK; i++)
        if (row_read(json_array_get(part->rows, i), &row, error))
            status = row_compare(admin, part, &row);
    if (status == STATUS_OK && part->payment_count + part->refund_count > 0)
        status = money_ops(admin)->stated(admin->store, part->payments, part->payment_count,
            part->refunds, part->refund_count, admin->now_ms);
    text_format(&part->body, "],\"agree\":%u,\"of_others\":%u,\"asked\":%u}", part->agree,
        part->others, part->asked);
    return status;
}

static void part_job(struct admin *admin, struct job *job, struct part *part)
{
    part->body = job_body(job);
    if (!rows_check(job, part))
        return;
    const enum status status = part_compare(admin, part);
    if (part->asked > 0)
        worker_payments_due(admin->worker);
    if (!job_ok(job, status))
        return;
    if (part->first)
        alarm_clear(ALARM_STATEMENT);
    if (part->unknown > 0)
        alarm_raise(ALARM_STATEMENT, admin->now_ms,
            "%s has payments that the database does not know: stampede admin statement import",
            part->provider);
    const uint32_t rows = (uint32_t)json_array_size(part->rows);
    job_reply_json(job, 200, &part->body);
    admin_audit_write(admin, job, "statement.import", "%s: %u rows, %u agree, %u differ, %u queried",
        part->provider, rows, part->agree, part->differ, part->asked);
}

void admin_statement_import(struct admin *admin, struct job *job, uint32_t id)
{
    struct part part = { .rows = NULL };
    char error[FIELD_ERROR];
    const struct field fields[] = {
        { "provider", FIELD_TEXT, part.provider, 1, PROVIDER_NAME_MAX, true, NULL },
        { "rows", FIELD_JSON, &part.rows, 0, 0, true, NULL },
        { "first", FIELD_FLAG, &part.first, 0, 1, false, NULL },
    };
    (void)id;
    json_t *body = job_body_object(job);
    if (body == NULL)
        return;
    if (!admin_fields_read(body, fields, sizeof fields / sizeof *fields, error))
        job_reply_problem(job, PROBLEM_BAD_VALUE, error, SPAN_NONE);
    else
        part_job(admin, job, &part);
    json_decref(body);
}

/* ---- what no statement has ---- */

/* False: answered. */
static bool query_read(struct job *job, char provider[PROVIDER_NAME_MAX + 1], struct unstated_query *query)
{
    const struct span of = query_value(job->query, "of"), name = query_value(job->query, "provider");
    query->refunds = span_equal(of, SPAN("refunds"));
    if ((of.data != NULL && !query->refunds && !span_equal(of, SPAN("payments")))
        || name.data == NULL || name.size > PROVIDER_NAME_MAX) {
        job_reply_problem(job, PROBLEM_BAD_QUERY,
            "provider is required, and of must be payments or refunds.", SPAN_NONE);
        return false;
    }
    memcpy(provider, name.data, name.size);
    provider[name.size] = 0;
    query->provider = provider;
    query->to_ms = INT64_MAX;
    return job_query_u64(job, "from_ms", INT64_MAX, &query->from_ms)
        && job_query_u64(job, "to_ms", INT64_MAX, &query->to_ms)
        && job_query_u64(job, "after", INT64_MAX, &query->after);
}

static void missing_members(const struct admin *admin, const struct statement_missing *missing,
    bool refund, struct text *out)
{
    json_text(out, "difference", refund ? "refund-missing-there" : "payment-missing-there");
    json_hex(out, "order", funnel_order_id(admin->lent->keys, missing->ticket));
    json_text(out, "reference", missing->reference);
    json_u64(out, "amount", missing->amount);
    json_text(out, "currency", missing->currency);
    json_u64(out, "time_ms", missing->time_ms);
}

void admin_statement_missing(struct admin *admin, struct job *job, uint32_t id)
{
    struct statement_missing rows[ROWS_MAX];
    struct unstated_query query = { 0 };
    char provider[PROVIDER_NAME_MAX + 1];
    uint32_t count = 0;
    (void)id;
    if (!query_read(job, provider, &query))
        return;
    const enum status status = money_ops(admin)->unstated(admin->store, &query, rows, ROWS_MAX, &count);
    if (!job_ok(job, status))
        return;
    struct page page = page_begin(job, "missing");
    for (uint32_t i = 0; i < count; i++)
        missing_members(admin, &rows[i], query.refunds, page_object(&page, rows[i].id));
    page_end(job, &page, page_next(&page, ROWS_MAX));
}
