/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/admin.h"

#include "api/admin_endpoints.h"
#include "api/catalog.h"
#include "api/handover.h"
#include "api/path_pattern.h"
#include "api/query.h"
#include "contract/inventory.h"
#include "funnel/door.h"
#include "funnel/keys.h"

#include <stdio.h>
#include <string.h>

enum admin_effect {
    READS,
    COMMANDS, /* the inventory only: goes on while the database is away */
    WRITES,   /* the database, perhaps the inventory too */
};
struct admin_route {
    enum http_method method;
    enum admin_role role;
    enum admin_effect effect;
    const char *path; /* after /admin/v1; a pattern with the query it takes (path_pattern.h) */
    admin_handler handler;
};

#define ROUTE(method, role, effect, path, handler) \
    { HTTP_##method, ADMIN_##role, effect, path, admin_##handler },
static const struct admin_route routes[] = { ADMIN_ENDPOINT_LIST(ROUTE) };

/* Tells the methods that the path has. */
static void method_refuse(struct job *job)
{
    static const char *const names[] = {
        [HTTP_GET] = "GET, HEAD, ",
        [HTTP_POST] = "POST, ",
        [HTTP_PUT] = "PUT, ",
        [HTTP_PATCH] = "PATCH, ",
        [HTTP_DELETE] = "DELETE, ",
    };
    char bytes[80];
    struct text allow = text_in(bytes, sizeof bytes - 1);
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        uint32_t id;
        uint64_t order;
        if (path_pattern_matches(routes[i].path, job->path, &id, &order))
            text_string(&allow, names[routes[i].method]);
    }
    text_literal(&allow, "OPTIONS");
    invariant(!allow.overflow);
    bytes[allow.size] = '\0';
    job_reply_method(job, bytes);
}

void admin_job(struct worker *worker, struct job *job)
{
    const struct worker_config *lent = worker_lent(worker);
    struct admin one = { .store = lent->store,
        .lent = lent,
        .worker = worker,
        .errands = worker_errands(worker),
        .now_ms = worker_now_ms(worker) };
    struct admin *admin = &one;
    char error[QUERY_ERROR];
    bool path_known = false;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        uint32_t id;
        uint64_t order;
        if (!path_pattern_matches(routes[i].path, job->path, &id, &order))
            continue;
        path_known = true;
        const bool same = routes[i].method == job->method
            || (routes[i].method == HTTP_GET && job->method == HTTP_HEAD);
        if (!same)
            continue;
        if (job->role < routes[i].role) {
            job_reply_problem(job, PROBLEM_ADMIN_ROLE, NULL, SPAN_NONE);
            return;
        }
        if (!query_check(job->query, path_pattern_query(routes[i].path), error)) {
            job_reply_problem(job, PROBLEM_BAD_QUERY, error, SPAN_NONE);
            return;
        }
        job->ticket = order == 0 ? 0 : funnel_order_number(admin->lent->keys, order);
        if (routes[i].effect == READS)
            routes[i].handler(admin, job, id);
        else
            admin_change_run(admin, job, routes[i].handler, id, routes[i].effect == WRITES);
        return;
    }
    if (path_known)
        method_refuse(job);
    else
        job_reply_problem(job, PROBLEM_NOT_FOUND, NULL, SPAN_NONE);
}

const char *admin_sale_gate(const struct admin *admin, const struct sale *sale)
{
    return catalog_sale_state(
        handover_get(admin->lent->catalog), admin->lent->inventory->board, sale, admin->now_ms);
}

bool admin_sale_read(struct admin *admin, struct job *job, sale_id id, struct sale *sale)
{
    return job_found(job, admin->store->ops->sale_get(admin->store, id, sale), PROBLEM_UNKNOWN_SALE, NULL);
}

bool admin_item_read(struct admin *admin, struct job *job, item_id id, struct item *item)
{
    return job_found(job, admin->store->ops->item_get(admin->store, id, item), PROBLEM_UNKNOWN_ITEM, NULL);
}

void admin_channels_member(const struct admin *admin, const uint32_t units[CHANNELS_MAX], struct text *out)
{
    json_object_begin(out, "channels");
    for (uint32_t channel = 0; channel < admin->lent->channels->count; channel++) {
        char name[CHANNEL_NAME_MAX + 1];
        json_u64(out, channel_name(admin->worker, (channel_index)channel, name), units[channel]);
    }
    json_object_end(out);
}
