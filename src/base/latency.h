/* SPDX-License-Identifier: Apache-2.0 */
/* base/latency.h: how long requests took, with a bounded relative error.
 *
 * A value falls into the power of two that it belongs to, and there into one of 64 equal parts:
 * every figure that comes out is at most 1/64 above the value that went in. Constant size, no
 * allocation, any value up to 2^63 ns.
 * Thread: one owner. */
#ifndef STAMPEDE_BASE_LATENCY_H
#define STAMPEDE_BASE_LATENCY_H

#include <stdint.h>
#include <string.h>

enum { LATENCY_PARTS_LOG2 = 6, LATENCY_PARTS = 1 << LATENCY_PARTS_LOG2 };
enum { LATENCY_SLOTS = (64 - LATENCY_PARTS_LOG2 + 1) * LATENCY_PARTS };

struct latency {
    uint64_t total;
    uint64_t max_ns;
    uint64_t slots[LATENCY_SLOTS];
};

static inline uint32_t latency_slot(uint64_t value_ns)
{
    if (value_ns < LATENCY_PARTS)
        return (uint32_t)value_ns;
    uint32_t shift = 63U - (uint32_t)__builtin_clzll(value_ns) - LATENCY_PARTS_LOG2;
    return (shift + 1) * LATENCY_PARTS + (uint32_t)(value_ns >> shift) - LATENCY_PARTS;
}

static inline uint64_t latency_slot_upper_ns(uint32_t slot)
{
    if (slot < LATENCY_PARTS)
        return slot;
    uint32_t shift = slot / LATENCY_PARTS - 1;
    uint64_t part = slot % LATENCY_PARTS + LATENCY_PARTS;
    return ((part + 1) << shift) - 1;
}

static inline void latency_add(struct latency *latency, uint64_t value_ns)
{
    latency->slots[latency_slot(value_ns)]++;
    latency->total++;
    if (value_ns > latency->max_ns)
        latency->max_ns = value_ns;
}

static inline void latency_clear(struct latency *latency)
{
    memset(latency, 0, sizeof *latency);
}

/* The value that `per_mille` of all values do not exceed; 0 when there are none. */
static inline uint64_t latency_quantile_ns(const struct latency *latency, uint32_t per_mille)
{
    uint64_t wanted = (latency->total * per_mille + 999) / 1000;
    uint64_t seen = 0;
    for (uint32_t slot = 0; slot < LATENCY_SLOTS && latency->total > 0; slot++) {
        seen += latency->slots[slot];
        if (seen >= wanted && seen > 0) {
            uint64_t upper_ns = latency_slot_upper_ns(slot);
            return upper_ns < latency->max_ns ? upper_ns : latency->max_ns;
        }
    }
    return 0;
}

#endif
