/* SPDX-License-Identifier: Apache-2.0 */
/* An older copy of the database beside the present log (contract/restore.h). Tables that count by
 * AUTOINCREMENT have a counter of the database; products, sales and items count by their rows, and have
 * a floor in memory, which is set at every start from what the file high-water has reserved. */
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
    " beacon_value, beacon_state, beacon_until_ms) VALUES(?1, ?4, ?2, ?3,"
    " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '', 0, 0)";
static const char item_make[] =
    "INSERT INTO items(id, sale, product, flash_price, limit_per_user, pay_window_ms, total,"
    " locked, sold, sold_before, written_off, safety, channel_0, channel_1, channel_2,"
    " channel_3, channel_4, channel_5, channel_6, channel_7, version, preheated,"
    " deduct_on_payment) VALUES(?1, ?2, ?4, ?3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,"
    " 0, 0, 0, 0, 0, 0, 1, 0, 0)";

static_assert(ORDER_PENDING == 1 && ORDER_PAID == 2 && ORDER_REFUNDED == 4 && USE_ORDER == 1
        && USE_RELINKED == 3,
    "said in numbers in the statements");

/* Tables whose numbers the database counts. */
static const char *const counters[] = { "bans", "bookings", "channel_reports", "dead_letters",
    "mails", "outbox", "part_refunds", "payments", "refunds", "remedy_cases", "remedy_notes",
    "safety_uses", "stock_events", "timetables", "waitlist" };

static int counted_find(const char *name)
{
    for (int i = 0; i < STORE_COUNTED; i++)
        if (strcmp(counted_names[i], name) == 0)
            return i;
    return -1;
}

struct sequence_list {
    struct store_sequence *list;
    uint32_t max, *count;
};

static enum status sequence_add(
    const struct sequence_list *to, const char *name, enum status status, uint64_t last)
{
    if (status == STATUS_OK && last > 0 && *to->count < to->max) {
        struct store_sequence *sequence = &to->list[(*to->count)++];
        snprintf(sequence->name, sizeof sequence->name, "%s", name);
        sequence->last = last;
    }
    return status;
}

static enum status sequences_read(
    struct order_store *handle, struct store_sequence *list, uint32_t max, uint32_t *count)
{
    struct store *store = store_of(handle);
    struct sql_connection *connection = store->connection;
    const struct sequence_list to = { list, max, count };
    enum status status = STATUS_OK;
    uint64_t last = 0;
    *count = 0;
    for (size_t i = 0; i < sizeof counters / sizeof *counters && status == STATUS_OK; i++) {
        status = connection->driver->counter(connection, counters[i], &last);
        status = sequence_add(&to, counters[i], status, last);
    }
    for (int i = 0; i < STORE_COUNTED && status == STATUS_OK; i++) {
        status = store_last_id(store, (enum store_counted)i, &last);
        status = sequence_add(&to, counted_names[i], status, last);
    }
    if (status == STATUS_OK) {
        status = sql_number(store, "SELECT entries FROM audit_head", NO_VALUES, &last);
        status = sequence_add(&to, "audit", status, last);
    }
    return status;
}

static enum status sequence_lift(struct order_store *handle, const struct store_sequence *sequence)
{
    struct store *store = store_of(handle);
    const int counted = counted_find(sequence->name);
    if (counted >= 0 && store->floors[counted] < sequence->last)
        store->floors[counted] = sequence->last;
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (strcmp(counters[i], sequence->name) == 0)
            return store->connection->driver->counter_lift(
                store->connection, counters[i], sequence->last);
    return counted >= 0 || strcmp(sequence->name, "audit") == 0 ? STATUS_OK : STATUS_NOT_FOUND;
}

static void recover_set(struct order_store *handle, bool on)
{
    store_of(handle)->recovering = on;
}

static enum status newest_ticket(struct order_store *handle, ticket_number *ticket)
{
    return sql_number(store_of(handle), "SELECT coalesce(max(ticket), 0) FROM orders", NO_VALUES, ticket);
}

static enum status orders_to_search(struct order_store *handle, ticket_number after,
    ticket_number newest, struct order *orders, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT " ORDER_COLUMNS
        " FROM orders WHERE ticket > ?1 AND (state = 1 OR ticket > ?2 OR (state IN"
        " (2, 4) AND NOT EXISTS(SELECT 1 FROM payments WHERE paid_ticket = orders.ticket AND"
        " used_for IN (1, 3)))) ORDER BY ticket LIMIT ?3",
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
    char title[64];
    snprintf(title, sizeof title, "Recovered sale %u", sale->sale);
    return store_batch_do(batch, sale_make,
        VALUES(U64(sale->sale), U64(sale->start_ms), U64(sale->end_ms), TEXT(title)));
}

enum status store_recover_room(struct store_batch *batch, sale_id sale)
{
    return store_batch_do(batch,
        "UPDATE sales SET waiting_room = 1 WHERE id = ?1 AND waiting_room = 0", VALUES(U64(sale)));
}

/* A record of an older version does not tell its currency: it is that of all other products, if they have one
 * in common. Money is never guessed: the code "no currency" is one that no provider takes. */
static enum status recover_currency(
    struct store *store, const struct command_preheat *preheat, char out[4])
{
    snprintf(out, 4, "%s", preheat->currency);
    if (out[0] != '\0')
        return STATUS_OK;
    const enum status status = sql_text(store,
        "SELECT min(currency) FROM products HAVING min(currency) = max(currency)", NO_VALUES, out, 4);
    if (status == STATUS_NOT_FOUND) { /* the code of ISO 4217 for no currency */
        memset(out, 'X', 3);
        out[3] = '\0';
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status store_recover_item(struct store_batch *batch, const struct command_preheat *preheat)
{
    struct store *store = batch->store;
    uint64_t product = 0;
    char currency[4], name[64];
    enum status status = recover_currency(store, preheat, currency);
    if (status == STATUS_OK)
        status = store_next_id(store, STORE_PRODUCTS, &product);
    if (status != STATUS_OK)
        return status;
    snprintf(name, sizeof name, "Recovered item %u", preheat->item);
    status = store_batch_do(batch,
        "INSERT INTO products(id, name, description, images, currency, list_price)"
        " VALUES(?1, ?2, '', '[]', ?3, ?4)",
        VALUES(U64(product), TEXT(name), TEXT(currency), U64(preheat->unit_price)));
    if (status != STATUS_OK)
        return status;
    return store_batch_do(batch, item_make,
        VALUES(U64(preheat->item), U64(preheat->sale), U64(preheat->unit_price), U64(product)));
}
