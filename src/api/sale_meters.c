/* SPDX-License-Identifier: Apache-2.0 */
#include "api/sale_meters.h"

size_t sale_meters_bytes(uint32_t items, uint32_t edges)
{
    const struct sale_meters *meters = NULL;
    return sizeof *meters + items * sizeof *meters->meter_of + edges * sizeof *meters->counts
        + (SALE_METERS + 1) * sizeof *meters->bases + 256;
}

struct sale_meters *sale_meters_create(struct arena *arena, uint32_t items, uint32_t edges)
{
    struct sale_meters *meters = arena_take(arena, 1, sizeof *meters);
    meters->items = items;
    meters->edges = edges;
    meters->meter_of = arena_take(arena, items, sizeof *meters->meter_of);
    meters->counts = arena_take(arena, edges, sizeof *meters->counts);
    meters->bases = arena_take(arena, SALE_METERS + 1, sizeof *meters->bases);
    return meters;
}

void sale_meters_assign(struct sale_meters *meters, item_id item, uint32_t meter)
{
    invariant(meter <= SALE_METERS);
    if (item < meters->items)
        atomic_store_explicit(&meters->meter_of[item], (uint8_t)meter, memory_order_relaxed);
}

void sale_meters_release(struct sale_meters *meters, uint32_t meter)
{
    for (item_id item = 0; item < meters->items; item++)
        if (atomic_load_explicit(&meters->meter_of[item], memory_order_relaxed) == meter)
            sale_meters_assign(meters, item, 0);
}

uint64_t sale_meters_read(const struct sale_meters *meters, uint32_t meter, uint32_t layer)
{
    uint64_t sum = 0;
    invariant(meter <= SALE_METERS && layer < METER_LAYERS);
    for (uint32_t edge = 0; edge < meters->edges; edge++)
        sum += atomic_load_explicit(&meters->counts[edge][meter][layer], memory_order_relaxed);
    return sum;
}

void sale_meters_begin(struct sale_meters *meters, uint32_t meter)
{
    for (uint32_t layer = 0; layer < METER_LAYERS; layer++)
        atomic_store_explicit(&meters->bases[meter][layer], sale_meters_read(meters, meter, layer),
            memory_order_relaxed);
}

uint64_t sale_meters_since(const struct sale_meters *meters, uint32_t meter, uint32_t layer)
{
    const uint64_t base = atomic_load_explicit(&meters->bases[meter][layer], memory_order_relaxed);
    return sale_meters_read(meters, meter, layer) - base;
}
