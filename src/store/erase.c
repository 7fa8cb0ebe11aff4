/* SPDX-License-Identifier: Apache-2.0 */
/* store/erase.c: what names customers to people is erased, on request or by age (contract/archive.h). */
#include "store/archive.h"
#include "store/lots.h"
#include "store/parts.h"

enum { NAMES_PER_PART = 32, ROWS_PER_PART = 256 };

enum status store_archive_erase(struct order_store *handle, user_id user, uint64_t *rows)
{
    struct store *store = store_of(handle);
    enum status status = store_begin(store);
    *rows = 0;
    if (status != STATUS_OK)
        return status;
    /* There is no index of orders by user; items tell where to look (docs/store.md). */
    status = sql_do(store,
        "DELETE FROM order_details WHERE ticket IN (SELECT orders.ticket FROM " ORDERS_BY_LOT(
            "orders", "orders") " AND orders.user_id = ?1)",
        VALUES(U64(user)));
    *rows += status == STATUS_OK ? sql_matched(store) : 0;
    if (status == STATUS_OK) /* their addresses */
        status = sql_do(store,
            "DELETE FROM mails WHERE ticket IN (SELECT orders.ticket FROM " ORDERS_BY_LOT(
                "orders", "orders") " AND orders.user_id = ?1)",
            VALUES(U64(user)));
    *rows += status == STATUS_OK ? sql_matched(store) : 0;
    if (status == STATUS_OK)
        status = sql_do(store, "DELETE FROM customers WHERE user_id = ?1", VALUES(U64(user)));
    *rows += status == STATUS_OK ? sql_matched(store) : 0;
    return store_end(store, status);
}

struct looked_at {
    uint64_t id, time_ms;
    uint32_t state;
};
static const struct sql_columns looked_at_columns =
    COLUMNS(looked_at, FIELD(looked_at, id), FIELD(looked_at, time_ms), FIELD(looked_at, state));

static enum status details_erase(
    struct store *store, uint64_t before_ms, struct erase_cursor *cursor, uint64_t *rows)
{
    struct looked_at orders[ROWS_PER_PART];
    uint32_t count = 0;
    enum status status = sql_rows(store,
        "SELECT order_details.ticket, orders.created_ms, orders.state FROM order_details JOIN "
        "orders"
        " ON orders.ticket = order_details.ticket WHERE order_details.ticket > ?1"
        " ORDER BY order_details.ticket LIMIT ?2",
        VALUES(U64(cursor->ticket), U64(ROWS_PER_PART)), &looked_at_columns,
        PAGE(orders, ROWS_PER_PART, &count));
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        cursor->ticket = orders[i].id;
        if (orders[i].time_ms >= before_ms || orders[i].state == ORDER_PENDING)
            continue;
        status =
            sql_do(store, "DELETE FROM order_details WHERE ticket = ?1", VALUES(U64(orders[i].id)));
        ++*rows;
    }
    cursor->details_done = count < ROWS_PER_PART;
    return status;
}

/* Or a booking that will become one. Orders of a user are found by lists of buyers; of a sale that is
 * on, by looking (docs/store.md). */
static enum status user_has_orders(struct store *store, uint64_t user, bool *has)
{
    const enum status status = sql_found(
        store, "SELECT 1 FROM buyer_items WHERE user_id = ?1 LIMIT 1", VALUES(U64(user)), has);
    if (status != STATUS_OK || *has)
        return status;
    const enum status booked = sql_found(store,
        "SELECT 1 FROM items JOIN bookings ON bookings.item = items.id AND bookings.user_id = ?1"
        " WHERE items.booked > 0 AND bookings.state < 3 LIMIT 1",
        VALUES(U64(user)), has);
    if (booked != STATUS_OK || *has)
        return booked;
    return sql_found(store,
        "SELECT 1 FROM " ORDERS_BY_LOT(
            "orders", "orders") " AND orders.user_id = ?1 AND items.buyers_listed = 0 LIMIT 1",
        VALUES(U64(user)), has);
}

static enum status names_erase(
    struct store *store, uint64_t before_ms, struct erase_cursor *cursor, uint64_t *rows)
{
    struct looked_at users[NAMES_PER_PART];
    uint32_t count = 0;
    enum status status = sql_rows(store,
        "SELECT user_id, first_ms, 0 FROM customers WHERE user_id > ?1 ORDER BY user_id LIMIT ?2",
        VALUES(U64(cursor->user_begun ? cursor->user : (uint64_t)INT64_MIN), U64(NAMES_PER_PART)),
        &looked_at_columns, PAGE(users, NAMES_PER_PART, &count));
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        bool has = false;
        cursor->user = users[i].id;
        cursor->user_begun = true;
        if (users[i].time_ms >= before_ms)
            continue;
        status = user_has_orders(store, users[i].id, &has);
        if (status != STATUS_OK || has)
            continue;
        status = sql_do(store, "DELETE FROM customers WHERE user_id = ?1", VALUES(U64(users[i].id)));
        ++*rows;
    }
    cursor->ended = count < NAMES_PER_PART;
    return status;
}

enum status store_archive_erase_older(
    struct order_store *handle, uint64_t before_ms, struct erase_cursor *cursor, uint64_t *rows)
{
    struct store *store = store_of(handle);
    *rows = 0;
    enum status status = store_begin(store);
    if (status != STATUS_OK)
        return status;
    status = cursor->details_done ? names_erase(store, before_ms, cursor, rows)
                                  : details_erase(store, before_ms, cursor, rows);
    return store_end(store, status);
}
