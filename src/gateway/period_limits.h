/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/period_limits.h: a purchase of a user who may have units that count against the item's limit over a
 * period (board_may_hold). A reader of the database says whether it is within the limit; only then it goes on
 * to the inventory. All others never come here.
 * Bounded: one question of a user, and SHARE_LIMIT of all, at a time.
 * Why: docs/decisions/0059-limits-over-a-period-are-rows-of-the-orders-own-transaction.md.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_PERIOD_LIMITS_H
#define STAMPEDE_GATEWAY_PERIOD_LIMITS_H

#include "contract/types.h"
#include "edge/edge.h"

struct door_result;
struct job;
struct routes;

/* Of an item that has a limit group: whether the user may have units that count. */
__attribute__((cold)) bool period_limit_concerns(const struct routes *routes, item_id item, user_id user);
/* After DOOR_GO, of one whom it concerns. */
__attribute__((cold)) enum edge_verdict period_limit_ask(struct routes *routes, uint64_t token,
    uint8_t flags, item_id item, const struct door_result *result, struct edge_reply *reply);
/* Its job is back. */
void period_limit_answered(struct routes *routes, const struct job *job);

#endif
