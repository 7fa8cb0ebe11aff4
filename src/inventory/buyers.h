/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/buyers.h: units that each user has in each scope: an item, a sale with a limit, or a
 * sale's list of eligible users. Counts unpaid and paid units; returned units leave it.
 * Thread: inventory thread only. Memory: from the arena at create; 20 bytes a row, 5.4 for
 * its slot, and 4 for the end of a cool-down where there was one.
 * Errors: adding to a full table is a bug; ask buyers_room first. */
#ifndef STAMPEDE_INVENTORY_BUYERS_H
#define STAMPEDE_INVENTORY_BUYERS_H

#include "base/arena.h"
#include "base/hash.h"
#include "contract/types.h"
#include "inventory/slots.h"

#include <stddef.h>

enum {
    BUYER_USED_BITS = 27,
    BUYER_RETURNS_BITS = 5,
    BUYER_RETURNS_MAX = (1 << BUYER_RETURNS_BITS) - 1,
    BUYER_ROWS_PER_WIN = 2, /* a win may need a row for the item and one for the sale */
    BUYER_SCOPE_ID_BITS = 20,
};
static_assert(UNITS_MAX < 1 << BUYER_USED_BITS, "a user can't have more than all units");

struct buyer_row {
    user_id user;                    /* of a free row: the next free one plus one; 0: none */
    uint32_t scope;                  /* buyers_scope_…; 0: the row is free */
    uint32_t used : BUYER_USED_BITS; /* units */
    uint32_t returns
        : BUYER_RETURNS_BITS; /* how often the user gave the item up; the largest value means that or more */
    uint32_t last;            /* the latest ticket in this scope; 0: none */
} __attribute__((packed, aligned(4)));

static inline void buyer_use(struct buyer_row *row, uint32_t units)
{
    row->used = (row->used + units) & ((1u << BUYER_USED_BITS) - 1);
}

struct buyers {
    struct buyer_row *rows;
    uint32_t *cool_until_s; /* by row, with returns: the item can't be taken before; else 0 and not touched */
    struct slots slots;
    uint64_t rows_end; /* rows below this were used */
    uint64_t free_count;
    uint64_t free_head; /* the free row to be used next, plus one; 0: none */
    uint64_t capacity;
    struct hash_key key; /* of this table only: rows and their order do not depend on it */
};

/* When the user may take the item again, in seconds; 0: the user never gave it up. */
static inline uint32_t buyers_cool_until_s(const struct buyers *buyers, const struct buyer_row *row)
{
    return row->returns == 0 ? 0 : buyers->cool_until_s[row - buyers->rows];
}
/* Once more the user gave the item up. */
static inline void buyers_cool_down(struct buyers *buyers, struct buyer_row *row, uint32_t until_s)
{
    buyers->cool_until_s[row - buyers->rows] = until_s;
    if (row->returns < BUYER_RETURNS_MAX)
        row->returns++;
}

static inline uint32_t buyers_scope_item(item_id item)
{
    return item;
}
static inline uint32_t buyers_scope_sale(sale_id sale)
{
    return 1u << BUYER_SCOPE_ID_BITS | sale;
}
static inline uint32_t buyers_scope_eligible(sale_id sale)
{
    return 2u << BUYER_SCOPE_ID_BITS | sale;
}
static inline uint32_t buyers_scope_id(uint32_t scope) /* of the item or sale */
{
    return scope & ((1u << BUYER_SCOPE_ID_BITS) - 1);
}

/* A prefetch for buyers_slot. */
static inline void buyers_expect(const struct buyers *buyers, uint32_t scope, user_id user)
{
    slots_expect(&buyers->slots, slots_home(&buyers->slots, hash_place(buyers->key, user, scope)));
}
size_t buyers_bytes(uint64_t capacity);
void buyers_create(struct buyers *buyers, struct arena *arena, uint64_t capacity);
static inline uint64_t buyers_room(const struct buyers *buyers)
{
    return buyers->capacity - buyers->rows_end + buyers->free_count;
}
/* The slot of a user's row, or the empty one where it belongs: until a row is added or forgotten. */
uint64_t buyers_slot(const struct buyers *buyers, uint32_t scope, user_id user);
static inline struct buyer_row *buyers_at(const struct buyers *buyers, uint64_t slot) /* NULL: none */
{
    const uint32_t row = buyers->slots.at[slot];
    return row == 0 ? NULL : &buyers->rows[row - 1];
}
struct buyer_row *buyers_find(const struct buyers *buyers, uint32_t scope, user_id user); /* NULL: none */
/* `slot` is what buyers_slot answers now. */
struct buyer_row *buyers_at_or_add(struct buyers *buyers, uint64_t slot, uint32_t scope, user_id user);
struct buyer_row *buyers_find_or_add(struct buyers *buyers, uint32_t scope, user_id user);
/* A row that counts nothing any more; a new one may take its place. */
void buyers_forget(struct buyers *buyers, struct buyer_row *row);

/* As in tickets.h. */
MUST_CHECK bool buyers_restore_row(
    struct buyers *buyers, const struct buyer_row *row, uint32_t cool_until_s);
MUST_CHECK bool buyers_restore_end(struct buyers *buyers, uint64_t free_head);
const char *buyers_check(const struct buyers *buyers);

#endif
