/* SPDX-License-Identifier: Apache-2.0 */
/* contract/archive.h: sales whose orders have left the store for a bundle (docs/archive.md). A sale has
 * a row for good; the row of sale 0 counts the numbers of tickets that nobody got (COMMAND_SKIP).
 * Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_ARCHIVE_H
#define STAMPEDE_CONTRACT_ARCHIVE_H

#include "base/hash.h"
#include "contract/order_store.h"

enum archive_step {
    ARCHIVE_REMOVING = 1,   /* the bundle is whole; rows are being removed */
    ARCHIVE_FORGETTING = 2, /* no row is left; the inventory forgets its tickets */
    ARCHIVE_DONE = 3,
};

struct archive {
    sale_id sale;
    uint8_t step;    /* enum archive_step */
    uint64_t orders; /* in the bundle; of sale 0: numbers that were left out */
    uint64_t bytes;  /* of the bundle */
    uint64_t made_ms;
    uint8_t hash[HASH_SHA256_BYTES]; /* of the bundle's file */
};

struct archive_look {
    uint64_t orders, versions;
    char why[120];
};

/* How far a pass has come; all 0: it begins. */
struct erase_cursor {
    uint64_t ticket, user; /* the last ones that were looked at */
    bool details_done, user_begun;
    bool ended; /* of the whole pass */
};

struct archive_store_ops {
    /* In the order of sales, from `from` on. */
    enum status (*list)(
        struct order_store *, sale_id from, struct archive *, uint32_t max, uint32_t *count);
    /* Whether the sale of this item has a row; item 0: whether there is any row. */
    enum status (*holds)(struct order_store *, item_id, bool *holds);
    /* What a bundle has to agree with: how many orders the sale has, and the sum of their versions,
     * which grows with every change of one. `why` is empty, or says what is still open. */
    enum status (*look)(struct order_store *, sale_id, struct archive_look *);
    /* One transaction: the row with ARCHIVE_REMOVING, and the sale is in no list any more.
     * STATUS_CONFLICT: it has a row. */
    enum status (*begin)(struct order_store *, const struct archive *);
    /* One transaction removes some rows of what belongs to the sale; the sale and its items stay, with
     * their sums and counts. *more: there may be others. */
    enum status (*remove)(struct order_store *, sale_id, bool *more);
    enum status (*step)(struct order_store *, sale_id, enum archive_step);
    /* What names the user to people goes: the shop's name for the user, addresses and notes of all
     * orders. */
    enum status (*erase)(struct order_store *, user_id, uint64_t *rows);
    /* The same by a rule, a part in one transaction: addresses and notes of orders made before `before_ms`
     * that do not wait for money, then names of users first seen before it who have no order. */
    enum status (*erase_older)(
        struct order_store *, uint64_t before_ms, struct erase_cursor *, uint64_t *rows);
};

#endif
