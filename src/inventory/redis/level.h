/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/level.h: which units of an item should travel from one shard of its sale to another. A pure
 * function: remote_level.c does what it says. */
#ifndef STAMPEDE_INVENTORY_REDIS_LEVEL_H
#define STAMPEDE_INVENTORY_REDIS_LEVEL_H

#include "contract/ticket_number.h"

/* One pool of an item, in one shard. */
struct level_shard {
    uint32_t free;
    uint32_t wanted; /* somebody asked for so many a moment ago, and there were fewer; 0: nobody */
    bool fixed;      /* nothing may leave it now */
};

struct level_move {
    uint32_t from, to, quantity;
};

/* Units go where somebody waits for them; and, `ahead` of need, from the fullest shard to one that has less
 * than a quarter of the average. What a shard's own buyers ask for stays there. False: all is well. */
bool level_plan(const struct level_shard *shards, uint32_t count, bool ahead, struct level_move *move);

#endif
