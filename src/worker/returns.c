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
static void return_told(struct worker *worker, const struct inventory_answer *answer)
{
    const ticket_number ticket = stock_pump_ticket(worker->pump, answer);
    if (ticket != 0)
        worker_order_changed(worker, ticket, answer->outcome.user);
}

/* The pump, the waitlist and late money share a port. */
static void pump_port_collect(struct worker *worker)
{
    struct inventory_port *port = worker->config.pump_port;
    const struct inventory_answer *answer;
    while ((answer = port->ops->collect(port)) != NULL) {
        const bool pump = stock_pump_answer(worker->pump, worker->now_ms, answer);
        const bool late = !pump && late_money_answer(&worker->money.late, answer);
        invariant(pump || late || waitlist_answer(&worker->waitlist, answer));
        if (late)
            cashier_look(&worker->money.cashier);
        if (pump && answer->outcome.answer == ANSWER_DONE && worker->now_ms < worker->returns_until_ms)
            return_told(worker, answer);
    }
}

void worker_returns_run(struct worker *worker)
{
    struct stock_pump_progress pump;
    pump_port_collect(worker);
    if (stock_pump_turn(worker->pump, worker->now_ms, &pump) == STATUS_OK)
        worker_alarms_pump(worker, &pump);
    const enum status status = waitlist_turn(&worker->waitlist, worker->now_ms);
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("worker", "the waitlist can't be served: %s", status_name(status));
}

void worker_returned_json(struct worker *worker, const struct order *order, struct text *out)
{
    worker_order_json(worker, order, out);
    const bool over = order->state == ORDER_CLOSED || order->state == ORDER_REFUNDED;
    if (out->overflow || !over || !stock_pump_is_open(worker->pump, order->ticket))
        return;
    out->size--; /* the brace */
    text_literal(out, ",\"returning\":true}");
}

static void returned_reply(struct worker *worker, struct job *job, const struct order *order)
{
    struct text body = job_body(job);
    worker_returned_json(worker, order, &body);
    job_reply_json(job, 200, &body);
}

/* Handed in again by the edge: there is news of the order, or the time is up. */
void worker_return_job(struct worker *worker, struct job *job)
{
    struct order order;
    if (job->may_wait && stock_pump_is_open(worker->pump, job->ticket))
        job->result = JOB_NOT_YET;
    else if (public_order_read(worker, job, &order))
        returned_reply(worker, job, &order);
}

void worker_return_reply(struct worker *worker, struct job *job, const struct order *order, bool done)
{
    if (!done || !job->may_wait) {
        returned_reply(worker, job, order);
        return;
    }
    worker->returns_until_ms = worker->now_ms + RETURN_WAIT_MS;
    job->wait_until_ms = worker->returns_until_ms;
    job->kind = JOB_RETURN;
    job->result = JOB_NOT_YET;
}
