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

static void ids_json(const struct desk *desk, ticket_number ticket, struct text *out)
{
    text_literal(out, "{\"ticket\":\"");
    text_hex64(out, funnel_ticket_id(desk->config.keys, ticket));
    text_literal(out, "\",\"order\":\"");
    text_hex64(out, funnel_order_id(desk->config.keys, ticket));
    text_literal(out, "\"");
}

enum status desk_order_contact_json(
    const struct desk *desk, const struct order *order, bool details, struct text *out)
{
    text_literal(out, ",\"customer\":");
    enum status status = customers_json(desk->config.customers, desk->config.store, order->user, out);
    if (status != STATUS_OK || !details)
        return status;
    text_literal(out, ",\"details\":");
    status = desk_details_json(desk, order->ticket, out);
    if (status != STATUS_NOT_FOUND)
        return status;
    text_literal(out, "null");
    return STATUS_OK;
}

/* From the catalog; of a sale that is not public, from the store. "": the store is away. */
static void order_currency(const struct desk *desk, item_id id, char currency[4])
{
    const struct catalog *catalog = handover_get(desk->config.catalog);
    const struct catalog_item *item = catalog == NULL ? NULL : catalog_item_find(catalog, id);
    struct item row = { 0 };
    if (item == NULL)
        (void)!desk->config.store->ops->item_get(desk->config.store, id, &row);
    memcpy(currency, item != NULL ? item->currency : row.currency, 4);
}

void desk_order_json(const struct desk *desk, const struct order *order, struct text *out)
{
    char currency[4];
    order_currency(desk, order->item, currency);
    ids_json(desk, order->ticket, out);
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
    desk_payment_json(desk, order, out);
    text_literal(out, "}");
}

/* The edge has asked the inventory already: the ticket is this user's, or it is forgotten (no item).
 * Not in the store yet means: being written. */
void desk_order_job(struct desk *desk, struct job *job)
{
    struct order order;
    struct text body = job_body(job);
    const enum status status =
        desk->config.store->ops->order_by_ticket(desk->config.store, job->ticket, &order);
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
        desk_order_json(desk, &order, &body);
    } else {
        ids_json(desk, job->ticket, &body);
        text_format(&body, ",\"state\":\"creating\",\"item\":%u,\"quantity\":%u}", job->item,
            job->quantity);
    }
    job_reply_json(job, 200, &body);
}

enum status desk_orders_text(struct desk *desk, const struct job *job, struct text *out)
{
    struct order orders[ORDERS_SHOWN];
    const struct order_filter filter = { .user = job->user };
    ticket_number next;
    uint32_t count = 0;
    const enum status status = desk->config.store->ops->orders_list(
        desk->config.store, &filter, orders, ORDERS_SHOWN, &count, &next);
    if (status != STATUS_OK)
        return status;
    text_literal(out, "\"orders\":[");
    for (uint32_t i = 0; i < count; i++) {
        text_string(out, i == 0 ? "" : ",");
        desk_order_json(desk, &orders[i], out);
    }
    text_literal(out, "]");
    return STATUS_OK;
}

void desk_orders_job(struct desk *desk, struct job *job)
{
    struct text body = job_body(job);
    text_literal(&body, "{");
    const enum status status = desk_orders_text(desk, job, &body);
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

bool desk_order_move(struct desk *desk, struct job *job, const struct order_move *move,
    struct order *after, bool *done)
{
    static const char *const events[] = { "pay", "expire", "cancel", "reject", "refund" };
    static_assert(sizeof events / sizeof *events == ORDER_EVENTS, "a name for each");
    struct order_store *store = desk->config.store;
    uint8_t answer = MOVE_UNKNOWN;
    const enum status status = store->ops->orders_move(store, move, 1, after, &answer);
    *done = false;
    if (!job_ok(job, status))
        return false;
    if (answer == MOVE_DONE) {
        *done = true;
        desk_order_changed(desk, move->ticket, after->user);
        stock_pump_look(desk->pump);
        cashier_look(&desk->money.cashier); /* a refund may be due */
    }
    if (answer == MOVE_DONE || answer == MOVE_REPEATED)
        return true;
    if (answer == MOVE_PAYMENT_OPEN) {
        desk_cancel_later(desk, job, after);
        return false;
    }
    if (answer != MOVE_UNKNOWN)
        log_info("desk", "order %016llx is %s: %s is too late or not possible",
            (unsigned long long)funnel_order_id(desk->config.keys, move->ticket),
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

void public_order_cancel(struct desk *desk, struct job *job, uint32_t id)
{
    const struct order_move move = {
        .ticket = job->ticket, .event = ORDER_EVENT_CANCEL, .now_ms = desk->now_ms
    };
    struct order order;
    bool done = false;
    (void)id;
    if (public_order_read(desk, job, &order) && desk_order_move(desk, job, &move, &order, &done))
        desk_return_reply(desk, job, &order, done);
}
