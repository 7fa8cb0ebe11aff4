/* SPDX-License-Identifier: Apache-2.0 */
/* worker/order_recent.h: which orders this process has changed, or has heard of, in the last seconds. Their
 * views are read from the database: the one in Redis may not be dropped yet (contract/order_cache.h).
 * Threads: the worker notes; readers ask. Memory: plain data, zeroed. */
#ifndef STAMPEDE_WORKER_ORDER_RECENT_H
#define STAMPEDE_WORKER_ORDER_RECENT_H

#include "contract/types.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
    RECENT_ROWS = 8192, /* tickets share a row: a view is then read from the database without need */
    RECENT_MS = 2000,
};
static_assert((RECENT_ROWS & (RECENT_ROWS - 1)) == 0, "index uses a mask");

struct order_recent {
    _Atomic uint64_t until_ms[RECENT_ROWS]; /* monotonic */
    _Atomic uint64_t all_until_ms;
};

static inline void order_recent_note(struct order_recent *recent, ticket_number ticket, uint64_t now_ms)
{
    atomic_store(&recent->until_ms[ticket & (RECENT_ROWS - 1)], now_ms + RECENT_MS);
}

static inline void order_recent_note_all(struct order_recent *recent, uint64_t now_ms)
{
    atomic_store(&recent->all_until_ms, now_ms + RECENT_MS);
}

static inline bool order_is_recent(const struct order_recent *recent, ticket_number ticket, uint64_t now_ms)
{
    return now_ms < atomic_load(&recent->until_ms[ticket & (RECENT_ROWS - 1)])
        || now_ms < atomic_load(&recent->all_until_ms);
}

#endif
