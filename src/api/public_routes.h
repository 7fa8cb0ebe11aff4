/* SPDX-License-Identifier: Apache-2.0 */
/* api/public_routes.h: requests of users that the worker answers: to orders, payments and the waitlist. The
 * gateway checks the session and what else the row asks for; the worker has a handler for each row
 * (worker/public_requests.c). Thread: any. */
#ifndef STAMPEDE_API_PUBLIC_ROUTES_H
#define STAMPEDE_API_PUBLIC_ROUTES_H

#include "edge/http.h"

/* What the gateway asks for besides the session. */
enum public_needs {
    NEEDS_NOTHING,
    NEEDS_NO_BAN, /* it may lead to a unit without passing the door again: banned users are refused */
    NEEDS_A_PASS, /* the same, and nothing was asked at the door before: it takes a pass for the item */
};

/* name, handler, method, path after /v1 (api/path_pattern.h), needs, longest body, whether the answer may
 * have to wait for a payment provider */
#define PUBLIC_ROUTE_LIST(X) \
    X(ORDER_CANCEL, public_order_cancel, HTTP_POST, "/orders/@/cancel", NEEDS_NOTHING, BODY_SHORT, false) \
    X(ORDER_PAY, public_order_pay, HTTP_POST, "/orders/@/pay", NEEDS_NOTHING, BODY_SHORT, true) \
    X(ORDER_QUERY, public_order_query, HTTP_POST, "/orders/@/query", NEEDS_NOTHING, BODY_SHORT, false) \
    X(ORDER_DETAILS, public_order_details, HTTP_GET, "/orders/@/details", NEEDS_NOTHING, \
        BODY_SHORT, false) \
    X(ORDER_DETAILS_SET, public_order_details_set, HTTP_PUT, "/orders/@/details", NEEDS_NOTHING, \
        BODY_DETAILS, false) \
    X(ORDER_REFUND, public_order_refund, HTTP_POST, "/orders/@/refund", NEEDS_NOTHING, BODY_SHORT, false) \
    X(INTENT_PAY, public_intent_pay, HTTP_POST, "/intents/pay", NEEDS_NO_BAN, BODY_DETAILS, true) \
    X(PAYMENT_WAYS, public_payment_ways, HTTP_GET, "/payments", NEEDS_NOTHING, BODY_SHORT, false) \
    X(PRESALE_BOOK, public_presale_book, HTTP_POST, "/items/#/presale", NEEDS_A_PASS, BODY_SHORT, false) \
    X(PRESALE_SHOW, public_presale_show, HTTP_GET, "/items/#/presale", NEEDS_NOTHING, BODY_SHORT, false) \
    X(PRESALE_LEAVE, public_presale_leave, HTTP_DELETE, "/items/#/presale", NEEDS_NOTHING, \
        BODY_SHORT, false) \
    X(WAITLIST_JOIN, public_waitlist_join, HTTP_POST, "/items/#/waitlist", NEEDS_A_PASS, \
        BODY_SHORT, false) \
    X(WAITLIST_SHOW, public_waitlist_show, HTTP_GET, "/items/#/waitlist", NEEDS_NOTHING, \
        BODY_SHORT, false) \
    X(WAITLIST_LEAVE, public_waitlist_leave, HTTP_DELETE, "/items/#/waitlist", NEEDS_NOTHING, \
        BODY_SHORT, false)

#define PUBLIC_ROUTE_NAME(name, handler, method, path, needs, body, pays) PUBLIC_##name,
enum public_route { PUBLIC_ROUTE_LIST(PUBLIC_ROUTE_NAME) PUBLIC_ROUTES };
#undef PUBLIC_ROUTE_NAME

/* Whether there is such a path under /v1, and whether it takes the method. */
enum public_known { PUBLIC_UNKNOWN, PUBLIC_OTHER_METHOD, PUBLIC_KNOWN };
struct public_found {
    enum public_known known;
    enum public_route route;
    enum public_needs needs;
    uint32_t id;       /* the number in the path, or 0 */
    uint64_t order;    /* the order in the path as users know it, or 0 */
    uint32_t body_max; /* a longer body is refused before it is read */
    bool pays;
};
struct public_found public_route_find(enum http_method method, struct span path);

#endif
