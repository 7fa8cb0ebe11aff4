/* SPDX-License-Identifier: Apache-2.0 */
/* store/stock.h: the items that one batch touches, and what it does to their stock and to the sums of
 * their orders. A row is read once per batch, in the batch's transaction; every change goes to the copy;
 * store_stock_flush writes each item with one update that checks the version it was read at, and each sum
 * that has changed. */
#ifndef STAMPEDE_STORE_STOCK_H
#define STAMPEDE_STORE_STOCK_H

#include "contract/order_store.h"

enum {
    STOCK_SLOTS = 2 * ORDER_BATCH_MAX,
    STOCK_FEW = 32, /* are cleared one by one */
};
static_assert((STOCK_SLOTS & (STOCK_SLOTS - 1)) == 0, "index uses a mask");

struct stock_units {
    int64_t total, locked, sold, written_off, safety;
    int64_t channel[CHANNELS_MAX];
};
/* Orders of one state and, if that is closed, one reason. */
struct order_sum {
    int64_t orders, units;
    int64_t amount_high, amount_low; /* Σ of the amounts' halves: a sum of them may need more than 63 bits */
};
enum { ORDER_SUMS = ORDER_STATES * ORDER_REASONS };
struct stock_row {
    item_id item;
    sale_id sale;
    uint32_t product;
    struct item_limits limits;
    uint32_t limit_per_user; /* of the item, as in the log */
    uint32_t sale_limit;     /* of the sale, as in the log */
    uint64_t flash_price;
    uint64_t version;
    bool preheated;
    bool buyers_listed;   /* who buys it is written to their list (buyers.c) */
    bool lot_taken;       /* `lot` is the one that the batch writes to (lots.h) */
    uint8_t lots_learned; /* by the batch */
    uint32_t lot;
    uint64_t orders_written; /* ever, before the batch */
    struct stock_units before, now;
    bool summed;                       /* something was added to these: */
    struct order_sum sums[ORDER_SUMS]; /* what the batch adds, by state and reason */
};
struct stock {
    uint32_t count;
    struct stock_row *last;      /* most batches are about one item */
    uint16_t slots[STOCK_SLOTS]; /* row index + 1; 0: free */
    struct stock_row rows[ORDER_BATCH_MAX];
};

/* What the parts of a group have come to: written once, when the group ends. A part that is dropped has
 * changed nothing here. A request of an administrator may be dropped after its part was kept. */
struct group_stock {
    struct stock kept;
    uint32_t undo_count;
    struct stock_row undo[ORDER_MOVES_MAX]; /* rows of `kept` before the request, the last change last */
};

struct store;
struct store_batch;
void store_stock_clear(struct stock *);
/* REFUSAL_UNKNOWN when there is no such item. Valid until the next clear or flush. */
MUST_CHECK enum status store_stock_row(struct store_batch *, item_id, struct stock_row **);
/* REFUSAL_STOCK when fewer are left; then nothing is changed. */
MUST_CHECK enum status store_stock_take(struct store_batch *, struct stock_row *, uint32_t quantity);
/* Adds to (or takes from) the units that belong to a channel or to the safety stock; for the record
 * only. */
void store_stock_allot(struct stock_row *, channel_index, int64_t units);
/* An order of this state and reason is there (1), or is not any more (-1). */
void store_sum_add(struct stock_row *, enum order_state, enum order_reason, uint32_t quantity,
    uint64_t amount, int64_t sign);
/* Writes every changed item and forgets all rows. REFUSAL_STOCK when a version moved. */
MUST_CHECK enum status store_stock_flush(struct store_batch *);

/* In a group. The part is kept: its rows go to the group's. */
void store_stock_keep(struct store *);
/* A request begins; it is dropped: what was kept since then is taken back. */
void store_stock_mark(struct store *);
void store_stock_back(struct store *);
/* Writes what the group has come to: at its end, and before somebody else writes items in it. Never within a
 * request, which may be dropped. */
MUST_CHECK enum status store_stock_settle(struct store *);

#endif
