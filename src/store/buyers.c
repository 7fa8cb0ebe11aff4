/* SPDX-License-Identifier: Apache-2.0 */
/* store/buyers.c: who has bought an item, by user.
 *
 * DESIGN. An index of orders by user would cost every win a page somewhere else. So while a sale is on,
 * the orders of a user are found with one probe per item (reads.c). When it is over, the users of its
 * items are copied to buyer_items, in the order of its key and a few at a time; with the last of them
 * items.buyers_listed becomes 1, and the item is not probed any more. An order that is written to such
 * an item later (a dead letter that is retried, a place of the waitlist that is served) writes its row
 * in its own transaction; so does one of the item whose list is under way. That makes the rule:
 *   every order of an item with buyers_listed = 1 has its row in buyer_items.
 * Another connection can't know that a list is under way. So the list of an item is closed under its lock,
 * and only if as many orders of it were ever written as when the list began; else it begins again.
 * A row that has no order does no harm. How far the list of an item has come is kept in memory only:
 * after a crash it begins again, and finds most of its rows there. A sale that goes on after its end
 * (it was reopened, or prolonged) has its items probed again; their rows stay. */
#include "store/parts.h"

enum {
    BUYERS_PER_CALL = 128, /* each may be on a page of its own */
    ITEMS_PER_CALL = 64,   /* looked at */
};

const char store_buyers_tables[] =
    "CREATE TABLE buyer_items("
    "  user_id INTEGER NOT NULL, item INTEGER NOT NULL, PRIMARY KEY(user_id, item)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE INDEX items_unlisted ON items(id){buyers_listed, id} WHERE buyers_listed = 0;";

static const char buyer_insert[] =
    "INSERT INTO buyer_items(user_id, item) VALUES(?1, ?2) ON CONFLICT(user_id, item) DO NOTHING";

static_assert(GATE_ENDED == 3, "said in a number in the statements");

struct candidate {
    item_id item;
    bool is_over;
};
static const struct sql_columns candidate_columns =
    COLUMNS(candidate, FIELD(candidate, item), FIELD(candidate, is_over));

static enum status buyers_insert(struct store *store, item_id item, const uint64_t *users, uint32_t count)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        status = sql_do(store, buyer_insert, VALUES(U64(users[i]), U64(item)));
    return status;
}

/* How many orders of the item were ever written, as of now; on the lock of the item that stays so. */
static enum status orders_written(struct store *store, item_id item, uint64_t *orders)
{
    *orders = 0;
    if (!store_locks(store))
        return STATUS_OK;
    const enum status status = store_item_lock(store, item);
    return status != STATUS_OK
        ? status
        : sql_number(store, "SELECT coalesce(sum(orders), 0) FROM order_sums WHERE item = ?1",
            VALUES(U64(item)), orders);
}

/* All of them are listed. */
static enum status item_listed(struct store *store, item_id item, struct store_listing *at)
{
    uint64_t orders;
    const enum status status = orders_written(store, item, &orders);
    if (status != STATUS_OK)
        return status;
    const bool same = orders == at->orders;
    *at = (struct store_listing){ .item = same ? item + 1 : item };
    return same ? sql_do(store, "UPDATE items SET buyers_listed = 1 WHERE id = ?1", VALUES(U64(item)))
                : STATUS_OK;
}

