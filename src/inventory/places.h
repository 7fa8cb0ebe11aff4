/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/places.h: who has entered the waiting room of which sale, with which arrival number.
 * Rows are in the order of the log, and a row does not change while its sale is there, so that other threads
 * may look without a lock: a row is written before its slot is, and a reader that may only tell what is
 * durable compares the row's index with the durable count (board.places_durable).
 * The table is a ring: indexes count on and on, and the rows of a sale that was archived are used again once
 * all rows before them are free, too. A sale's number is never given again: a reader that finds the sale in a
 * row before and after it has read the rest has read that sale's row.
 * Thread: places_add, places_forget and places_trim by the inventory thread; places_look, places_first and
 * places_at by any. Memory: from the arena at create; 16 bytes a row and 8 for its slots.
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
    sale_id sale;    /* 0: the row is free */
    uint32_t number; /* arrival number, from 0 in each sale */
};

struct places {
    struct place_row *rows;
    _Atomic uint32_t *slots; /* row + 1, 0: empty, PLACES_GONE: there was one */
    uint64_t slot_count;
    uint64_t begin, count; /* indexes of the first row in use and after the last; inventory thread only */
    uint64_t capacity;
    struct hash_key key;      /* of this table only: rows and their order do not depend on it */
    _Atomic uint64_t *firsts; /* index + 1 of the first one of each sale; 0: none */
    uint32_t sales;           /* there are so many of these */
};

/* `sales`: their ids are below. */
size_t places_bytes(uint64_t capacity, uint32_t sales);
void places_create(struct places *places, struct arena *arena, uint64_t capacity, uint32_t sales);
static inline bool places_full(const struct places *places)
{
    return places->count - places->begin == places->capacity;
}
static inline struct place_row *places_at(const struct places *places, uint64_t index)
{
    return &places->rows[index % places->capacity];
}
void places_add(struct places *places, sale_id sale, user_id user, uint32_t number);
/* The index of the first row of a sale; UINT64_MAX: nobody has entered. */
static inline uint64_t places_first(const struct places *places, sale_id sale)
{
    const uint64_t first =
        sale < places->sales ? atomic_load_explicit(&places->firsts[sale], memory_order_acquire) : 0;
    return first == 0 ? UINT64_MAX : first - 1;
}
/* The index of the row; UINT64_MAX: has not entered. */
uint64_t places_find(const struct places *places, sale_id sale, user_id user);
/* What other threads may ask: false: has not entered, or the sale was archived. */
bool places_look(const struct places *places, sale_id sale, user_id user, uint32_t *number);
uint64_t places_taken(const struct places *places); /* rows that are not free; slowly */
/* The row becomes free. */
void places_forget(struct places *places, uint64_t index);
/* A free row, as a snapshot had it. */
void places_add_free(struct places *places);
/* Free rows at the beginning are used again. Answers how many. */
uint64_t places_trim(struct places *places);

#endif
