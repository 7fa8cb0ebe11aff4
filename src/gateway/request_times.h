/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/request_times.h: how long requests take, by route: from the beginning of the turn in which the edge
 * read them until their answer is written. Every request is timed but purchases, whose path must stay short:
 * of the turns in which the door answered some, one in TURNS_PER_SAMPLE is timed, for all of them; and of
 * those that reach the inventory one at a time (purchase_probe.h).
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_REQUEST_TIMES_H
#define STAMPEDE_GATEWAY_REQUEST_TIMES_H

#include "edge/edge.h"

struct routes;

enum { TURNS_PER_SAMPLE = 64 };

/* A row each: name; label in stampede_request_seconds. */
#define REQUEST_ROUTE_LIST(X) \
    X(OTHER, "other") \
    /* answered at the door */ \
    X(BUY, "buy") \
    X(PASS, "pass") \
    X(CHALLENGE, "challenge") \
    X(SESSION, "session") \
    /* time, shop, sales, items */ \
    X(CATALOG, "catalog") \
    X(ORDER, "order") \
    /* it asked to wait for a change */ \
    X(ORDER_WAIT, "order-wait") \
    X(PAY, "pay") \
    /* cancel, refund, delivery details */ \
    X(ORDER_CHANGE, "order-change") \
    X(WAITLIST, "waitlist") \
    X(ROOM, "room") \
    X(CALLBACK, "callback") \
    X(ADMIN, "admin") \
    X(PAGE, "page") \
    /* livez, readyz, metrics */ \
    X(PROBE, "probe")

enum request_route {
#define REQUEST_ROUTE(route, label) ROUTE_##route,
    REQUEST_ROUTE_LIST(REQUEST_ROUTE)
#undef REQUEST_ROUTE
        REQUEST_ROUTES,
};

enum request_route request_route_of(const struct http_request *request);
/* A request that is no purchase was handled: notes its time, or has the edge note it with its answer. */
void request_timed(struct routes *routes, const struct http_request *request,
    enum edge_verdict verdict, struct edge_reply *reply);
void request_time_note(void *self, uint8_t route, uint64_t us); /* edge_handler.timed */
/* At the end of a turn that is a sample. */
__attribute__((noinline)) void purchase_sample(struct routes *routes);

#endif
