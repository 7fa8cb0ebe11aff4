/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/merge.h: the engines of the partitions of many machines become the one of one machine
 * (docs/decisions/0053-a-shop-moves-back-as-its-state.md). Partitions come in the order of their numbers.
 * Each brings its sales with rooms, items, tickets, users, places and keys; shards of one sale are added up.
 * Tickets count on after those of the partitions before.
 * Thread: one. Errors: STATUS_CONFLICT: it can't be, and `what` says why; STATUS_FULL: `to` is too small. */
#ifndef STAMPEDE_INVENTORY_MERGE_H
#define STAMPEDE_INVENTORY_MERGE_H

#include "inventory/engine.h"

struct merge {
    struct engine *to;     /* fresh */
    ticket_number last;    /* tickets of the partitions so far */
    uint64_t keys_dropped; /* purchases whose key their user has used in another sale, too */
    char what[160];
};

MUST_CHECK enum status merge_add(struct merge *merge, const struct engine *from);
/* All are there: what was added up is checked from all sides. */
MUST_CHECK enum status merge_end(struct merge *merge);

#endif
