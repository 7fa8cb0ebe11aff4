/* SPDX-License-Identifier: Apache-2.0 */
/* api/sale_meters.h: what the door and the inventory answered, counted by sale, for the final
 * report. The worker gives each open sale one of SALE_METERS meters and notes in a table which meter an
 * item counts in. An edge counts with one load and one add in a table of its own, which nobody else
 * writes. Thread: sale_meter_count on the edge named; sale_meters_read and sale_meter_of on any; the rest
 * on the worker's. Memory: at start, from the arena. */
#ifndef STAMPEDE_API_SALE_METERS_H
#define STAMPEDE_API_SALE_METERS_H

#include "base/arena.h"
#include "contract/command.h"
#include "funnel/door.h"

#include <stdatomic.h>

enum {
    SALE_METERS = 64,                      /* sales that are open at a time and told apart */
    METER_LAYERS = DOOR_REASONS + ANSWERS, /* the door's answers, then the inventory's */
};
static_assert(SALE_METERS < 256, "a meter's number fits a byte");

struct sale_meters {
    uint32_t items, edges;
    _Atomic uint8_t *meter_of; /* by item: a number from 1; 0: no meter */
    /* By edge and meter; number 0 takes what is not metered, so that counting asks nothing. */
    _Atomic uint64_t (*counts)[SALE_METERS + 1][METER_LAYERS];
    /* By meter: what the sales before the present one had counted. Written by the worker. */
    _Atomic uint64_t (*bases)[METER_LAYERS];
};

size_t sale_meters_bytes(uint32_t items, uint32_t edges);
struct sale_meters *sale_meters_create(struct arena *arena, uint32_t items, uint32_t edges);

static inline uint32_t sale_meter_of(const struct sale_meters *meters, item_id item) /* 0: none */
{
    return item < meters->items ? atomic_load_explicit(&meters->meter_of[item], memory_order_relaxed)
                                : 0;
}

static inline void sale_meter_count(struct sale_meters *meters, uint32_t edge, item_id item, uint32_t layer)
{
    const uint32_t meter = sale_meter_of(meters, item);
    _Atomic uint64_t *cell = &meters->counts[edge][meter][layer];
    atomic_store_explicit(
        cell, atomic_load_explicit(cell, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* meter: 1 … SALE_METERS; 0: the item is not counted any more. */
void sale_meters_assign(struct sale_meters *meters, item_id item, uint32_t meter);
/* No item counts in this meter any more. */
void sale_meters_release(struct sale_meters *meters, uint32_t meter);
/* The meter is given to another sale: sale_meters_since begins at 0. */
void sale_meters_begin(struct sale_meters *meters, uint32_t meter);
uint64_t sale_meters_since(const struct sale_meters *meters, uint32_t meter, uint32_t layer);
/* meter 0: of all that have none. */
uint64_t sale_meters_read(const struct sale_meters *meters, uint32_t meter, uint32_t layer);

#endif
