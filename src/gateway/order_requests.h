/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/order_requests.h: requests about orders, and those that the worker answers.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_ORDER_REQUESTS_H
#define STAMPEDE_GATEWAY_ORDER_REQUESTS_H

#include "contract/types.h"
#include "edge/edge.h"

struct exchange;
struct routes;
struct wait;

enum edge_verdict orders_mine(struct exchange *exchange, item_id item);
enum edge_verdict orders_view(struct exchange *exchange, struct span id, bool by_ticket);
/* Asks the inventory about the ticket of a view, at first or while it is being decided; the answer goes on
 * from there. False: there is no place now. */
MUST_CHECK bool order_view_ask(struct routes *routes, const struct wait *wait, bool may_wait);
enum edge_verdict orders_list(struct exchange *exchange);
/* A request of a user that the worker answers (api/public_routes.h); the path is under /v1. */
enum edge_verdict orders_public(struct exchange *exchange, struct span path);
/* Whether it is a payment provider's callback. `self` is not used. */
bool orders_callback(void *self, const struct http_request *request);
/* A request without a session that the worker answers (worker/callbacks.c). */
enum edge_verdict orders_outside(struct exchange *exchange, bool callback);

#endif
