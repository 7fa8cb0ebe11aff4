/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/push_subscription.h: the items that a client names: in a message, {"watch":[3,7]}, or in the query,
 * watch=3,7. Strict; a refusal changes nothing. Thread: any. */
#ifndef STAMPEDE_GATEWAY_PUSH_SUBSCRIPTION_H
#define STAMPEDE_GATEWAY_PUSH_SUBSCRIPTION_H

#include "base/span.h"
#include "gateway/push_table.h"

struct push_watch {
    item_id items[PUSH_WATCHED_MAX]; /* each once */
    uint32_t count;
};
MUST_CHECK bool push_watch_message(struct span text, struct push_watch *watch);
MUST_CHECK bool push_watch_list(struct span text, struct push_watch *watch); /* "3,7" */

#endif
