/* SPDX-License-Identifier: Apache-2.0 */
/* contract/restore.h: what an order store does when an older copy of it was put back beside the
 * present log (docs/operations.md, "Restore"). The log brings back orders and stock; what only the
 * lost copy knew is found again where that is possible, and its numbers are never given twice.
 * Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_RESTORE_H
#define STAMPEDE_CONTRACT_RESTORE_H

#include "contract/order_store.h"

enum { SEQUENCE_NAME_MAX = 31, SEQUENCES_MAX = 48, RESTORE_SEARCH_MAX = 256 };

/* The highest number that was given to a row of a kind, in the whole life of the store; of products, sales
 * and items that of the rows that are there. */
struct store_sequence {
    char name[SEQUENCE_NAME_MAX + 1];
    uint64_t last;
};

struct restore_store_ops {
    enum status (*sequences)(struct order_store *, struct store_sequence *, uint32_t max, uint32_t *count);
    /* Rows of this kind get numbers above `last`. Never lowers one; "audit", whose numbers have no
     * gaps, stays as it is. STATUS_NOT_FOUND: there is no such kind. */
    enum status (*raise)(struct order_store *, const struct store_sequence *);
    /* From now on a record that names a sale or an item that is not there makes it: unpublished,
     * under a name that says so. */
    void (*recover)(struct order_store *, bool on);
    /* Orders with tickets above `after`, ascending, whose payments may be lost: pending ones, paid and
     * refunded ones without a payment, and all above `newest`. */
    enum status (*orders)(struct order_store *, ticket_number after, ticket_number newest,
        struct order *, uint32_t max, uint32_t *count);
    enum status (*newest)(struct order_store *, ticket_number *); /* the highest ticket; 0: none */
};

#endif
