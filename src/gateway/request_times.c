/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/request_times.h"

#include "api/public_routes.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "gateway/order_requests.h"
#include "gateway/routes_state.h"

#define ROUTE_TIMES(route, label) \
    [ROUTE_##route] = { .name = "stampede_request_seconds", \
        .labels = "route=\"" label "\"", \
        .help = \
            "From the turn that read a request to its answer, by route; of purchases a sample." },
static struct histogram times[REQUEST_ROUTES] = { REQUEST_ROUTE_LIST(ROUTE_TIMES) };
HISTOGRAM_TABLE(times);

static const struct {
    struct span prefix;
    enum request_route route;
} prefixes[] = {
    { SPAN("/v1/session"), ROUTE_SESSION },
    { SPAN("/v1/time"), ROUTE_CATALOG },
    { SPAN("/v1/shop"), ROUTE_CATALOG },
    { SPAN("/v1/intents/"), ROUTE_PAY },
    { SPAN("/v1/payments"), ROUTE_PAY },
    { SPAN("/v1/"), ROUTE_OTHER },
    { SPAN("/admin/"), ROUTE_ADMIN },
    { SPAN("/console/session"), ROUTE_ADMIN },
    { SPAN("/sandbox/v1/"), ROUTE_OTHER },
    { SPAN("/livez"), ROUTE_PROBE },
    { SPAN("/readyz"), ROUTE_PROBE },
    { SPAN("/metrics"), ROUTE_PROBE },
    { SPAN("/"), ROUTE_PAGE },
};

static bool ends_with(struct span path, struct span end)
{
    return path.size >= end.size && span_equal(span_of(path.data + path.size - end.size, end.size), end);
}

static enum request_route item_route(struct span path)
{
    return ends_with(path, SPAN("/pass"))                                   ? ROUTE_PASS
        : ends_with(path, SPAN("/challenge"))                               ? ROUTE_CHALLENGE
        : ends_with(path, SPAN("/waitlist"))                                ? ROUTE_WAITLIST
        : ends_with(path, SPAN("/mine"))                                    ? ROUTE_ORDER
        : ends_with(path, SPAN("/buy")) || ends_with(path, SPAN("/intent")) ? ROUTE_BUY
                                                                            : ROUTE_CATALOG;
}

static enum request_route order_route(const struct http_request *request)
{
    if (request->method == HTTP_GET || request->method == HTTP_HEAD)
        return request->query.size > 0 && !ends_with(request->path, SPAN("/orders")) ? ROUTE_ORDER_WAIT
                                                                                     : ROUTE_ORDER;
    return ends_with(request->path, SPAN("/pay")) ? ROUTE_PAY : ROUTE_ORDER_CHANGE;
}

enum request_route request_route_of(const struct http_request *request)
{
    const struct span path = request->path;
    if (span_starts_with(path, SPAN("/v1/items/")))
        return item_route(path);
    if (span_starts_with(path, SPAN("/v1/orders")) || span_starts_with(path, SPAN("/v1/tickets/")))
        return order_route(request);
    if (span_starts_with(path, SPAN("/v1/sales")))
        return ends_with(path, SPAN("/room")) ? ROUTE_ROOM : ROUTE_CATALOG;
    if (orders_callback(NULL, request))
        return ROUTE_CALLBACK;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (span_starts_with(path, prefixes[i].prefix))
            return prefixes[i].route;
    return ROUTE_OTHER;
}

void request_time_note(void *self, uint8_t route, uint64_t us)
{
    (void)self;
    invariant(route < REQUEST_ROUTES);
    histogram_note(&times[route], us);
}

void request_timed(struct routes *routes, const struct http_request *request,
    enum edge_verdict verdict, struct edge_reply *reply)
{
    const enum request_route route = request_route_of(request);
    if (verdict == EDGE_DEFERRED)
        reply->timed = (uint8_t)route;
    else if (verdict != EDGE_UPGRADED)
        request_time_note(routes, (uint8_t)route, edge_turn_us(routes->edge));
}

void purchase_sample(struct routes *routes)
{
    /* Not the same distance each time: the next is not always the same client's. */
    routes->sample_in = TURNS_PER_SAMPLE / 2 + (uint32_t)random_below(&routes->random, TURNS_PER_SAMPLE);
    request_time_note(routes, ROUTE_BUY, edge_turn_us(routes->edge));
}
