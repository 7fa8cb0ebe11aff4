/* SPDX-License-Identifier: Apache-2.0 */
/* contract/order_cache.h: the seam of rendered order views that the processes of a shop share, so that a view
 * that was read lately costs the database nothing, and views go on while the database is away.
 *
 * The database has the truth. A view is kept with the version of its order and the time when it was read.
 * Whoever moves an order drops its view after the commit; what was read before that is not taken any
 * more, and neither is an older version than the one that is there.
 * Why: docs/decisions/0046-order-views-are-shared-through-redis.md.
 * Thread: each cache has one. */
#ifndef STAMPEDE_CONTRACT_ORDER_CACHE_H
#define STAMPEDE_CONTRACT_ORDER_CACHE_H

#include "base/span.h"
#include "contract/types.h"

#include <stdbool.h>

enum {
    ORDER_CACHE_KEEP_MS = 60 * 60 * 1000, /* a view that nobody drops */
    ORDER_CACHE_JSON_MAX = 16 * 1024,
};

struct order_cached {
    uint64_t version, read_ms; /* when its reading began, server time */
    user_id user;              /* whose order it is */
    struct span json;
};

struct order_cache;
struct order_cache_ops {
    /* False: it is not there, or can't be asked. What it gives is there until the next call. */
    bool (*get)(struct order_cache *cache, ticket_number ticket, struct order_cached *cached);
    /* What the database said after `get` of the same ticket was the last call. It may be lost. */
    void (*put)(struct order_cache *cache, ticket_number ticket, const struct order_cached *cached);
    /* The order has changed: committed before this. It is sent at once, and may be lost. Ticket 0: some
     * orders have changed, and nobody knows which; that is always lost. What is lost is counted. */
    void (*drop)(struct order_cache *cache, ticket_number ticket);
    void (*turn)(struct order_cache *cache); /* now and then, without anything to ask */
    void (*close)(struct order_cache *cache);
};
struct order_cache {
    const struct order_cache_ops *ops;
};

#endif
