/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/buyer_lists.h"

#include "base/log.h"
#include "contract/order_store.h"

enum {
    OVER_MS = 60 * 1000, /* since the sale's end; who prolongs it a bit too late costs nothing */
    LOOK_MS = 2000,
    PAUSE_MS = 10, /* between two parts: others use the database, too */
};

static uint64_t lists_turn(void *self, uint64_t now_ms)
{
    struct order_store *store = self;
    bool more = false;
    const enum status status = store->ops->buyers_list(store, now_ms - OVER_MS, &more);
    if (status != STATUS_OK && status != STATUS_AWAY)
        log_error("worker", "the buyers of past sales can't be listed: %s", status_name(status));
    return now_ms + (status == STATUS_OK && more ? PAUSE_MS : LOOK_MS);
}

struct task buyer_lists_task(struct order_store *store)
{
    return (struct task){ .name = "buyer lists", .self = store, .turn = lists_turn, .rests = true };
}
