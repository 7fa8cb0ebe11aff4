/* SPDX-License-Identifier: Apache-2.0 */
/* worker/order_view.c: orders shown and moved: a user's own for the public API, any for the
 * admin's. */
#include "api/catalog.h"
#include "base/log.h"
#include "contract/order_state.h"
#include "worker/payment_requests.h"
#include "worker/public_requests.h"
#include "worker/worker_parts.h"

#include <string.h>

enum { ORDERS_SHOWN = 100 };

static const char *const reason_names[] = {
    [REASON_NONE] = "null",
    [REASON_EXPIRED] = "\"expired\"",
    [REASON_CANCELLED] = "\"cancelled\"",
    [REASON_REJECTED] = "\"rejected\"",
};
static_assert(sizeof reason_names / sizeof *reason_names == ORDER_REASONS, "a name for each");

static void ids_json(const struct worker *worker, ticket_number ticket, struct text *out)
{
    text_literal(out, "{\"ticket\":\"");
    text_hex64(out, funnel_ticket_id(worker->config.keys, ticket));
    text_literal(out, "\",\"order\":\"");
    text_hex64(out, funnel_order_id(worker->config.keys, ticket));
    text_literal(out, "\"");
}

enum status worker_order_contact_json(
    const struct worker *worker, const struct order *order, bool details, struct text *out)
{
    text_literal(out, ",\"customer\":");
    enum status status =
        customers_json(worker->config.customers, worker->config.store, order->user, out);
    if (status != STATUS_OK || !details)
        return status;
    text_literal(out, ",\"details\":");
    status = worker_details_json(worker, order->ticket, out);
    if (status != STATUS_NOT_FOUND)
        return status;
    text_literal(out, "null");
    return STATUS_OK;
}

/* From the catalog; of a sale that is not public, from the store. "": the store is away. */
static void order_currency(const struct worker *worker, item_id id, char currency[4])
{
    const struct catalog *catalog = handover_get(worker->config.catalog);
    const struct catalog_item *item = catalog == NULL ? NULL : catalog_item_find(catalog, id);
    struct item row = { 0 };
    if (item == NULL)
        (void)!worker->config.store->ops->item_get(worker->config.store, id, &row);
    memcpy(currency, item != NULL ? item->currency : row.currency, 4);
}

void worker_order_json(const struct worker *worker, const struct order *order, struct text *out)
{
    char currency[4];
    order_currency(worker, order->item, currency);
    ids_json(worker, order->ticket, out);
    text_format(out, ",\"state\":\"%s\",\"reason\":%s,\"item\":%u,\"quantity\":%u",
        order_state_name((enum order_state)order->state), reason_names[order->reason], order->item,
        order->quantity);
    text_format(out, ",\"unit_price\":%llu,\"amount\":%llu", (unsigned long long)order->unit_price,
        (unsigned long long)order->amount);
    currency_members(currency, out);
    if (order->ending != REASON_NONE)
        text_literal(out, ",\"closing\":true"); /* as soon as its payments are */
    text_format(out, ",\"created_ms\":%llu,\"pay_by_ms\":%llu,\"version\":%llu",
        (unsigned long long)order->created_ms, (unsigned long long)order->pay_by_ms,
        (unsigned long long)order->version);
    worker_payment_json(worker, order, out);
    text_literal(out, "}");
}

/* The edge has asked the inventory already: the ticket is this user's, or it is forgotten (no item).
 * Not in the store yet means: being written. */
void worker_order_job(struct worker *worker, struct job *job)
{
    struct order order;
    struct text body = job_body(job);
    const enum status status =
        worker->config.store->ops->order_by_ticket(worker->config.store, job->ticket, &order);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND) {
        job_reply_status(job, status);
        return;
    }
    const bool news = status == STATUS_OK && order.version != job->version_seen;
    if (!news && job->may_wait) {
        job->result = JOB_NOT_YET;
        return;
    }
    if (status == STATUS_OK ? order.user != job->user : job->item == 0) {
        job_reply_problem(job, PROBLEM_UNKNOWN_ORDER, NULL, SPAN_NONE);
        return;
    }
    if (status == STATUS_OK) {
        worker_order_json(worker, &order, &body);
    } else {
        ids_json(worker, job->ticket, &body);
        text_format(&body, ",\"state\":\"creating\",\"item\":%u,\"quantity\":%u}", job->item,
            job->quantity);
    }
    job_reply_json(job, 200, &body);
}

