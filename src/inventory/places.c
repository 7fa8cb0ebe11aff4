/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/places.h"

#include "base/random.h"

static_assert(sizeof(struct place_row) == 16, "the memory budget of a place counts on it");

enum { SLOTS_PER_ROW = 2 };
#define PLACES_GONE UINT32_MAX

static uint64_t slots_for(uint64_t capacity)
{
    return capacity * SLOTS_PER_ROW + 8;
}

size_t places_bytes(uint64_t capacity, uint32_t sales)
{
    return capacity * sizeof(struct place_row) + slots_for(capacity) * sizeof(uint32_t)
        + sales * sizeof(uint64_t) + 256;
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

/* Fields are read while they may be written: in this order, so that a reader who sees the sale before and
 * after has read what belongs to it. */
static void row_write(struct place_row *row, sale_id sale, user_id user, uint32_t number)
{
    __atomic_store_n(&row->sale, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&row->user, user, __ATOMIC_RELEASE);
    __atomic_store_n(&row->number, number, __ATOMIC_RELEASE);
    __atomic_store_n(&row->sale, sale, __ATOMIC_RELEASE);
}

static bool row_read(const struct place_row *row, sale_id sale, user_id user, uint32_t *number)
{
    if (__atomic_load_n(&row->sale, __ATOMIC_ACQUIRE) != sale
        || __atomic_load_n(&row->user, __ATOMIC_ACQUIRE) != user)
        return false;
    *number = __atomic_load_n(&row->number, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&row->sale, __ATOMIC_RELAXED) == sale;
}

static uint64_t slot_next(const struct places *places, uint64_t slot)
{
    return slot + 1 == places->slot_count ? 0 : slot + 1;
}

/* The slot that holds the row, or the one where it belongs (*row is 0). */
static uint64_t slot_find(
    const struct places *places, sale_id sale, user_id user, uint32_t *row, uint32_t *number)
{
    uint64_t slot = slot_of(places, sale, user), gone = UINT64_MAX;
    for (uint64_t i = 0; i < places->slot_count; i++, slot = slot_next(places, slot)) {
        *row = atomic_load_explicit(&places->slots[slot], memory_order_acquire);
        if (*row == 0)
            return gone != UINT64_MAX ? gone : slot;
        if (*row == PLACES_GONE) {
            gone = gone != UINT64_MAX ? gone : slot;
            continue;
        }
        if (row_read(&places->rows[*row - 1], sale, user, number))
            return slot;
    }
    *row = 0;
    return gone;
}

static void row_add(struct places *places, sale_id sale, user_id user, uint32_t number)
{
    invariant(!places_full(places));
    row_write(places_at(places, places->count), sale, user, number);
    places->count++;
}

void places_add(struct places *places, sale_id sale, user_id user, uint32_t number)
{
    uint32_t row, unused;
    const uint64_t slot = slot_find(places, sale, user, &row, &unused);
    invariant(row == 0 && slot != UINT64_MAX && sale != 0 && sale < places->sales);
    const uint32_t at = (uint32_t)(places->count % places->capacity);
    row_add(places, sale, user, number);
    if (atomic_load_explicit(&places->firsts[sale], memory_order_relaxed) == 0)
        atomic_store_explicit(&places->firsts[sale], places->count, memory_order_release);
    atomic_store_explicit(&places->slots[slot], at + 1, memory_order_release);
}

void places_add_free(struct places *places)
{
    row_add(places, 0, 0, 0);
}

uint64_t places_find(const struct places *places, sale_id sale, user_id user)
{
    uint32_t row, number;
    slot_find(places, sale, user, &row, &number);
    if (row == 0)
        return UINT64_MAX;
    const uint64_t from = places->begin % places->capacity;
    return places->begin + (row - 1 + places->capacity - from) % places->capacity;
}

bool places_look(const struct places *places, sale_id sale, user_id user, uint32_t *number)
{
    uint32_t row;
    slot_find(places, sale, user, &row, number);
    return row != 0;
}

uint64_t places_taken(const struct places *places)
{
    uint64_t taken = 0;
    for (uint64_t i = places->begin; i < places->count; i++)
        taken += places_at(places, i)->sale != 0;
    return taken;
}

/* Marks before an empty slot are on nobody's way: they are emptied, so that ways stay short. */
static void slot_empty(struct places *places, uint64_t slot)
{
    atomic_store_explicit(&places->slots[slot], PLACES_GONE, memory_order_release);
    if (atomic_load_explicit(&places->slots[slot_next(places, slot)], memory_order_relaxed) != 0)
        return;
    while (atomic_load_explicit(&places->slots[slot], memory_order_relaxed) == PLACES_GONE) {
        atomic_store_explicit(&places->slots[slot], 0, memory_order_release);
        slot = slot == 0 ? places->slot_count - 1 : slot - 1;
    }
}

void places_forget(struct places *places, uint64_t index)
{
    struct place_row *place = places_at(places, index);
    const sale_id sale = place->sale;
    uint32_t row, number;
    const uint64_t slot = slot_find(places, sale, place->user, &row, &number);
    invariant(sale != 0 && row != 0 && index >= places->begin && index < places->count);
    row_write(place, 0, 0, 0);
    slot_empty(places, slot);
    if (atomic_load_explicit(&places->firsts[sale], memory_order_relaxed) == index + 1)
        atomic_store_explicit(&places->firsts[sale], 0, memory_order_release);
}

uint64_t places_trim(struct places *places)
{
    const uint64_t before = places->begin;
    while (places->begin < places->count && places_at(places, places->begin)->sale == 0)
        places->begin++;
    return places->begin - before;
}
