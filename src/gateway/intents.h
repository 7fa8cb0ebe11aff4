/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/intents.h: purchases of items whose units are taken on payment. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_INTENTS_H
#define STAMPEDE_GATEWAY_INTENTS_H

#include "contract/types.h"
#include "edge/edge.h"

struct door_result;
struct exchange;

bool intent_path(struct span path, item_id *item); /* "/v1/items/12/intent" → 12 */
/* The door let the request through, and the item's units are taken on payment, or the user believes so
 * (`asked`). */
__attribute__((cold)) enum edge_verdict purchase_on_payment(
    struct exchange *exchange, const struct door_result *result, item_id item, bool asked);

#endif
