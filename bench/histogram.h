/* SPDX-License-Identifier: Apache-2.0 */
/* Latency histogram with a bounded relative error.
 *
 * A value falls into the power of two that it belongs to, and there into one of 64 equal parts:
 * every figure that comes out is at most 1/64 above the value that went in. Constant size, no
 * allocation, any value up to 2^63 ns.
 * Thread: one owner. */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>
#include <string.h>

enum { HISTOGRAM_PARTS_LOG2 = 6, HISTOGRAM_PARTS = 1 << HISTOGRAM_PARTS_LOG2 };
enum { HISTOGRAM_SLOTS = (64 - HISTOGRAM_PARTS_LOG2 + 1) * HISTOGRAM_PARTS };

struct histogram {
    uint64_t total;
    uint64_t max_ns;
    uint64_t slots[HISTOGRAM_SLOTS];
};

static inline uint32_t histogram_slot(uint64_t value_ns)
{
    if (value_ns < HISTOGRAM_PARTS)
        return (uint32_t)value_ns;
    uint32_t shift = 63U - (uint32_t)__builtin_clzll(value_ns) - HISTOGRAM_PARTS_LOG2;
    return (shift + 1) * HISTOGRAM_PARTS + (uint32_t)(value_ns >> shift) - HISTOGRAM_PARTS;
}

static inline uint64_t histogram_slot_upper_ns(uint32_t slot)
{
    if (slot < HISTOGRAM_PARTS)
        return slot;
    uint32_t shift = slot / HISTOGRAM_PARTS - 1;
    uint64_t part = slot % HISTOGRAM_PARTS + HISTOGRAM_PARTS;
    return ((part + 1) << shift) - 1;
}

static inline void histogram_add(struct histogram *histogram, uint64_t value_ns)
{
    histogram->slots[histogram_slot(value_ns)]++;
    histogram->total++;
    if (value_ns > histogram->max_ns)
        histogram->max_ns = value_ns;
}

static inline void histogram_clear(struct histogram *histogram)
{
    memset(histogram, 0, sizeof(*histogram));
}

/* The value that `per_mille` of all values do not exceed; 0 when there are none. */
static inline uint64_t histogram_quantile_ns(const struct histogram *histogram, uint32_t per_mille)
{
    uint64_t wanted = (histogram->total * per_mille + 999) / 1000;
    uint64_t seen = 0;
    for (uint32_t slot = 0; slot < HISTOGRAM_SLOTS && histogram->total > 0; slot++) {
        seen += histogram->slots[slot];
        if (seen >= wanted && seen > 0) {
            uint64_t upper_ns = histogram_slot_upper_ns(slot);
            return upper_ns < histogram->max_ns ? upper_ns : histogram->max_ns;
        }
    }
    return 0;
}

#endif
