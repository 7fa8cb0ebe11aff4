/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/purchase_trace.h: the edge's half of a purchase that is followed (api/purchase_traces.h): one in
 * trace.sample of those that go to the inventory, and each whose trusted proxy asks for it (the sampled flag
 * of its traceparent). Request id and traceparent of others are not believed. Others cost a comparison.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_PURCHASE_TRACE_H
#define STAMPEDE_GATEWAY_PURCHASE_TRACE_H

#include <stddef.h>
#include <stdint.h>

struct arena;
struct command_reserve;
struct http_request;
struct inventory_answer;
struct purchase_trace;
struct routes;
struct traced;

enum { TRACED_MAX = 16 }; /* of one edge that wait for their answer */

size_t traced_bytes(void);
struct traced *traced_create(struct arena *arena);

/* Before the purchase is handed to the inventory. */
__attribute__((noinline)) void purchase_trace_begin(struct routes *routes,
    const struct http_request *request, const struct command_reserve *wish, uint64_t tag);
__attribute__((noinline)) void purchase_trace_answered(
    struct routes *routes, const struct inventory_answer *answer);

#endif
