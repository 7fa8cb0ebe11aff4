/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/places.h: who has entered the waiting room of which sale, with which arrival number.
 * Rows are in the order of the log and never change, so that other threads may look without a
 * lock: a row is written before its slot is, and a reader that may only tell what is durable
 * compares the row's index with the durable count (board.places_durable).
 * Thread: places_add by the inventory thread; the rest by any. Memory: from the arena at create;
 * 16 bytes a row and 8 for its slots.
 * Errors: adding to a full table, or a user twice, is a bug; ask first. */
#ifndef STAMPEDE_INVENTORY_PLACES_H
#define STAMPEDE_INVENTORY_PLACES_H

#include "base/arena.h"
#include "base/hash.h"
#include "contract/limits.h"
#include "contract/types.h"

#include <stdatomic.h>
#include <stddef.h>

struct place_row {
    user_id user;
    sale_id sale;
    uint32_t number; /* arrival number, from 0 in each sale */
};

struct places {
    struct place_row *rows;
    _Atomic uint32_t *slots; /* row + 1, 0: empty */
    uint64_t slot_count;
    uint64_t count; /* inventory thread only */
    uint64_t capacity;
    struct hash_key key;      /* of this table only: rows and their order do not depend on it */
    _Atomic uint32_t *firsts; /* row + 1 of the first one of each sale; 0: none */
    uint32_t sales;           /* there are so many of these */
};

/* `sales`: their ids are below. */
size_t places_bytes(uint64_t capacity, uint32_t sales);
void places_create(struct places *places, struct arena *arena, uint64_t capacity, uint32_t sales);
static inline bool places_full(const struct places *places)
{
    return places->count == places->capacity;
}
void places_add(struct places *places, sale_id sale, user_id user, uint32_t number);
/* The index of the first row of a sale; UINT64_MAX: nobody has entered. */
static inline uint64_t places_first(const struct places *places, sale_id sale)
{
    const uint32_t first =
        sale < places->sales ? atomic_load_explicit(&places->firsts[sale], memory_order_acquire) : 0;
    return first == 0 ? UINT64_MAX : first - 1;
}
/* The index of the row; UINT64_MAX: has not entered. */
uint64_t places_find(const struct places *places, sale_id sale, user_id user);

#endif
