/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/repeat.h: a purchase that the door refuses, but whose user may have bought.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_REPEAT_H
#define STAMPEDE_GATEWAY_REPEAT_H

#include "contract/command.h"
#include "edge/edge.h"

struct door_result;
struct routes;

/* `reply` has the refusal. */
__attribute__((cold)) enum edge_verdict repeat_ask(struct routes *routes, uint64_t token,
    item_id item, const struct door_result *result, struct edge_reply *reply);
/* The same later: the purchase of an earlier request. False: there is no place; *refusal is what to tell. */
__attribute__((cold)) bool repeat_put(struct routes *routes, uint64_t token,
    const struct command_reserve *wish, struct edge_answer *refusal);
/* Counts an answer of the inventory (routes.c). */
void answer_count(struct routes *routes, item_id item, enum answer answer);

#endif
