/* SPDX-License-Identifier: Apache-2.0 */
/* worker/returns.c: units on their way back to the inventory, and who waits for them: a cancelled
 * or refunded order is answered when the inventory has its units, or, after RETURN_WAIT_MS, with
 * "returning". Waiting requests stay at the edge and take no place here. */
#include "base/log.h"
#include "worker/payment_requests.h"
#include "worker/public_requests.h"
#include "worker/worker_parts.h"

enum { RETURN_WAIT_MS = 2000 };

/* Answers the requests that wait for these units. */
static void return_told(struct desk *desk, const struct inventory_answer *answer)
{
    const ticket_number ticket = stock_pump_ticket(desk->pump, answer);
    if (ticket != 0)
        desk_order_changed(desk, ticket, answer->outcome.user);
}

/* The pump, the waitlist and late money share a port. */
static void pump_port_collect(struct desk *desk)
{
    struct inventory_port *port = desk->config.pump_port;
    const struct inventory_answer *answer;
    while ((answer = port->ops->collect(port)) != NULL) {
        const bool pump = stock_pump_answer(desk->pump, desk->now_ms, answer);
        const bool late = !pump && late_money_answer(&desk->money.late, answer);
        invariant(pump || late || waitlist_answer(&desk->waitlist, answer));
        if (late)
            cashier_look(&desk->money.cashier);
        if (pump && answer->outcome.answer == ANSWER_DONE && desk->now_ms < desk->returns_until_ms)
            return_told(desk, answer);
    }
}

void desk_returns_run(struct desk *desk)
{
    struct stock_pump_progress pump;
    pump_port_collect(desk);
    if (stock_pump_turn(desk->pump, desk->now_ms, &pump) == STATUS_OK)
        desk_alarms_pump(desk, &pump);
    const enum status status = waitlist_turn(&desk->waitlist, desk->now_ms);
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("desk", "the waitlist can't be served: %s", status_name(status));
}

void desk_returned_json(struct desk *desk, const struct order *order, struct text *out)
{
    desk_order_json(desk, order, out);
    const bool over = order->state == ORDER_CLOSED || order->state == ORDER_REFUNDED;
    if (out->overflow || !over || !stock_pump_is_open(desk->pump, order->ticket))
        return;
    out->size--; /* the brace */
    text_literal(out, ",\"returning\":true}");
}

static void returned_reply(struct desk *desk, struct job *job, const struct order *order)
{
    struct text body = job_body(job);
    desk_returned_json(desk, order, &body);
    job_reply_json(job, 200, &body);
}

/* Handed in again by the edge: there is news of the order, or the time is up. */
void desk_return_job(struct desk *desk, struct job *job)
{
    struct order order;
    if (job->may_wait && stock_pump_is_open(desk->pump, job->ticket))
        job->result = JOB_NOT_YET;
    else if (public_order_read(desk, job, &order))
        returned_reply(desk, job, &order);
}

void desk_return_reply(struct desk *desk, struct job *job, const struct order *order, bool done)
{
    if (!done || !job->may_wait) {
        returned_reply(desk, job, order);
        return;
    }
    desk->returns_until_ms = desk->now_ms + RETURN_WAIT_MS;
    job->wait_until_ms = desk->returns_until_ms;
    job->kind = JOB_RETURN;
    job->result = JOB_NOT_YET;
}
