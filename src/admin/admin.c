/* SPDX-License-Identifier: Apache-2.0 */
#include "admin/admin.h"

#include "api/admin_endpoints.h"
#include "api/catalog.h"
#include "api/channel_endpoints.h"
#include "api/path_pattern.h"
#include "api/query.h"
#include "base/clock.h"
#include "contract/board.h"
#include "contract/inventory.h"
#include "funnel/door.h"
#include "funnel/keys.h"
#include "worker/order_views.h"

#include <stdio.h>
#include <string.h>

enum { GATE_ITEMS = 8 };                                      /* of a sale, read at a time */
enum admin_effect { READS, COUNTS, LOOKS, COMMANDS, WRITES }; /* api/admin_endpoints.h */
struct admin_route {
    enum http_method method;
    enum admin_role role;
    enum admin_effect effect;
    const char *path; /* after /admin/v1; a pattern with the query it takes (path_pattern.h) */
    admin_handler handler;
};

#define ROUTE(method, role, effect, path, handler) \
    { HTTP_##method, ADMIN_##role, effect, path, admin_##handler },
static const struct admin_route admin_routes[] = { ADMIN_ENDPOINT_LIST(ROUTE) };
static const struct admin_route channel_routes[] = { CHANNEL_ENDPOINT_LIST(ROUTE) };

/* What the holder of a key can reach at all: an operator nothing of a channel's, and the other way round. */
struct route_list {
    const struct admin_route *routes;
    size_t count;
};
static struct route_list routes_of(const struct job *job)
{
    if (job->role == ADMIN_CHANNEL)
        return (struct route_list){ channel_routes, sizeof channel_routes / sizeof *channel_routes };
    return (struct route_list){ admin_routes, sizeof admin_routes / sizeof *admin_routes };
}

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
    const struct route_list list = routes_of(job);
    for (size_t i = 0; i < list.count; i++) {
        uint32_t id;
        uint64_t order;
        if (path_pattern_matches(list.routes[i].path, job->path, &id, &order))
            text_string(&allow, names[list.routes[i].method]);
    }
    text_literal(&allow, "OPTIONS");
    invariant(!allow.overflow);
    bytes[allow.size] = '\0';
    job_reply_method(job, bytes);
}

static bool route_takes(const struct admin_route *route, const struct job *job)
{
    return route->method == job->method || (route->method == HTTP_GET && job->method == HTTP_HEAD);
}

/* The route of the request; NULL: none. *known: its path has one, of another method. */
static const struct admin_route *route_find(
    const struct job *job, uint32_t *id, uint64_t *order, bool *known)
{
    const struct route_list list = routes_of(job);
    *known = false;
    for (size_t i = 0; i < list.count; i++) {
        const struct admin_route *route = list.routes + i;
        if (!path_pattern_matches(route->path, job->path, id, order))
            continue;
        *known = true;
        if (route_takes(route, job))
            return route;
    }
    return NULL;
}

static void job_run(struct admin *admin, struct job *job)
{
    char error[QUERY_ERROR];
    uint32_t id;
    uint64_t order;
    bool known;
    const struct admin_route *route = route_find(job, &id, &order, &known);
    if (route == NULL && known) {
        method_refuse(job);
        return;
    }
    if (route == NULL || job->role < route->role) {
        job_reply_problem(job, route == NULL ? PROBLEM_NOT_FOUND : PROBLEM_ADMIN_ROLE, NULL, SPAN_NONE);
        return;
    }
    if (!query_check(job->query, path_pattern_query(route->path), error)) {
        job_reply_problem(job, PROBLEM_BAD_QUERY, error, SPAN_NONE);
        return;
    }
    job->ticket = order == 0 ? 0 : funnel_order_number(admin->lent->keys, order);
    if (route->effect == COMMANDS || route->effect == WRITES)
        admin_change_run(admin, job, route->handler, id, route->effect == WRITES);
    else
        route->handler(admin, job, id);
}

static void admin_job(struct worker *worker, struct job *job)
{
    const struct worker_config *lent = worker_lent(worker);
    struct admin admin = { .store = lent->store,
        .lent = lent,
        .views = worker_order_views(worker),
        .worker = worker,
        .errands = worker_errands(worker),
        .now_ms = worker_now_ms(worker) };
    job_run(&admin, job);
}

static bool admin_only_reads(struct worker *worker, const struct job *job)
{
    uint32_t id;
    uint64_t order;
    bool known;
    const struct admin_route *route = route_find(job, &id, &order, &known);
    if (route != NULL && route->effect == COUNTS)
        worker_report_write(worker);
    return route != NULL && (route->effect == READS || route->effect == COUNTS);
}

static void admin_read(const struct worker_config *lent, const struct order_views *views, struct job *job)
{
    struct admin admin = { .store = views->store, .lent = lent, .views = views, .now_ms = clock_now_ms() };
    job_run(&admin, job);
}

const struct worker_admin admin_of_worker = {
    .job = admin_job, .only_reads = admin_only_reads, .read = admin_read
};

const char *admin_sale_gate(const struct admin *admin, const struct sale *sale)
{
    struct board_update view = { .gate = sale->gate };
    struct item items[GATE_ITEMS];
    uint32_t count = GATE_ITEMS;
    bool seen = false;
    for (item_id after = 0; count == GATE_ITEMS && !seen; after = items[GATE_ITEMS - 1].id) {
        if (admin->store->ops->items(admin->store, sale->id, after, items, GATE_ITEMS, &count) != STATUS_OK)
            break;
        for (uint32_t i = 0; i < count && !seen; i++)
            seen = board_read(admin->lent->inventory->board, items[i].id, &view);
    }
    /* Time alone opens no draft. */
    return sale_state_name((uint8_t)view.gate, sale->published ? sale->start_ms : UINT64_MAX,
        sale->end_ms, admin->now_ms);
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
        json_u64(out, channel_name(admin->lent->channels, (channel_index)channel, name), units[channel]);
    }
    json_object_end(out);
}
