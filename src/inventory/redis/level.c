/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/redis/level.h"

enum { POOR_DIVISOR = 4 }; /* of the average: a shard that has less gets units before it is empty */

/* What may leave a shard. */
static uint32_t spare(const struct level_shard *shard)
{
    if (shard->fixed)
        return 0;
    return shard->wanted == 0 ? shard->free : shard->free / 2;
}

static uint32_t richest(const struct level_shard *shards, uint32_t count, uint32_t but)
{
    uint32_t best = but;
    for (uint32_t i = 0; i < count; i++)
        if (i != but && (best == but || spare(&shards[i]) > spare(&shards[best])))
            best = i;
    return best;
}

static bool is_short(const struct level_shard *shard)
{
    return shard->free < shard->wanted;
}

/* The shard that needs units most; `count`: none does. */
static uint32_t neediest(const struct level_shard *shards, uint32_t count, bool ahead)
{
    uint64_t total = 0;
    uint32_t shortest = count, poorest = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += shards[i].free;
        if (is_short(&shards[i]) && (shortest == count || shards[i].free < shards[shortest].free))
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
    const uint32_t level = most > here ? (most - here) / 2 : 0;
    const uint32_t missing = is_short(&shards[to]) ? shards[to].wanted - here : 0;
    uint32_t quantity = level > missing ? level : missing;
    if (quantity > most)
        quantity = most;
    *move = (struct level_move){ .from = from, .to = to, .quantity = quantity };
    return quantity > 0;
}
