/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/places.h"

#include "base/random.h"

static_assert(sizeof(struct place_row) == 16, "the memory budget of a place counts on it");

enum { SLOTS_PER_ROW = 2 };

static uint64_t slots_for(uint64_t capacity)
{
    return capacity * SLOTS_PER_ROW + 8;
}

size_t places_bytes(uint64_t capacity, uint32_t sales)
{
    return capacity * sizeof(struct place_row) + (slots_for(capacity) + sales) * sizeof(uint32_t) + 256;
}

void places_create(struct places *places, struct arena *arena, uint64_t capacity, uint32_t sales)
{
    invariant(capacity < UINT32_MAX);
    *places = (struct places){ .capacity = capacity, .slot_count = slots_for(capacity), .sales = sales };
    places->firsts = arena_take(arena, sales, sizeof *places->firsts);
    places->rows = arena_take(arena, capacity + 1, sizeof *places->rows);
    places->slots = arena_take(arena, places->slot_count, sizeof *places->slots);
    random_secret(&places->key, sizeof places->key);
}

static uint64_t slot_of(const struct places *places, sale_id sale, user_id user)
{
    const uint64_t hash = hash_place(places->key, user, sale);
    return (uint64_t)(((unsigned __int128)hash * places->slot_count) >> 64);
}

/* The slot that holds the row, or the empty one where it belongs. */
static uint64_t slot_find(const struct places *places, sale_id sale, user_id user, uint32_t *row)
{
    uint64_t slot = slot_of(places, sale, user);
    for (;; slot = slot + 1 == places->slot_count ? 0 : slot + 1) {
        *row = atomic_load_explicit(&places->slots[slot], memory_order_acquire);
        if (*row == 0)
            return slot;
        const struct place_row *found = &places->rows[*row - 1];
        if (found->user == user && found->sale == sale)
            return slot;
    }
}

void places_add(struct places *places, sale_id sale, user_id user, uint32_t number)
{
    uint32_t row;
    const uint64_t slot = slot_find(places, sale, user, &row);
    invariant(row == 0 && !places_full(places) && sale < places->sales);
    places->rows[places->count] = (struct place_row){ .user = user, .sale = sale, .number = number };
    places->count++;
    if (atomic_load_explicit(&places->firsts[sale], memory_order_relaxed) == 0)
        atomic_store_explicit(&places->firsts[sale], (uint32_t)places->count, memory_order_release);
    atomic_store_explicit(&places->slots[slot], (uint32_t)places->count, memory_order_release);
}

uint64_t places_find(const struct places *places, sale_id sale, user_id user)
{
    uint32_t row;
    slot_find(places, sale, user, &row);
    return row == 0 ? UINT64_MAX : row - 1;
}
