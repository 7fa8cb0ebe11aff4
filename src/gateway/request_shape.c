/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/request_shape.c: which methods and which members of a query the public paths take (query.h). The
 * admin API's are in its table of routes (admin.c). A test compares both with docs/openapi.json. */
#include "gateway/request_shape.h"

#include "api/path_pattern.h"
#include "api/query.h"
#include "gateway/exchange.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"

#define READ "GET, HEAD, OPTIONS"
#define WRITE "POST, OPTIONS"

struct shape {
    const char *allow;   /* as the header says it */
    const char *pattern; /* after /v1 (path_pattern.h) */
};
static const struct shape shapes[] = {
    { READ, "/time" },
    { READ, "/shop" },
    { READ, "/sales?after ended" },
    { READ, "/sessions" },
    { READ, "/sales/#?after" },
    { "GET, HEAD, POST, OPTIONS", "/sales/#/room" },
    { READ, "/sales/#/draw" },
    { READ, "/sales/#/draw/arrivals?after" },
    { WRITE, "/session" },
    { READ, "/items/#" },
    { WRITE, "/items/#/pass" },
    { READ, "/items/#/challenge?kind" },
    { READ, "/items/#/mine" },
    { WRITE, "/items/#/buy" },
    { WRITE, "/items/#/intent" },
    { "GET, HEAD, POST, DELETE, OPTIONS", "/items/#/waitlist" },
    { "GET, HEAD, POST, DELETE, OPTIONS", "/items/#/presale" },
    { READ, "/orders" },
    { READ, "/orders/@?wait version" },
    { WRITE, "/orders/@/cancel" },
    { WRITE, "/orders/@/pay" },
    { WRITE, "/orders/@/query" },
    { WRITE, "/orders/@/refund" },
    { "GET, HEAD, PUT, OPTIONS", "/orders/@/details" },
    { READ, "/tickets/@?wait version" },
    { WRITE, "/intents/pay" },
    { READ, "/payments" },
    { "GET, OPTIONS", "/push?watch room" },
};

static const struct shape *shape_find(struct span path)
{
    uint32_t id;
    uint64_t order;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (path_pattern_matches(shapes[i].pattern, path, &id, &order))
            return &shapes[i];
    return NULL;
}

const char *routes_allow(struct span path)
{
    static const struct span prefix = SPAN("/v1");
    if (span_equal(path, SPAN("/console/session")))
        return "GET, HEAD, POST, DELETE, OPTIONS";
    if (!span_starts_with(path, SPAN("/v1/")))
        return "GET, HEAD, OPTIONS"; /* pages, health, metrics */
    const struct shape *shape = shape_find(span_of(path.data + prefix.size, path.size - prefix.size));
    return shape == NULL ? NULL : shape->allow;
}

enum edge_verdict routes_options(struct exchange *exchange)
{
    if (exchange->request->access_control_request_method.data == NULL || exchange->to.cors == 0)
        return reply_bytes(exchange, 204, SPAN_NONE,
            SPAN("Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n"), SPAN_NONE);
    return reply_bytes(exchange, 204, SPAN_NONE,
        SPAN("Access-Control-Allow-Methods: GET, HEAD, POST, PUT, PATCH, DELETE\r\n"
             "Access-Control-Allow-Headers: Authorization, Content-Type, Idempotency-Key, "
             "Stampede-Pass\r\n"
             "Access-Control-Max-Age: 600\r\n"),
        SPAN_NONE);
}

bool routes_query_taken(struct exchange *exchange, struct span path)
{
    const struct span query = exchange->request->query;
    char error[QUERY_ERROR];
    const struct shape *shape = query.size == 0 ? NULL : shape_find(path);
    if (shape == NULL || query_check(query, path_pattern_query(shape->pattern), error))
        return true;
    reply_problem(exchange, PROBLEM_BAD_QUERY, error);
    return false;
}
