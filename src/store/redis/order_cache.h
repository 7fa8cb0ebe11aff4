/* SPDX-License-Identifier: Apache-2.0 */
/* store/redis/order_cache.h: order views (contract/order_cache.h) in Redis, with a client of its own. A hash
 * for each order, st:<data id>:order:{<ticket>}:
 *
 *   m  when the order was changed last, µs by the clock of Redis; a view that was read under another m is
 *      not taken any more
 *   v, a, u, j  version, when it was read, whose it is, the view; dropped when m is written
 *
 * It goes ORDER_CACHE_KEEP_MS after its last write. Redis may lose all of it.
 * A server that does not answer is not asked again for ORDER_CACHE_REST_MS: whoever reads goes on with the
 * database. */
#ifndef STAMPEDE_STORE_REDIS_ORDER_CACHE_H
#define STAMPEDE_STORE_REDIS_ORDER_CACHE_H

#include "contract/order_cache.h"
#include "redis/client.h"

enum {
    ORDER_CACHE_ASK_MS = 100, /* for an answer */
    ORDER_CACHE_REST_MS = 1000,
    ORDER_CACHE_SENT_MS = 1000, /* for the answer to what nobody waits for */
    ORDER_CACHE_TURN_MS = 10,   /* between two turns with nothing to send */
};

/* Errors: as redis_client_open; *cache is closed as after success. */
MUST_CHECK enum status order_cache_open(
    struct order_cache **cache, const struct redis_client_config *config, uint64_t data_id);

#endif
