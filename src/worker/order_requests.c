/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/order_requests.h"

#include "api/job_reply.h"
#include "base/log.h"
#include "contract/order_state.h"
#include "contract/order_store.h"
#include "funnel/keys.h"
#include "orders/stock_pump.h"
#include "worker/leadership.h"
#include "worker/money.h"
#include "worker/order_news.h"
#include "worker/order_views.h"
#include "worker/payment_requests.h"
#include "worker/public_requests.h"
#include "worker/returns.h"
#include "worker/worker_parts.h"

static void move_refuse(struct job *job, const struct order_move *move, const struct order *order)
{
    char bytes[96];
    struct text more = text_in(bytes, sizeof bytes);
    order_state_members(order, &more);
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
        order_news_tell(&worker->news, move->ticket, after->user);
        returns_look(worker->returns);
        money_look(worker->money); /* a refund may be due */
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
    else if (answer == MOVE_SHIPPED)
        job_reply_problem(job, PROBLEM_ALREADY_SHIPPED, NULL, SPAN_NONE);
    else if (answer == MOVE_REFERENCE_USED)
        job_reply_problem(job, PROBLEM_REFERENCE_USED, NULL, SPAN_NONE);
    else
        move_refuse(job, move, after);
    return false;
}

/* ---- units that are on their way back: the answer comes when the inventory has them, or, after
 * RETURN_WAIT_MS, with "returning". Waiting requests stay at the edge and take no place here. ---- */

static void returned_json(
    struct worker *worker, const struct order *order, uint64_t since, struct text *out)
{
    order_json(&worker->views, order, out);
    const bool over = order->state == ORDER_CLOSED || order->state == ORDER_REFUNDED;
    if (out->overflow || !over || !returns_is_open(worker->returns, order->ticket, since))
        return;
    out->size--; /* the brace */
    text_literal(out, ",\"returning\":true}");
}

void worker_returned_json(struct worker *worker, const struct order *order, struct text *out)
{
    returned_json(worker, order, STOCK_PUMP_ANY_LOOK, out);
}

static void returned_reply(
    struct worker *worker, struct job *job, const struct order *order, uint64_t since)
{
    struct text body = job_body(job);
    returned_json(worker, order, since, &body);
    job_reply_json(job, 200, &body);
}

/* Handed in again by the edge: there is news of the order, or the time is up. */
void worker_return_job(struct worker *worker, struct job *job)
{
    struct order order;
    if (job->may_wait && returns_is_open(worker->returns, job->ticket, job->version_seen))
        job->result = JOB_NOT_YET;
    else if (public_order_read(worker, job, &order))
        returned_reply(worker, job, &order, job->version_seen);
}

void worker_return_reply(struct worker *worker, struct job *job, const struct order *order, bool done)
{
    /* Another process brings the units back, if this one does not lead. */
    if (!done || !job->may_wait || !leadership_holds(worker->leadership, worker->now_ms)) {
        returned_reply(worker, job, order, STOCK_PUMP_ANY_LOOK);
        return;
    }
    job->version_seen = returns_looks(worker->returns);
    job->wait_until_ms = worker->now_ms + RETURN_WAIT_MS;
    returns_hurry(worker->returns, job->wait_until_ms);
    job->kind = JOB_RETURN;
    job->result = JOB_NOT_YET;
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
