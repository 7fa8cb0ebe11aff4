/* SPDX-License-Identifier: Apache-2.0 */
/* contract/ticket_ranges.h: the tickets of a shop that was moved back from many machines to one
 * (docs/decisions/0053-a-shop-moves-back-as-its-state.md). Outside they keep the numbers that were told,
 * which have a partition and an epoch. Inside, in the engine and in the journal of the one machine, they
 * count from 1 without a gap, partition after partition; later tickets go on after them, and have one number.
 *
 * A range is the tickets of one partition and epoch. Ranges ascend inside and outside.
 * Thread: any; nothing changes after it is made. Memory: one block, freed as a whole. */
#ifndef STAMPEDE_CONTRACT_TICKET_RANGES_H
#define STAMPEDE_CONTRACT_TICKET_RANGES_H

#include "base/status.h"
#include "contract/types.h"

#include <stddef.h>

enum { TICKET_RANGES_MAX = 1 << 14 };

struct ticket_range {
    ticket_number outside; /* of its first ticket; the others follow one by one */
    uint32_t inside, count;
};
struct ticket_ranges {
    ticket_number last; /* inside: the last one that was moved */
    uint32_t count;
    struct ticket_range list[TICKET_RANGES_MAX];
};

/* The next tickets inside are called this outside. False: too many ranges, or numbers do not ascend. */
MUST_CHECK bool ticket_ranges_add(struct ticket_ranges *ranges, ticket_number outside, uint32_t count);
/* NULL ranges: no shop was moved back, and numbers are the same. 0: there is no such ticket. */
ticket_number ticket_ranges_inside(const struct ticket_ranges *ranges, ticket_number outside);
ticket_number ticket_ranges_outside(const struct ticket_ranges *ranges, ticket_number inside);
/* A number that can only have been told by a partition that was moved back. */
bool ticket_ranges_knows_part(const struct ticket_ranges *ranges, ticket_number outside);

#endif
