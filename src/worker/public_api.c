/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/public_api.h"

#include "api/path_pattern.h"
#include "edge/edge.h"
#include "gateway/job_shares.h"
#include "worker/payment_requests.h"

struct public_route {
    enum http_method method;
    const char *path; /* after /v1; a pattern (path_pattern.h) */
    public_handler handler;
    enum public_known known;
    uint32_t body_max;
    bool pays;
};

/* Bodies without and with details of delivery. */
enum { SHORT = EDGE_BODY_ANY, DETAILED = JOB_BODY_SMALL };
static const struct public_route routes[] = {
    { HTTP_POST, "/orders/@/cancel", public_order_cancel, PUBLIC_KNOWN, SHORT, false },
    { HTTP_POST, "/orders/@/pay", public_order_pay, PUBLIC_KNOWN, SHORT, true },
    { HTTP_POST, "/orders/@/query", public_order_query, PUBLIC_KNOWN, SHORT, false },
    { HTTP_GET, "/orders/@/details", public_order_details, PUBLIC_KNOWN, SHORT, false },
    { HTTP_PUT, "/orders/@/details", public_order_details_set, PUBLIC_KNOWN, DETAILED, false },
    { HTTP_POST, "/orders/@/refund", public_order_refund, PUBLIC_KNOWN, SHORT, false },
    { HTTP_POST, "/intents/pay", public_intent_pay, PUBLIC_BUYS, DETAILED, true },
    { HTTP_GET, "/payments", public_payment_ways, PUBLIC_KNOWN, SHORT, false },
    { HTTP_POST, "/items/#/waitlist", public_waitlist_join, PUBLIC_ENTERS, SHORT, false },
    { HTTP_GET, "/items/#/waitlist", public_waitlist_show, PUBLIC_KNOWN, SHORT, false },
    { HTTP_DELETE, "/items/#/waitlist", public_waitlist_leave, PUBLIC_KNOWN, SHORT, false },
};
enum { ROUTES = sizeof routes / sizeof *routes };

struct public_found public_api_find(enum http_method method, struct span path)
{
    struct public_found found = { .known = PUBLIC_UNKNOWN };
    uint64_t order;
    for (size_t i = 0; i < ROUTES; i++) {
        if (!path_pattern_matches(routes[i].path, path, &found.id, &order))
            continue;
        found.known = PUBLIC_OTHER_METHOD;
        if (routes[i].method != method)
            continue;
        found.known = routes[i].known;
        found.body_max = routes[i].body_max;
        found.pays = routes[i].pays;
        return found;
    }
    return found;
}

void desk_public_job(struct desk *desk, struct job *job)
{
    for (size_t i = 0; i < ROUTES; i++) {
        uint32_t id;
        uint64_t order;
        if (routes[i].method != job->method
            || !path_pattern_matches(routes[i].path, job->path, &id, &order))
            continue;
        job->ticket = order == 0 ? 0 : funnel_order_number(desk->config.keys, order);
        routes[i].handler(desk, job, id);
        return;
    }
    job_reply_problem(job, PROBLEM_NOT_FOUND, NULL, SPAN_NONE);
}

/* Not in the store: being written, if the inventory knows the ticket and it is this user's. */
static void order_missing(struct desk *desk, struct job *job)
{
    const struct command command = {
        .type = COMMAND_ASK_TICKET, .time_ms = desk->now_ms, .ask = { .ticket = job->ticket }
    };
    struct outcome outcome;
    if (desk_ask(desk, &command, &outcome) != STATUS_OK)
        job_reply_status(job, STATUS_AWAY);
    else if (outcome.answer == ANSWER_FOUND && outcome.user == job->user)
        job_reply_problem(job, PROBLEM_IN_PROGRESS,
            "The order is still being written. Try again shortly.", SPAN_NONE);
    else
        job_reply_problem(job, PROBLEM_UNKNOWN_ORDER, NULL, SPAN_NONE);
}

bool public_order_read(struct desk *desk, struct job *job, struct order *order)
{
    const enum status status =
        desk->config.store->ops->order_by_ticket(desk->config.store, job->ticket, order);
    if (status == STATUS_NOT_FOUND)
        order_missing(desk, job);
    else if (status != STATUS_OK)
        job_reply_status(job, status);
    else if (order->user != job->user)
        job_reply_problem(job, PROBLEM_UNKNOWN_ORDER, NULL, SPAN_NONE);
    else
        return true;
    return false;
}

void public_order_reply(struct desk *desk, struct job *job, int status, const struct order *order)
{
    struct text body = job_body(job);
    desk_order_json(desk, order, &body);
    job_reply_json(job, status, &body);
}
