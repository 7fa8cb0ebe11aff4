/* SPDX-License-Identifier: Apache-2.0 */
/* store/lots.h: the orders of an item in lots of LOT_ORDERS, in the order in which they were written.
 *
 * DESIGN. Users are hashed, so a key of item and user has another place for each order: one changed page an
 * order, as soon as an item has more orders than a batch finds pages. On SQLite that page costs more than all
 * the rest (docs/performance.md). So the unique key of orders is (item, lot, user, slot) there: new orders
 * change the few pages of the newest lot only, whatever the item has sold before.
 *   within a lot         the database itself refuses a second live order of a user
 *   in the lots before   are looked at before each insert: a filter in memory tells which lots may have the
 *                        user (it never misses one), and only these are asked
 * A filter is always made from what the database has of its lot, and gets each order that is written to the
 * lot from then on; lots that no filter knows are asked. A user too many in it (of a transaction that was
 * rolled back, or of an order that is over) only costs a question.
 * items.last_lot is the newest; a lot below it may be empty. Statements that look for orders of a user and an
 * item ask each lot: ORDERS_BY_LOT. Other databases have the key (item, user, slot), and one lot.
 *
 * Thread: the store's. Memory: filters of LOT_ITEMS_MAX items and LOT_FILTERS_BYTES_MAX at most. An item that
 * needs room gets it from one that nobody has bought for LOTS_KEPT lots of orders; without it, its lots are
 * asked. */
#ifndef STAMPEDE_STORE_LOTS_H
#define STAMPEDE_STORE_LOTS_H

#include "store/parts.h"

enum {
    LOT_ORDERS = 65536,
    LOTS_MAX = 1024, /* the last one takes all orders that come after it */
    LOT_ITEMS_MAX = 16,
    LOTS_KEPT = 4,
    LOTS_LEARNED = 8, /* at most, in one batch of an item: after a start, or when it has got room */
    LOT_FILTERS_BYTES_MAX = 64 << 20,
};

/* What a statement says after FROM to find orders of items and a user, with the first of its conditions.
 * Items come first, then their lots, then a probe of each. Without the "+" SQLite would use
 * "lot <= last_lot" for orders, too, and walk over all of them. */
#define ORDERS_BY_LOT(orders, name) \
    "items CROSS JOIN lot_numbers CROSS JOIN " orders " WHERE lot_numbers.lot <= items.last_lot" \
    " AND " name ".item = items.id AND " name ".lot = +lot_numbers.lot"

/* The lot that the batch writes orders of this item to; the item's row knows it afterwards. */
MUST_CHECK enum status store_lot_take(struct store_batch *, struct stock_row *);
/* Whether an earlier lot has a live order of the user with slot 0. */
MUST_CHECK enum status store_lots_find(struct store_batch *, struct stock_row *, user_id, bool *found);
/* An order of this user was written to the lot. */
void store_lots_add(struct store *, const struct stock_row *, user_id);
/* Into new tables: the numbers that lots may have. */
MUST_CHECK enum status store_lot_numbers(struct sql_connection *);
/* False: no memory. The store's connection has its filter from then on. */
MUST_CHECK bool store_lots_open(struct store *);
void store_lots_close(struct store *);

/* The rows of lot_numbers. */
#define STORE_LOT_NUMBERS_FEW \
    "INSERT INTO lot_numbers(lot) VALUES(0), (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)," \
    " (11), (12), (13), (14), (15), (16), (17), (18), (19), (20), (21), (22), (23), (24), (25)," \
    " (26), (27), (28), (29), (30), (31)"
#define STORE_LOT_NUMBERS_REST \
    "INSERT INTO lot_numbers(lot) SELECT 32 * a.lot + b.lot" \
    " FROM lot_numbers a CROSS JOIN lot_numbers b WHERE a.lot > 0"
extern const char store_lots_tables[];

#endif
