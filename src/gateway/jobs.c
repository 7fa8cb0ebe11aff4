/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/jobs.h"

#include "api/link.h"
#include "gateway/anomaly_notes.h"
#include "gateway/exchange.h"
#include "gateway/job_shares.h"
#include "gateway/period_limits.h"
#include "gateway/push.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "gateway/waits.h"

#include <string.h>

struct job *job_take(struct routes *routes, const struct job_wish *wish)
{
    struct job *job = job_shares_take(&routes->jobs, wish->share, wish->user);
    if (job == NULL)
        return NULL;
    job->kind = wish->kind;
    job->to = wish->to;
    return job;
}

struct job *exchange_job(struct exchange *exchange, enum job_kind kind, enum job_share share, user_id user)
{
    struct routes *routes = exchange->routes;
    const struct job_wish wish = { .kind = kind, .share = share, .user = user, .to = exchange->to };
    struct job *job = job_take(routes, &wish);
    if (job == NULL && job_shares_user_full(&routes->jobs, share, user))
        reply_too_fast(exchange, TOO_MANY_JOBS_WAIT_MS);
    else if (job == NULL)
        reply_problem(exchange, PROBLEM_TOO_POPULAR, NULL);
    return job;
}

void job_hand_in(struct routes *routes, struct job *job)
{
    link_hand_in(routes->shared.link, routes->index, job);
}

struct span job_copy(struct job *job, size_t *used, struct span bytes)
{
    if (bytes.size == 0)
        return SPAN_NONE;
    invariant(*used + bytes.size <= job->request_bytes);
    memcpy(job->request + *used, bytes.data, bytes.size);
    const struct span copy = span_of(job->request + *used, bytes.size);
    *used += bytes.size;
    return copy;
}

bool content_is_json(struct span type)
{
    static const struct span json = SPAN("application/json");
    if (type.size < json.size || !span_equal_ignoring_case(span_of(type.data, json.size), json))
        return false;
    return type.size == json.size || type.data[json.size] == ';' || type.data[json.size] == ' ';
}

size_t job_fill(struct job *job, const struct http_request *request, struct span path)
{
    size_t used = 0;
    job->method = request->method;
    job->path = job_copy(job, &used, path);
    job->query = job_copy(job, &used, request->query);
    job->body = job_copy(job, &used, request->body);
    return used;
}

static void job_returned(struct routes *routes, struct job *job)
{
    if (job->check_failed)
        routes_watch_failed_of(routes, &job->client);
    if (job->kind == JOB_PUSH)
        push_job_returned(routes, job);
    else if (job->kind == JOB_LIMIT)
        period_limit_answered(routes, job);
    else if (job->result == JOB_NOT_YET)
        wait_add(routes, job);
    else
        complete_job(routes, job);
    job_shares_give(&routes->jobs, job);
}

void jobs_turn(struct routes *routes, uint64_t now_ms)
{
    struct link_note note;
    while (link_take_back(routes->shared.link, routes->index, &note)) {
        if (note.job != NULL) {
            job_returned(routes, note.job);
            continue;
        }
        push_note(routes, note.ticket, note.user);
        waits_news(routes, note.ticket, now_ms);
    }
    waits_turn(routes, now_ms);
}
