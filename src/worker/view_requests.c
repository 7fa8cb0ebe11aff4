/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/view_requests.h"

#include "api/job_reply.h"
#include "base/clock.h"
#include "contract/limit_uses.h"
#include "contract/order_cache.h"
#include "policy/limit_rules.h"
#include "worker/order_recent.h"
#include "worker/order_views.h"

enum { ORDERS_SHOWN = 100 };

bool view_request_cached(const struct order_views *views, struct job *job, uint64_t age_max_ms)
{
    struct order_cached cached;
    if (views->cache == NULL || job->kind != JOB_ORDER
        || order_is_recent(views->recent, job->ticket, clock_monotonic_ms())
        || !views->cache->ops->get(views->cache, job->ticket, &cached))
        return false;
    const uint64_t now_ms = clock_now_ms();
    if (cached.version < job->version_seen || cached.user != job->user
        || (cached.read_ms < now_ms && now_ms - cached.read_ms > age_max_ms))
        return false; /* the client knows better; the database says whose it is; it is too old */
    if (cached.version == job->version_seen && job->may_wait) {
        job->result = JOB_NOT_YET;
        return true;
    }
    struct text body = job_body(job);
    text_add(&body, cached.json);
    job_reply_json(job, 200, &body);
    return true;
}

static void order_share(const struct order_views *views, const struct order *order,
    uint64_t read_ms, const struct text *body)
{
    if (views->cache != NULL)
        views->cache->ops->put(views->cache, order->ticket,
            &(struct order_cached){ .version = order->version,
                .read_ms = read_ms,
                .user = order->user,
                .json = text_span(body) });
}

/* The edge has asked the inventory already: the ticket is this user's, or it is forgotten (no
 * item). Not in the store yet means: being written. */
static enum status order_answer(const struct order_views *views, struct job *job)
{
    struct order order;
    struct text body = job_body(job);
    const uint64_t began_ms = clock_now_ms();
    const enum status status = views->store->ops->order_by_ticket(views->store, job->ticket, &order);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND)
        return status;
    const bool news = status == STATUS_OK && order.version != job->version_seen;
    if (!news && job->may_wait) {
        job->result = JOB_NOT_YET;
        return STATUS_OK;
    }
    if (status == STATUS_OK ? order.user != job->user : job->item == 0) {
        job_reply_problem(job, PROBLEM_UNKNOWN_ORDER, NULL, SPAN_NONE);
        return STATUS_OK;
    }
    if (status == STATUS_OK) {
        if (order_json(views, &order, &body))
            order_share(views, &order, began_ms, &body);
    } else {
        order_ids_json(views, job->ticket, &body);
        text_format(&body, ",\"state\":\"creating\",\"item\":%u,\"quantity\":%u}", job->item,
            job->quantity);
    }
    job_reply_json(job, 200, &body);
    return STATUS_OK;
}

enum status view_orders_text(const struct order_views *views, const struct job *job, struct text *out)
{
    struct order orders[ORDERS_SHOWN];
    const struct order_filter filter = { .user = job->user };
    ticket_number next;
    uint32_t count = 0;
    const enum status status =
        views->store->ops->orders_list(views->store, &filter, orders, ORDERS_SHOWN, &count, &next);
    if (status != STATUS_OK)
        return status;
    text_literal(out, "\"orders\":[");
    for (uint32_t i = 0; i < count; i++) {
        text_string(out, i == 0 ? "" : ",");
        order_json(views, &orders[i], out);
    }
    text_literal(out, "]");
    return STATUS_OK;
}

static enum status orders_answer(const struct order_views *views, struct job *job)
{
    struct text body = job_body(job);
    text_literal(&body, "{");
    const enum status status = view_orders_text(views, job, &body);
    text_literal(&body, "}");
    if (status == STATUS_OK)
        job_reply_json(job, 200, &body);
    return status;
}

static enum status push_answer(const struct order_views *views, struct job *job)
{
    struct text out = job_body(job);
    const enum status status = view_push_text(views, job, &out);
    job->result = JOB_REPLY;
    job->body_size = out.overflow ? 0 : out.size;
    return status;
}

/* What the order's transaction will say, if nothing comes in between. */
static enum status limit_answer(const struct order_views *views, struct job *job)
{
    const struct item_limits limits = { .period_limit = job->period_limit,
        .period_days = job->period_days };
    uint64_t used = 0;
    const enum status status = views->store->ops->limits->used(
        views->store, job->limit_group, &limits, job->user, clock_now_ms(), &used);
    job->within = status == STATUS_OK && limit_allows(used, job->wish.quantity, job->period_limit);
    return status;
}

static void refuse(struct job *job, enum status status)
{
    if (job->kind == JOB_PUSH || job->kind == JOB_LIMIT)
        job->result = JOB_NOT_YET;
    else
        job_reply_status(job, status);
}

bool view_request_answer(const struct order_views *views, struct job *job)
{
    const enum status status = job->kind == JOB_PUSH ? push_answer(views, job)
        : job->kind == JOB_LIMIT                     ? limit_answer(views, job)
        : job->kind == JOB_ORDERS                    ? orders_answer(views, job)
                                                     : order_answer(views, job);
    if (status != STATUS_OK)
        refuse(job, status);
    return status == STATUS_OK;
}

void view_request_refuse(struct job *job)
{
    refuse(job, STATUS_AWAY);
}
