/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/level.h"

enum { POOR_DIVISOR = 4 }; /* of the average: a shard that has less gets units before it is empty */

static bool is_short(const struct level_shard *shard)
{
    return shard->free < shard->wanted;
}

/* What may leave a shard: what its own buyers ask for stays, unless it is too little for them anyway. */
static uint32_t spare(const struct level_shard *shard)
{
    if (shard->fixed)
        return 0;
    return is_short(shard) ? shard->free : shard->free - shard->wanted;
}

static uint32_t richest(const struct level_shard *shards, uint32_t count, uint32_t but)
{
    uint32_t best = but;
    for (uint32_t i = 0; i < count; i++)
        if (i != but && (best == but || spare(&shards[i]) > spare(&shards[best])))
            best = i;
    return best;
}

static uint32_t missing(const struct level_shard *shard)
{
    return is_short(shard) ? shard->wanted - shard->free : 0;
}

/* The shard that gets units; `count`: none does. Of those that lack some, the one that lacks fewest: so the
 * units of several that all have too few come together in one. */
static uint32_t neediest(const struct level_shard *shards, uint32_t count, bool ahead)
{
    uint64_t total = 0;
    uint32_t shortest = count, poorest = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += shards[i].free;
        if (is_short(&shards[i])
            && (shortest == count || missing(&shards[i]) < missing(&shards[shortest])))
            shortest = i;
        if (shards[i].free < shards[poorest].free)
            poorest = i;
    }
    if (shortest < count)
        return shortest;
    return ahead && (uint64_t)shards[poorest].free * count * POOR_DIVISOR < total ? poorest : count;
}

bool level_plan(const struct level_shard *shards, uint32_t count, bool ahead, struct level_move *move)
{
    const uint32_t to = neediest(shards, count, ahead);
    if (to == count)
        return false;
    const uint32_t from = richest(shards, count, to);
    if (from == to)
        return false;
    const uint32_t most = spare(&shards[from]), here = shards[to].free;
    const uint32_t level = most > here && !is_short(&shards[from]) ? (most - here) / 2 : 0;
    uint32_t quantity = level > missing(&shards[to]) ? level : missing(&shards[to]);
    if (quantity > most)
        quantity = most;
    *move = (struct level_move){ .from = from, .to = to, .quantity = quantity };
    return quantity > 0;
}
