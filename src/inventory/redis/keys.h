/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/keys.h: the names of a partition's keys in Redis: st:<data id>:{<part>}:m and so on. All
 * have one hash tag, so they are in one slot.
 * Thread: any. Memory: the caller's. */
#ifndef STAMPEDE_INVENTORY_REDIS_KEYS_H
#define STAMPEDE_INVENTORY_REDIS_KEYS_H

#include "inventory/redis/script.h"

struct partition_keys {
    char bytes[SCRIPT_KEYS + 4][SCRIPT_PREFIX_MAX + 10];
    struct span prefix;
    struct span names[SCRIPT_KEYS]; /* by enum script_key */
    /* Channels: gateways say that something was proposed, the worker that something was kept. */
    struct span proposed, notes;
    struct span rest; /* a hash with the mark of a partition at rest (opening.h) */
};

void partition_keys_make(struct partition_keys *keys, uint64_t data_id, uint32_t part);

#endif
