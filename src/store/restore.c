/* SPDX-License-Identifier: Apache-2.0 */
/* An older copy of the database beside the present log (contract/restore.h). Tables that count by
 * AUTOINCREMENT keep their last number in sqlite_sequence; products, sales and items count by their
 * rows, and have a floor in memory, which is set at every start. */
#include "store/restore.h"

#include <stdio.h>

static const char *const counted_names[] = {
    [STORE_PRODUCTS] = "products",
    [STORE_SALES] = "sales",
    [STORE_ITEMS] = "items",
};
static_assert(sizeof counted_names / sizeof *counted_names == STORE_COUNTED, "a name for each");

static const char sale_make[] =
    "INSERT INTO sales(id, title, start_ms, end_ms, limit_per_user, eligible_only, published,"
    " preheat_at_ms, gate, gate_before, logged_limit, one_open_order, details_required,"
    " human_check, waiting_room, pass_once, drop_percent, pace_per_s, beacon_name,"
    " beacon_value, beacon_state, beacon_until_ms) VALUES(?1, 'Recovered sale ' || ?1, ?2, ?3,"
    " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '', 0, 0)";
static const char item_make[] =
    "INSERT INTO items(id, sale, product, flash_price, limit_per_user, pay_window_ms, total,"
    " locked, sold, sold_before, written_off, safety, channel_0, channel_1, channel_2,"
    " channel_3, channel_4, channel_5, channel_6, channel_7, version, preheated,"
    " deduct_on_payment) VALUES(?1, ?2, last_insert_rowid(), ?3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,"
    " 0, 0, 0, 0, 0, 0, 1, 0, 0)";

static_assert(ORDER_PENDING == 1 && ORDER_PAID == 2 && ORDER_REFUNDED == 4 && USE_ORDER == 1
        && USE_RELINKED == 3,
    "said in numbers in the statements");

static int counted_find(const char *name)
{
    for (int i = 0; i < STORE_COUNTED; i++)
        if (strcmp(counted_names[i], name) == 0)
            return i;
    return -1;
}

static const struct sql_columns sequence_columns =
    COLUMNS(store_sequence, FIELD(store_sequence, name), FIELD(store_sequence, last));

static enum status sequences_read(
    struct order_store *handle, struct store_sequence *list, uint32_t max, uint32_t *count)
{
    struct store *store = store_of(handle);
    const enum status status = sql_rows(store,
        "SELECT name, seq FROM sqlite_sequence"
        " UNION ALL SELECT 'products', ifnull(max(id), 0) FROM products"
        " UNION ALL SELECT 'sales', ifnull(max(id), 0) FROM sales"
        " UNION ALL SELECT 'items', ifnull(max(id), 0) FROM items"
        " UNION ALL SELECT 'audit', entries FROM audit_head ORDER BY 1 LIMIT ?1",
        VALUES(U64(max)), &sequence_columns, PAGE(list, max, count));
    for (uint32_t i = 0; i < *count; i++) {
        const int counted = counted_find(list[i].name);
        if (counted >= 0 && store->floors[counted] > list[i].last)
            list[i].last = store->floors[counted];
    }
    return status;
}

static enum status sequence_run(struct store *store, const char *sql, const struct store_sequence *sequence)
{
    return sql_do_one(store, sql, VALUES(TEXT(sequence->name), U64(sequence->last)), STATUS_NOT_FOUND);
}

static enum status sequence_lift(struct order_store *handle, const struct store_sequence *sequence)
{
    struct store *store = store_of(handle);
    const int counted = counted_find(sequence->name);
    if (strcmp(sequence->name, "audit") == 0)
        return STATUS_OK;
    if (counted >= 0) {
        if (store->floors[counted] < sequence->last)
            store->floors[counted] = sequence->last;
        return STATUS_OK;
    }
    const enum status status =
        sequence_run(store, "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1", sequence);
    if (status != STATUS_NOT_FOUND)
        return status;
    return sequence_run(store,
        "INSERT INTO sqlite_sequence(name, seq) SELECT ?1, ?2 WHERE EXISTS"
        "(SELECT 1 FROM sqlite_schema WHERE name = ?1 AND type = 'table' AND sql LIKE "
        "'%AUTOINCREMENT%')",
        sequence);
}

static void recover_set(struct order_store *handle, bool on)
{
    store_of(handle)->recovering = on;
}

static enum status newest_ticket(struct order_store *handle, ticket_number *ticket)
{
    return sql_number(store_of(handle), "SELECT ifnull(max(ticket), 0) FROM orders", NO_VALUES, ticket);
}

static enum status orders_to_search(struct order_store *handle, ticket_number after,
    ticket_number newest, struct order *orders, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT " ORDER_COLUMNS
        " FROM orders WHERE ticket > ?1 AND (state = 1 OR ticket > ?2 OR (state IN"
        " (2, 4) AND NOT EXISTS(SELECT 1 FROM payments WHERE paid_ticket = orders.ticket AND"
        " use IN (1, 3)))) ORDER BY ticket LIMIT ?3",
        VALUES(U64(after), U64(newest), U64(max)), &store_order_columns, PAGE(orders, max, count));
}

const struct restore_store_ops store_restore_ops = {
    .sequences = sequences_read,
    .raise = sequence_lift,
    .recover = recover_set,
    .orders = orders_to_search,
    .newest = newest_ticket,
};

/* ---- parts of a batch ---- */

enum status store_recover_sale(struct store_batch *batch, const struct command_sale *sale)
{
    return store_batch_do(
        batch, sale_make, VALUES(U64(sale->sale), U64(sale->start_ms), U64(sale->end_ms)));
}

enum status store_recover_room(struct store_batch *batch, sale_id sale)
{
    return store_batch_do(batch,
        "UPDATE sales SET waiting_room = 1 WHERE id = ?1 AND waiting_room = 0", VALUES(U64(sale)));
}

/* A record of an older version does not tell its currency. Money is never guessed: three X are "no
 * currency", and no provider takes it. */
enum status store_recover_item(struct store_batch *batch, const struct command_preheat *preheat)
{
    const enum status status = store_batch_do(batch,
        "INSERT INTO products(id, name, description, images, currency, list_price)"
        " VALUES((SELECT max(ifnull(max(id), 0), ?4) + 1 FROM products), 'Recovered item ' || ?1,"
        " '', '[]', iif(?2 <> '', ?2, ifnull((SELECT min(currency) FROM products"
        " HAVING min(currency) = max(currency)), 'XX' || 'X')), ?3)",
        VALUES(U64(preheat->item), TEXT(preheat->currency), U64(preheat->unit_price),
            U64(batch->store->floors[STORE_PRODUCTS])));
    if (status != STATUS_OK)
        return status;
    return store_batch_do(
        batch, item_make, VALUES(U64(preheat->item), U64(preheat->sale), U64(preheat->unit_price)));
}