/* Up to *left of its buyers, which become fewer. */
static enum status item_list(struct store *store, item_id item, struct store_listing *at, uint32_t *left)
{
    uint64_t users[BUYERS_PER_CALL];
    uint32_t count = 0;
    enum status status = STATUS_OK;
    if (!at->under_way || at->item != item) {
        *at = (struct store_listing){ .item = item, .under_way = true, .user = INT64_MIN };
        status = orders_written(store, item, &at->orders);
    }
    if (status == STATUS_OK)
        status = sql_rows(store,
            "SELECT DISTINCT user_id FROM orders WHERE item = ?1 AND lot = ?4 AND user_id >= ?2"
            " ORDER BY user_id LIMIT ?3",
            VALUES(U64(item), U64(at->user), U64(*left), U64(at->lot)), &sql_number_column,
            PAGE(users, *left, &count));
    if (status == STATUS_OK)
        status = buyers_insert(store, item, users, count);
    if (status != STATUS_OK)
        return status;
    if (count == *left && (int64_t)users[count - 1] != INT64_MAX) {
        at->user = (int64_t)users[count - 1] + 1;
        *left = 0;
        return STATUS_OK;
    }
    *left -= count == *left ? count : count + 1; /* an item without orders costs something, too */
    uint64_t last_lot = 0;
    status = sql_number(store, "SELECT last_lot FROM items WHERE id = ?1", VALUES(U64(item)), &last_lot);
    if (status != STATUS_OK || at->lot >= last_lot)
        return status == STATUS_OK ? item_listed(store, item, at) : status;
    at->lot++;
    at->user = INT64_MIN;
    return STATUS_OK;
}

static enum status list_once(struct store *store, uint64_t over_ms, bool *more)
{
    struct store_listing at = store->listing;
    struct candidate items[ITEMS_PER_CALL];
    uint32_t count, left = BUYERS_PER_CALL;
    enum status status = sql_rows(store,
        "SELECT items.id, CASE WHEN gate = 3 OR end_ms <= ?2 THEN 1 ELSE 0 END FROM items JOIN "
        "sales ON sales.id = items.sale"
        " WHERE buyers_listed = 0 AND items.id >= ?1 ORDER BY items.id LIMIT ?3",
        VALUES(U64(at.item), U64(over_ms), U64(ITEMS_PER_CALL)), &candidate_columns,
        PAGE(items, ITEMS_PER_CALL, &count));
    *more = status == STATUS_OK && count > 0;
    if (status == STATUS_OK)
        status = store_begin(store);
    for (uint32_t i = 0; i < count && left > 0 && status == STATUS_OK; i++) {
        if (!items[i].is_over) {
            at = (struct store_listing){ .item = items[i].item + 1 };
            continue;
        }
        do /* one lot after the other */
            status = item_list(store, items[i].item, &at, &left);
        while (status == STATUS_OK && left > 0 && at.under_way);
    }
    status = store_end(store, status);
    if (status == STATUS_OK)
        store->listing = *more ? at : (struct store_listing){ 0 };
    return status;
}

enum status store_buyers_list(struct order_store *handle, uint64_t over_ms, bool *more)
{
    struct store_tries tries = { 0 };
    enum status status;
    STORE_TRIES (store_of(handle), &tries, &status)
        status = list_once(store_of(handle), over_ms, more);
    return status;
}

enum status store_buyer_put(struct store_batch *batch, const struct stock_row *row, user_id user)
{
    const struct store_listing *listing = &batch->store->listing;
    const bool under_way = listing->under_way && listing->item == row->item;
    if (__builtin_expect(!row->buyers_listed && !under_way, 1))
        return STATUS_OK;
    return store_batch_do(batch, buyer_insert, VALUES(U64(user), U64(row->item)));
}

enum status store_buyers_unlist(struct store_batch *batch, sale_id sale, uint64_t now_ms)
{
    return store_batch_do(batch,
        "UPDATE items SET buyers_listed = 0 WHERE sale = ?1 AND buyers_listed = 1"
        " AND EXISTS(SELECT 1 FROM sales WHERE id = ?1 AND gate <> 3 AND end_ms > ?2)",
        VALUES(U64(sale), U64(now_ms)));
}

enum status store_buyers_check(struct order_store *handle, item_id *wrong)
{
    return store_wrong_item(handle, wrong,
        "SELECT items.id FROM items JOIN orders ON orders.item = +items.id"
        " WHERE buyers_listed = 1 AND items.sale NOT IN (SELECT sale FROM archives) AND NOT "
        "EXISTS(SELECT 1 FROM buyer_items"
        "  WHERE buyer_items.user_id = orders.user_id AND buyer_items.item = items.id) LIMIT 1");
}
