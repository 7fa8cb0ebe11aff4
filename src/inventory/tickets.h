/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/tickets.h: every win, and the index from idempotency key to win. Numbers count from one and
 * are never given again. A ticket's row is the one of its number, until the first row is forgotten: from
 * then on new tickets take forgotten rows, and are found by an index of their numbers.
 * Thread: inventory thread only. Memory: from the arena at create; 28 bytes a ticket, 5.4 for its key,
 * and 9.4 for its number where that is not the row's.
 * Errors: adding to a full table is a bug; ask tickets_full first. */
#ifndef STAMPEDE_INVENTORY_TICKETS_H
#define STAMPEDE_INVENTORY_TICKETS_H

#include "base/arena.h"
#include "base/hash.h"
#include "contract/command.h"
#include "inventory/slots.h"

#include <stddef.h>

enum {
    TICKET_STATE_BITS = 6,
    TICKET_TIME_BITS = 48,
    TICKET_ITEM_BITS = 18,
    TICKET_QUANTITY_BITS = 14,
};

struct ticket_row {
    user_id user; /* of a free row: the next free one plus one; 0: none */
    uint64_t key;
    uint64_t pay_by_ms : TICKET_TIME_BITS;
    uint32_t item : TICKET_ITEM_BITS;
    uint32_t quantity : TICKET_QUANTITY_BITS;
    uint8_t channel;
    uint8_t state : TICKET_STATE_BITS; /* enum ticket_state */
    uint8_t used : 1;                  /* 0: the row is free, all but `user` is 0 */
    uint8_t moved : 1;                 /* its number is not the row's */
} __attribute__((packed, aligned(4)));
static_assert(sizeof(struct ticket_row) == 28, "the memory budget of a buyer counts on it");

static inline void ticket_terms(struct ticket_row *row, item_id item, uint32_t quantity, uint64_t pay_by_ms)
{
    row->item = item & ((1u << TICKET_ITEM_BITS) - 1);
    row->quantity = quantity & ((1u << TICKET_QUANTITY_BITS) - 1);
    row->pay_by_ms = pay_by_ms & ((UINT64_C(1) << TICKET_TIME_BITS) - 1);
}
static inline void ticket_move(struct ticket_row *row, uint32_t state)
{
    row->state = state & ((1u << TICKET_STATE_BITS) - 1);
}

struct tickets {
    struct ticket_row *rows;
    struct slots keys;
    uint32_t *moved_number; /* by row: the number of a moved ticket, else 0 and not touched */
    struct slots numbers;   /* of moved tickets */
    uint64_t moved;         /* how many there are */
    uint64_t keyed;         /* tickets that have a key */
    uint64_t rows_end;      /* rows below this were used */
    uint64_t free_count;
    uint64_t free_head; /* the free row to be used next, plus one; 0: none */
    ticket_number last; /* the latest number given */
    uint64_t capacity;
    struct hash_key place; /* of this table only: rows and their order do not depend on it */
};

size_t tickets_bytes(uint64_t capacity); /* what tickets_create takes from the arena */
void tickets_create(struct tickets *tickets, struct arena *arena, uint64_t capacity);
static inline uint64_t tickets_used(const struct tickets *tickets)
{
    return tickets->rows_end - tickets->free_count;
}
static inline bool tickets_full(const struct tickets *tickets)
{
    return tickets_used(tickets) == tickets->capacity || tickets->last == TICKET_NUMBER_MAX;
}
static inline ticket_number tickets_number(const struct tickets *tickets, const struct ticket_row *row)
{
    const size_t at = (size_t)(row - tickets->rows);
    return !row->used ? 0 : row->moved ? tickets->moved_number[at] : at + 1;
}
/* Gives the row its number. */
ticket_number tickets_add(struct tickets *tickets, const struct ticket_row *row);
/* NULL: no such ticket, or it is forgotten. */
struct ticket_row *tickets_get(const struct tickets *tickets, ticket_number number);
static inline void tickets_expect_key(const struct tickets *tickets, uint64_t key) /* a prefetch for: */
{
    slots_expect(&tickets->keys, slots_home(&tickets->keys, key));
}
ticket_number tickets_find_key(const struct tickets *tickets, uint64_t key); /* 0: none */

/* The ticket, its key and its row go; only its number stays used. */
void tickets_forget(struct tickets *tickets, struct ticket_row *row);
static inline bool tickets_forgotten(const struct tickets *tickets, ticket_number number)
{
    return number != 0 && number <= tickets->last && tickets_get(tickets, number) == NULL;
}

/* From a snapshot into a fresh table: first every row as it was, free ones too, without the marks `used` and
 * `moved`, which follow from its number; then the rest. False: these can't be. */
MUST_CHECK bool tickets_restore_row(
    struct tickets *tickets, const struct ticket_row *row, uint32_t number); /* 0: a free one */
MUST_CHECK bool tickets_restore_end(struct tickets *tickets, ticket_number last, uint64_t free_head);

const char *tickets_check(const struct tickets *tickets); /* slowly; NULL: fine, else what is wrong */

#endif
