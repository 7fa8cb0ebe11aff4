/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/public_requests.h"

#include "api/job_reply.h"
#include "api/public_routes.h"
#include "contract/command.h"
#include "contract/order_store.h"
#include "worker/errands.h"
#include "worker/order_views.h"
#include "worker/payment_requests.h"
#include "worker/worker_parts.h"

#define HANDLER(name, handler, method, path, needs, body, pays) [PUBLIC_##name] = (handler),
static const public_handler handlers[PUBLIC_ROUTES] = { PUBLIC_ROUTE_LIST(HANDLER) };

void worker_public_job(struct worker *worker, struct job *job)
{
    invariant(job->route < PUBLIC_ROUTES);
    handlers[job->route](worker, job, job->path_id);
}

/* Not in the store: being written, if the inventory knows the ticket and it is this user's. On many machines
 * it may not be decided yet, or be void; then nobody knows whose it is (gateway/order_requests.c). */
static void order_missing(struct worker *worker, struct job *job)
{
    const struct command command = {
        .type = COMMAND_ASK_TICKET, .time_ms = worker->now_ms, .ask = { .ticket = job->ticket }
    };
    struct outcome outcome;
    if (errands_ask(worker->errands, &command, &outcome) != STATUS_OK)
        job_reply_status(job, STATUS_AWAY);
    else if (outcome.answer == ANSWER_FOUND && outcome.user == job->user)
        job_reply_problem(job, PROBLEM_IN_PROGRESS,
            "The order is still being written. Try again shortly.", SPAN_NONE);
    else if (outcome.answer == ANSWER_DECIDING)
        job_reply_problem(job, PROBLEM_IN_PROGRESS,
            "The purchase is being decided. Try again shortly.", SPAN_NONE);
    else if (outcome.answer == ANSWER_VOID)
        job_reply_problem(job, PROBLEM_UNKNOWN_ORDER,
            "The purchase was not kept: there is no order. You were not charged.", SPAN_NONE);
    else
        job_reply_problem(job, PROBLEM_UNKNOWN_ORDER, NULL, SPAN_NONE);
}

bool public_order_read(struct worker *worker, struct job *job, struct order *order)
{
    const enum status status =
        worker->config.store->ops->order_by_ticket(worker->config.store, job->ticket, order);
    if (status == STATUS_NOT_FOUND)
        order_missing(worker, job);
    else if (status != STATUS_OK)
        job_reply_status(job, status);
    else if (order->user != job->user)
        job_reply_problem(job, PROBLEM_UNKNOWN_ORDER, NULL, SPAN_NONE);
    else
        return true;
    return false;
}

void public_order_reply(struct worker *worker, struct job *job, int status, const struct order *order)
{
    struct text body = job_body(job);
    order_json(&worker->views, order, &body);
    job_reply_json(job, status, &body);
}