enum status worker_orders_text(struct worker *worker, const struct job *job, struct text *out)
{
    struct order orders[ORDERS_SHOWN];
    const struct order_filter filter = { .user = job->user };
    ticket_number next;
    uint32_t count = 0;
    const enum status status = worker->config.store->ops->orders_list(
        worker->config.store, &filter, orders, ORDERS_SHOWN, &count, &next);
    if (status != STATUS_OK)
        return status;
    text_literal(out, "\"orders\":[");
    for (uint32_t i = 0; i < count; i++) {
        text_string(out, i == 0 ? "" : ",");
        worker_order_json(worker, &orders[i], out);
    }
    text_literal(out, "]");
    return STATUS_OK;
}

void worker_orders_job(struct worker *worker, struct job *job)
{
    struct text body = job_body(job);
    text_literal(&body, "{");
    const enum status status = worker_orders_text(worker, job, &body);
    text_literal(&body, "}");
    if (job_ok(job, status))
        job_reply_json(job, 200, &body);
}

/* ,"state":"closed","reason":"expired" */
static void move_refuse(struct job *job, const struct order_move *move, const struct order *order)
{
    char bytes[96];
    struct text more = text_in(bytes, sizeof bytes);
    text_format(&more, ",\"state\":\"%s\",\"reason\":%s",
        order_state_name((enum order_state)order->state), reason_names[order->reason]);
    const bool refund = move->event == ORDER_EVENT_REFUND && order->state == ORDER_PENDING;
    job_reply_problem(job,
        refund                           ? PROBLEM_NOT_PAID
            : order->state == ORDER_PAID ? PROBLEM_ALREADY_PAID
                                         : PROBLEM_ORDER_CLOSED,
        NULL, text_span(&more));
}

bool worker_order_move(struct worker *worker, struct job *job, const struct order_move *move,
    struct order *after, bool *done)
{
    static const char *const events[] = { "pay", "expire", "cancel", "reject", "refund" };
    static_assert(sizeof events / sizeof *events == ORDER_EVENTS, "a name for each");
    struct order_store *store = worker->config.store;
    uint8_t answer = MOVE_UNKNOWN;
    const enum status status = store->ops->orders_move(store, move, 1, after, &answer);
    *done = false;
    if (!job_ok(job, status))
        return false;
    if (answer == MOVE_DONE) {
        *done = true;
        worker_order_changed(worker, move->ticket, after->user);
        stock_pump_look(worker->pump);
        cashier_look(&worker->money.cashier); /* a refund may be due */
    }
    if (answer == MOVE_DONE || answer == MOVE_REPEATED)
        return true;
    if (answer == MOVE_PAYMENT_OPEN) {
        worker_cancel_later(worker, job, after);
        return false;
    }
    if (answer != MOVE_UNKNOWN)
        log_info("worker", "order %016llx is %s: %s is too late or not possible",
            (unsigned long long)funnel_order_id(worker->config.keys, move->ticket),
            order_state_name((enum order_state)after->state), events[move->event]);
    if (answer == MOVE_UNKNOWN)
        job_reply_problem(job, PROBLEM_UNKNOWN_ORDER, NULL, SPAN_NONE);
    else if (answer == MOVE_AMOUNT)
        job_reply_problem(job, PROBLEM_AMOUNT_MISMATCH, NULL, SPAN_NONE);
    else if (answer == MOVE_NO_PAYMENT)
        job_reply_problem(job, PROBLEM_CONFLICT,
            "There is no known payment of this order. See stampede reconcile.", SPAN_NONE);
    else if (answer == MOVE_REFERENCE_USED)
        job_reply_problem(job, PROBLEM_REFERENCE_USED, NULL, SPAN_NONE);
    else
        move_refuse(job, move, after);
    return false;
}

void public_order_cancel(struct worker *worker, struct job *job, uint32_t id)
{
    const struct order_move move = {
        .ticket = job->ticket, .event = ORDER_EVENT_CANCEL, .now_ms = worker->now_ms
    };
    struct order order;
    bool done = false;
    (void)id;
    if (public_order_read(worker, job, &order) && worker_order_move(worker, job, &move, &order, &done))
        worker_return_reply(worker, job, &order, done);
}
