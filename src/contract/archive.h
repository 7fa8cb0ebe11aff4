/* SPDX-License-Identifier: Apache-2.0 */
/* contract/archive.h: sales whose orders have left the store for a bundle (docs/archive.md). A sale has
 * a row for good; the row of sale 0 counts the numbers of tickets that nobody got (COMMAND_SKIP).
 * Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_ARCHIVE_H
#define STAMPEDE_CONTRACT_ARCHIVE_H

#include "base/hash.h"
#include "contract/order_store.h"

/* Of a sale's bundle, in the folder of bundles. */
#define ARCHIVE_NAME "sale-%05u.bundle"
enum { ARCHIVE_NAME_MAX = 40 };

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

/* What a bundle has to agree with: how many orders the sale has, the sum of their versions, which grows with
 * every change of one, and on many machines the sum of the positions of its logs. */
enum { ARCHIVE_WHY_MAX = 119 };
struct archive_look {
    uint64_t orders, versions, positions;
    char why[ARCHIVE_WHY_MAX + 1]; /* empty, or what is still open */
};

/* A sale that is asked to leave, or could not leave. Its row goes when the sale is marked (`begin`). */
struct archive_wish {
    sale_id sale;
    bool asked;                    /* by a person; else archive.after_days are over */
    uint32_t tries;                /* that failed */
    uint64_t due_ms;               /* of the next one; ARCHIVE_NEVER_MS: when somebody asks again */
    char why[ARCHIVE_WHY_MAX + 1]; /* the last one failed */
};
#define ARCHIVE_NEVER_MS ((uint64_t)INT64_MAX)

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
    /* The first one that has not come to ARCHIVE_DONE. STATUS_NOT_FOUND: there is none. */
    enum status (*unfinished)(struct order_store *, struct archive *);
    /* Whether the sale of this item has a row; item 0: whether there is any row. */
    enum status (*holds)(struct order_store *, item_id, bool *holds);
    enum status (*look)(struct order_store *, sale_id, struct archive_look *);
    /* One transaction: the row with ARCHIVE_REMOVING, and the sale is in no list any more. `made` is what
     * the bundle has. STATUS_CONFLICT: the sale has a row. STATUS_REFUSED: the store has something else, or
     * something is open; *now tells, and nothing is changed. */
    enum status (*begin)(struct order_store *, const struct archive *,
        const struct archive_look *made, struct archive_look *now);
    /* One transaction removes some rows of what belongs to the sale; the sale and its items stay, with
     * their sums and counts. On many machines its partitions and their logs go last. *more: there may be
     * others. STATUS_BUSY: money of an order is on its way back; nothing is removed. */
    enum status (*remove)(struct order_store *, sale_id, bool *more);
    enum status (*step)(struct order_store *, sale_id, enum archive_step);
    /* STATUS_NOT_FOUND: there is none. */
    enum status (*wish_get)(struct order_store *, sale_id, struct archive_wish *);
    enum status (*wish_put)(struct order_store *, const struct archive_wish *); /* in place of an older one */
    /* How many that were asked for were not tried yet, and how many have failed. */
    enum status (*wishes_count)(struct order_store *, uint64_t *open, uint64_t *failed);
    /* The next sale to leave: one that was asked for, or the first one after `after` that ended before
     * `ended_ms`; in neither case one whose next try is due later, or that has left. *sale 0: none. */
    enum status (*next)(struct order_store *, uint64_t now_ms, uint64_t ended_ms, sale_id after,
        sale_id *sale, bool *asked);
    /* What names the user to people goes: the shop's name for the user, addresses and notes of all
     * orders. */
    enum status (*erase)(struct order_store *, user_id, uint64_t *rows);
    /* The same by a rule, a part in one transaction: addresses and notes of orders made before `before_ms`
     * that do not wait for money, then names of users first seen before it who have no order. */
    enum status (*erase_older)(
        struct order_store *, uint64_t before_ms, struct erase_cursor *, uint64_t *rows);
};

#endif
