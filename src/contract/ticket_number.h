/* SPDX-License-Identifier: Apache-2.0 */
/* contract/ticket_number.h: what a ticket number is made of.
 *
 *   63      60 59                40 39          28 27                            0
 *   | 0 0 0 0 | part (20 bits)     | epoch (12)   | n (28)                       |
 *
 * n counts the wins of a partition from 1 and goes on over its epochs: a number that was told under an epoch
 * that has ended is never another win's. In partition 0, one machine, there are no epochs: the number is n
 * itself, up to TICKET_NUMBER_MAX. A shop that was moved to many machines goes on in partition 0 with epochs
 * that begin above all of these numbers, so a number says by itself which of the two it is.
 * Numbers fit a signed column of a database. The number of a later win is greater only within one partition
 * and epoch: who wants the order of time asks for the time. */
#ifndef STAMPEDE_CONTRACT_TICKET_NUMBER_H
#define STAMPEDE_CONTRACT_TICKET_NUMBER_H

#include "contract/types.h"

enum { TICKET_PART_BITS = 20, TICKET_EPOCH_BITS = 12, TICKET_N_BITS = 28 };
enum {
    PART_MAX = (1 << TICKET_PART_BITS) - 1,
    EPOCH_MAX = (1 << TICKET_EPOCH_BITS) - 1,
    TICKET_N_MAX = (1 << TICKET_N_BITS) - 1, /* of a partition but 0 */
};
enum { TICKET_PART_AT = TICKET_EPOCH_BITS + TICKET_N_BITS };
enum {
    EPOCH_MOVED = (int)(TICKET_NUMBER_MAX >> TICKET_N_BITS)
}; /* in partition 0: openings come after it */
static_assert(TICKET_PART_BITS + TICKET_PART_AT == 60, "room for a sign, and some to spare");
static_assert((uint64_t)TICKET_NUMBER_MAX >> TICKET_PART_AT == 0,
    "the numbers of one machine are of partition 0");

/* On many machines a partition is a shard of a sale. */
static_assert(SALES_LIMIT <= 1 << (TICKET_PART_BITS - SHARD_BITS), "each sale has numbers for its shards");
static inline uint32_t part_of_sale(sale_id sale, uint32_t shard)
{
    return sale << SHARD_BITS | shard;
}
static inline sale_id part_sale(uint32_t part)
{
    return part >> SHARD_BITS;
}
static inline uint32_t part_shard(uint32_t part)
{
    return part & (SHARDS_MAX - 1);
}
/* Where a user is at home in a sale of so many shards: all that a user buys there is decided in one place,
 * so that limits hold. Logs rest on it: it never changes. */
static inline uint32_t shard_of_user(user_id user, uint32_t shards)
{
    const uint64_t mixed = user * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return (uint32_t)(mixed * shards >> 32);
}

struct ticket_parts {
    uint32_t part, epoch;
    uint32_t n;
};

static inline uint32_t ticket_part(ticket_number ticket)
{
    return (uint32_t)(ticket >> TICKET_PART_AT);
}

/* 0: there is no such number. */
static inline ticket_number ticket_number_make(const struct ticket_parts *parts)
{
    if (parts->n == 0)
        return 0;
    if (parts->part == PART_EMBEDDED && parts->epoch <= EPOCH_MOVED)
        return parts->epoch == 0 ? parts->n : 0;
    if (parts->part > PART_MAX || parts->epoch > EPOCH_MAX || parts->n > TICKET_N_MAX)
        return 0;
    return (ticket_number)parts->part << TICKET_PART_AT
        | (ticket_number)parts->epoch << TICKET_N_BITS | parts->n;
}

/* False: no ticket can have this number. */
static inline bool ticket_number_split(ticket_number ticket, struct ticket_parts *parts)
{
    if (ticket <= TICKET_NUMBER_MAX) {
        *parts = (struct ticket_parts){ .n = (uint32_t)ticket };
        return ticket != 0;
    }
    *parts = (struct ticket_parts){ .part = ticket_part(ticket),
        .epoch = (uint32_t)(ticket >> TICKET_N_BITS) & EPOCH_MAX,
        .n = (uint32_t)ticket & TICKET_N_MAX };
    return parts->part <= PART_MAX && parts->n != 0;
}

#endif
