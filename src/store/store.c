/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, closing, and the transactions that every change takes. */
#include "store/store.h"

#include "base/clock.h"
#include "base/histogram.h"
#include "store/cluster.h"
#include "store/gather.h"
#include "store/limit_uses.h"
#include "store/lots.h"
#include "store/parts.h"
#include "store/restore.h"

#include <stdio.h>
#include <stdlib.h>

static const char part_name[] = "part";

static HISTOGRAM(transaction_times, "stampede_store_transaction_seconds",
    "From the begin of a transaction of the database to its commit.");

enum status store_next_due(struct store *store, const char *sql, uint64_t now_ms, uint64_t *next_ms)
{
    *next_ms = UINT64_MAX;
    const enum status status = sql_number(store, sql, VALUES(U64(now_ms)), next_ms);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static bool is_part(const struct store *store)
{
    return store->together || store->grouped;
}

bool store_is_alone(const struct store *store)
{
    return !store->begun && !is_part(store);
}

bool store_is_lost(const struct store *store)
{
    return is_part(store) && !store->connection->driver->is_open(store->connection);
}

enum status store_begin(struct store *store)
{
    struct sql_connection *connection = store->connection;
    const enum status status = store_group_enter(store);
    if (status != STATUS_OK)
        return status;
    if (!is_part(store)) {
        const enum status begun = connection->driver->begin(connection);
        store->begun = begun == STATUS_OK;
        store->begun_ns = clock_monotonic_ns();
        return begun;
    }
    return store_is_lost(store) ? STATUS_AWAY : connection->driver->part_begin(connection, part_name);
}

enum status store_commit(struct store *store)
{
    struct sql_connection *connection = store->connection;
    if (!is_part(store)) {
        const enum status kept = connection->driver->commit(connection);
        store->begun &= kept != STATUS_OK; /* else the caller rolls back */
        if (kept == STATUS_OK)
            histogram_note(&transaction_times, (clock_monotonic_ns() - store->begun_ns) / 1000);
        return kept;
    }
    return store_is_lost(store) ? STATUS_AWAY : connection->driver->part_keep(connection, part_name);
}

void store_rollback(struct store *store)
{
    struct sql_connection *connection = store->connection;
    if (is_part(store))
        connection->driver->part_drop(connection, part_name);
    else
        connection->driver->rollback(connection);
    store->begun = false;
}

const char *store_message(const struct store *store)
{
    return store->connection->driver->message(store->connection);
}

static void store_close(struct order_store *handle)
{
    if (handle == NULL)
        return;
    struct store *store = store_of(handle);
    store_look_close(store);
    store_gather_free(store);
    store_lots_close(store);
    store->connection->driver->close(store->connection);
    free(store);
}

struct sql_connection *store_connection(struct order_store *handle)
{
    return store_of(handle)->connection;
}

enum status store_wrong_item(struct order_store *handle, item_id *wrong, const char *sql)
{
    uint64_t item = 0;
    const enum status status = sql_number(store_of(handle), sql, NO_VALUES, &item);
    *wrong = (item_id)item;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status store_sums_check(struct order_store *handle, item_id *wrong)
{
    return store_wrong_item(handle, wrong,
        "WITH made AS (" SUMS_OF_ORDERS " WHERE item NOT IN " STORE_ITEMS_ARCHIVED
        " GROUP BY item, state, reason),"
        " kept AS (SELECT item, state, reason, orders, units, amount_high, amount_low FROM "
        "order_sums"
        "  WHERE (orders <> 0 OR units <> 0) AND item NOT IN " STORE_ITEMS_ARCHIVED ")"
        " SELECT item FROM (SELECT * FROM (SELECT * FROM made EXCEPT SELECT * FROM kept) AS missing"
        " UNION ALL SELECT * FROM (SELECT * FROM kept EXCEPT SELECT * FROM made) AS extra) AS wrong"
        " LIMIT 1");
}

static enum status store_whole_check(struct order_store *handle, char *what, size_t what_bytes)
{
    struct sql_connection *connection = store_of(handle)->connection;
    if (connection->driver->whole_check == NULL)
        return STATUS_OK;
    return connection->driver->whole_check(connection, what, what_bytes);
}

/* Another store of the same database, set up as this one is. */
static enum status store_beside(const struct store *store,
    enum status (*open)(const struct sql_connection *, struct sql_connection **),
    struct order_store **out)
{
    struct sql_connection *connection;
    *out = NULL;
    enum status status = open(store->connection, &connection);
    if (status != STATUS_OK)
        return status;
    status = store_make(connection, out);
    if (status != STATUS_OK) {
        connection->driver->close(connection);
        return status;
    }
    struct store *made = store_of(*out);
    connection->lots = store->connection->lots; /* the writer has the filters */
    memcpy(made->channel_names, store->channel_names, sizeof store->channel_names);
    memcpy(made->floors, store->floors, sizeof store->floors);
    made->recovering = store->recovering;
    made->outbox_on = store->outbox_on;
    return STATUS_OK;
}

static enum status store_reader_open(struct order_store *handle, struct order_store **reader)
{
    const struct store *store = store_of(handle);
    return store_beside(store, store->connection->driver->reader_open, reader);
}

static enum status store_writer_open(struct order_store *handle, struct order_store **writer)
{
    const struct store *store = store_of(handle);
    *writer = NULL;
    if (store->connection->driver->writer_open == NULL)
        return STATUS_OK;
    return store_beside(store, store->connection->driver->writer_open, writer);
}

static void store_patience(struct order_store *handle, uint32_t ms)
{
    struct sql_connection *connection = store_of(handle)->connection;
    if (connection->driver->patience != NULL)
        connection->driver->patience(connection, ms);
}

static enum status store_moment_begin(struct order_store *handle)
{
    struct sql_connection *connection = store_of(handle)->connection;
    return connection->driver->begin_view(connection);
}

static void store_moment_end(struct order_store *handle)
{
    struct sql_connection *connection = store_of(handle)->connection;
    connection->driver->rollback(connection); /* it only lets go */
}

static void store_interrupt(struct order_store *handle)
{
    struct sql_connection *connection = store_of(handle)->connection;
    connection->driver->interrupt(connection);
}

static const struct order_store_ops store_ops = {
    .payment = &store_payment_ops,
    .outbox = &store_outbox_ops,
    .waitlist = &store_waitlist_ops,
    .timetables = &store_timetable_ops,
    .bookings = &store_booking_ops,
    .reconcile = &store_reconcile_ops,
    .report = &store_report_ops,
    .fulfil = &store_fulfil_ops,
    .remedy = &store_remedy_ops,
    .bans = &store_bans_ops,
    .customers = &store_customer_ops,
    .restore = &store_restore_ops,
    .archive = &store_archive_ops,
    .admin = &store_admin_ops,
    .channels = &store_channel_ops,
    .cluster = &store_cluster_ops,
    .limits = &store_limit_ops,
    .close = store_close,
    .reader_open = store_reader_open,
    .writer_open = store_writer_open,
    .patience = store_patience,
    .moment_begin = store_moment_begin,
    .moment_end = store_moment_end,
    .interrupt = store_interrupt,
    .identity = store_identity,
    .identity_set = store_identity_set,
    .secret_check = store_secret_check,
    .secret_check_set = store_secret_check_set,
    .applied = store_applied,
    .group_begin = store_group_begin,
    .group_is_open = store_group_is_open,
    .group_end = store_group_end,
    .whole_check = store_whole_check,
    .sums_check = store_sums_check,
    .buyers_check = store_buyers_check,
    .apply = store_apply,
    .stock_events = store_stock_events,
    .orders_move = store_orders_move,
    .orders_due = store_orders_due,
    .order_by_ticket = store_order_by_ticket,
    .orders_list = store_orders_list,
    .buyers_list = store_buyers_list,
    .dead_letters = store_dead_letters,
    .dead_letter_get = store_dead_letter_get,
    .dead_letters_open = store_dead_letters_open,
    .dead_letter_decide = store_dead_letter_decide,
    .order_totals = store_order_totals,
    .live_units = store_live_units,
    .product_insert = store_product_insert,
    .product_update = store_product_update,
    .product_stock = store_product_stock,
    .product_get = store_product_get,
    .products = store_products,
    .sale_insert = store_sale_insert,
    .sale_insert_with_items = store_sale_insert_with_items,
    .sale_update = store_sale_update,
    .sale_beacon = store_sale_beacon,
    .sale_get = store_sale_get,
    .sales = store_sales,
    .sales_due = store_sales_due,
    .sales_tally = store_sales_tally,
    .item_insert = store_item_insert,
    .item_update = store_item_update,
    .item_offer = store_item_offer,
    .item_limits = store_item_limits,
    .item_draw = store_item_draw,
    .items_pooled = store_items_pooled,
    .item_remove = store_item_remove,
    .eligible_users = store_eligible_users,
    .item_get = store_item_get,
    .items = store_items,
    .audit_append = store_audit_append,
    .audit_list = store_audit_list,
    .audit_verify = store_audit_verify,
};

enum status store_make(struct sql_connection *connection, struct order_store **handle)
{
    struct store *store = calloc(1, sizeof *store);
    *handle = NULL;
    if (store == NULL)
        return STATUS_AWAY;
    store->store.ops = &store_ops;
    store->connection = connection;
    if (!store_lots_open(store)) {
        free(store);
        return STATUS_AWAY;
    }
    *handle = &store->store;
    return STATUS_OK;
}
