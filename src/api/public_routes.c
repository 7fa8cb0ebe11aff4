/* SPDX-License-Identifier: Apache-2.0 */
#include "api/public_routes.h"

#include "api/job.h"
#include "api/path_pattern.h"
#include "edge/edge.h"

/* Bodies without and with details of delivery. */
enum { BODY_SHORT = EDGE_BODY_ANY, BODY_DETAILS = JOB_BODY_SMALL };

struct route {
    enum http_method method;
    const char *path;
    enum public_needs needs;
    uint32_t body_max;
    bool pays;
};
#define ROUTE(name, handler, method, path, needs, body, pays) \
    [PUBLIC_##name] = { method, path, needs, body, pays },
static const struct route routes[PUBLIC_ROUTES] = { PUBLIC_ROUTE_LIST(ROUTE) };

struct public_found public_route_find(enum http_method method, struct span path)
{
    struct public_found found = { .known = PUBLIC_UNKNOWN };
    for (uint32_t i = 0; i < PUBLIC_ROUTES; i++) {
        uint32_t id;
        uint64_t order;
        if (!path_pattern_matches(routes[i].path, path, &id, &order))
            continue;
        found.known = PUBLIC_OTHER_METHOD;
        if (routes[i].method == method)
            return (struct public_found){ .known = PUBLIC_KNOWN,
                .route = i,
                .needs = routes[i].needs,
                .id = id,
                .order = order,
                .body_max = routes[i].body_max,
                .pays = routes[i].pays };
    }
    return found;
}
