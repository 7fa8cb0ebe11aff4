/* SPDX-License-Identifier: Apache-2.0 */
/* store/archive.c: sales that were archived, and what leaves the tables with them (contract/archive.h).
 * Rows go in small parts, each in a transaction of its own: an order goes together with its payments,
 * refunds and all else that hangs on it, so that money and accounting add up after each part. */
#include "store/archive.h"
#include "contract/cluster_store.h"
#include "contract/ticket_number.h"
#include "store/parts.h"

#include <stdio.h>

enum { ORDERS_PER_PART = 32, ROWS_PER_PART = 256, ENTRIES_PER_PART = 16 };
#define PARTS_OF(sale) VALUES(U64(part_of_sale(sale, 0)), U64(part_of_sale(sale, SHARDS_MAX - 1)))

const char store_archive_tables[] =
    "CREATE TABLE archives("
    "  sale INTEGER PRIMARY KEY CHECK(sale BETWEEN 0 AND 16383)," /* 0: numbers that no ticket has */
    "  step INTEGER NOT NULL,"
    "  orders INTEGER NOT NULL, bytes INTEGER NOT NULL,"
    "  made_ms INTEGER NOT NULL, hash BLOB NOT NULL"
    ") STRICT;"
    "CREATE TABLE archive_wishes("
    "  sale INTEGER PRIMARY KEY CHECK(sale BETWEEN 1 AND 16383),"
    "  asked INTEGER NOT NULL CHECK(asked IN (0, 1)), tries INTEGER NOT NULL,"
    "  due_ms INTEGER NOT NULL, why TEXT NOT NULL"
    ") STRICT;";

enum status store_archive_skip(struct store_batch *batch, const struct queue_record *record)
{
    static const uint8_t nothing[HASH_SHA256_BYTES];
    return sql_do(batch->store,
        "INSERT INTO archives(sale, step, orders, bytes, made_ms, hash) VALUES(0, ?1, ?2, 0, ?3, "
        "?4)"
        " ON CONFLICT(sale) DO UPDATE SET orders = archives.orders + excluded.orders",
        VALUES(U64(ARCHIVE_DONE), U64((uint64_t)record->outcome.applied),
            U64(record->command.time_ms), BLOB(nothing, sizeof nothing)));
}

static enum status hash_take(struct sql_row *row, void *out)
{
    struct archive *archive = out;
    return column_blob(row, 5, archive->hash, sizeof archive->hash) == sizeof archive->hash
        ? STATUS_OK
        : STATUS_CORRUPT;
}

static const struct sql_columns archive_columns = COLUMNS_ALSO(archive, hash_take, FIELD(archive, sale),
    FIELD(archive, step), FIELD(archive, orders), FIELD(archive, bytes), FIELD(archive, made_ms));

static enum status archive_list(struct order_store *handle, sale_id from, struct archive *archives,
    uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT sale, step, orders, bytes, made_ms, hash FROM archives WHERE sale >= ?1 ORDER BY "
        "sale "
        "LIMIT ?2",
        VALUES(U64(from), U64(max)), &archive_columns, PAGE(archives, max, count));
}

static enum status archive_unfinished(struct order_store *handle, struct archive *archive)
{
    return sql_one(store_of(handle),
        "SELECT sale, step, orders, bytes, made_ms, hash FROM archives WHERE step < ?1"
        " ORDER BY sale LIMIT 1",
        VALUES(U64(ARCHIVE_DONE)), &archive_columns, archive);
}

enum status store_item_left(struct store *store, item_id item, bool *left)
{
    return sql_found(store,
        "SELECT 1 FROM items JOIN archives ON archives.sale = items.sale WHERE items.id = ?1",
        VALUES(U64(item)), left);
}

static enum status archive_holds(struct order_store *handle, item_id item, bool *holds)
{
    if (item == 0)
        return sql_found(store_of(handle), "SELECT 1 FROM archives LIMIT 1", NO_VALUES, holds);
    return store_item_left(store_of(handle), item, holds);
}

/* Many machines: where its logs end. Sales that came with a shop from one machine share one log. */
static enum status log_look(struct store *store, sale_id sale, struct archive_look *look)
{
    bool shared = false;
    const enum status status = sql_found(
        store, "SELECT 1 FROM parts WHERE part = 0 AND sales >= ?1", VALUES(U64(sale)), &shared);
    if (shared && look->why[0] == 0)
        snprintf(look->why, sizeof look->why, "its log is shared with other sales that were moved here");
    return status != STATUS_OK
        ? status
        : sql_number(store, "SELECT coalesce(sum(seq), 0) FROM parts WHERE part BETWEEN ?1 AND ?2",
            PARTS_OF(sale), &look->positions);
}

static enum status archive_look(struct order_store *handle, sale_id sale, struct archive_look *look)
{
    static const struct {
        const char *sql, *what;
    } open[] = {
        { "SELECT 1 FROM orders JOIN items ON items.id = orders.item WHERE items.sale = ?1 AND"
          " orders.state = 1 LIMIT 1",
            "orders wait for money" },
        { "SELECT 1 FROM payments JOIN orders ON orders.ticket = payments.ticket JOIN items ON "
          "items.id ="
          " orders.item WHERE items.sale = ?1 AND (payments.state < 4 OR payments.used_for = 2) "
          "LIMIT 1",
            "payments are under way" },
        { "SELECT 1 FROM refunds JOIN orders ON orders.ticket = refunds.ticket JOIN items ON "
          "items.id ="
          " orders.item WHERE items.sale = ?1 AND refunds.state <> 2 LIMIT 1",
            "refunds are under way" },
        { "SELECT 1 FROM part_refunds JOIN orders ON orders.ticket = part_refunds.ticket JOIN "
          "items ON"
          " items.id = orders.item WHERE items.sale = ?1 AND part_refunds.state <> 2 LIMIT 1",
            "refunds of parts are under way" },
        { "SELECT 1 FROM remedy_cases JOIN items ON items.id = remedy_cases.item WHERE items.sale "
          "= ?1"
          " AND remedy_cases.state = 1 LIMIT 1",
            "cases of customers are open" },
        { "SELECT 1 FROM bookings JOIN items ON items.id = bookings.item WHERE items.sale = ?1 AND"
          " bookings.state < 3 LIMIT 1",
            "bookings wait for units" },
        { "SELECT 1 FROM bookings JOIN orders ON orders.ticket = bookings.deposit JOIN items ON"
          " items.id = orders.item WHERE bookings.state < 3 AND items.sale = ?1 LIMIT 1",
            "deposits of bookings that wait for units" },
        { "SELECT 1 FROM stock_events JOIN orders ON orders.ticket = stock_events.ticket JOIN "
          "items ON"
          " items.id = orders.item WHERE items.sale = ?1 AND stock_events.confirmed_lsn IS NULL "
          "LIMIT 1",
            "units are on their way back" },
        { "SELECT 1 FROM outbox JOIN orders ON orders.ticket = outbox.ticket JOIN items ON "
          "items.id ="
          " orders.item WHERE items.sale = ?1 AND outbox.state = 1 LIMIT 1",
            "messages to the shop are not delivered" },
        { "SELECT 1 FROM dead_letters WHERE state = 1 AND ?1 > 0 LIMIT 1", "dead letters are open" },
        { "SELECT 1 FROM dead_letters JOIN items ON items.id = dead_letters.item WHERE items.sale "
          "= ?1 AND"
          " dead_letters.state = 4 AND dead_letters.record_type = 7 LIMIT 1",
            "units of a dismissed dead letter are held" },
    };
    struct store *store = store_of(handle);
    *look = (struct archive_look){ 0 };
    for (size_t i = 0; i < sizeof open / sizeof *open; i++) {
        bool found = false;
        const enum status status = sql_found(store, open[i].sql, VALUES(U64(sale)), &found);
        if (status != STATUS_OK)
            return status;
        if (found && look->why[0] == 0)
            snprintf(look->why, sizeof look->why, "%s", open[i].what);
    }
    uint64_t numbers[2] = { 0 };
    enum status status = log_look(store, sale, look);
    if (status != STATUS_OK)
        return status;
    status = sql_numbers(store,
        "SELECT count(*), coalesce(sum(orders.version), 0) FROM orders JOIN items ON items.id = "
        "orders.item"
        " WHERE items.sale = ?1",
        VALUES(U64(sale)), numbers, 2);
    look->orders = numbers[0];
    look->versions = numbers[1];
    return status;
}

/* The bundle has what is in the database now. The sale's row is locked: one process at a time. */
static enum status begin_check(struct order_store *handle, sale_id sale,
    const struct archive_look *made, struct archive_look *now)
{
    struct store *store = store_of(handle);
    bool there = false;
    enum status status = sql_do_one(
        store, "UPDATE sales SET archived = 1 WHERE id = ?1", VALUES(U64(sale)), STATUS_NOT_FOUND);
    if (status == STATUS_OK)
        status = sql_found(store, "SELECT 1 FROM archives WHERE sale = ?1", VALUES(U64(sale)), &there);
    if (status == STATUS_OK && there)
        status = STATUS_CONFLICT;
    if (status == STATUS_OK)
        status = archive_look(handle, sale, now);
    if (status != STATUS_OK)
        return status;
    if (now->why[0] == 0
        && (now->orders != made->orders || now->versions != made->versions
            || now->positions != made->positions))
        snprintf(now->why, sizeof now->why, "orders have changed since the bundle was made");
    return now->why[0] == 0 ? STATUS_OK : STATUS_REFUSED;
}

static enum status archive_begin(struct order_store *handle, const struct archive *archive,
    const struct archive_look *made, struct archive_look *now)
{
    struct store *store = store_of(handle);
    *now = (struct archive_look){ 0 };
    enum status status = store_begin(store);
    if (status != STATUS_OK)
        return status;
    status = begin_check(handle, archive->sale, made, now);
    if (status == STATUS_OK)
        status = sql_do(store,
            "INSERT INTO archives(sale, step, orders, bytes, made_ms, hash)"
            " VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
            VALUES(U64(archive->sale), U64(ARCHIVE_REMOVING), U64(archive->orders), U64(archive->bytes),
                U64(archive->made_ms), BLOB(archive->hash, sizeof archive->hash)));
    if (status == STATUS_OK)
        status =
            sql_do(store, "DELETE FROM archive_wishes WHERE sale = ?1", VALUES(U64(archive->sale)));
    return store_end(store, status);
}

static enum status archive_step(struct order_store *handle, sale_id sale, enum archive_step step)
{
    return sql_do_one(store_of(handle), "UPDATE archives SET step = ?2 WHERE sale = ?1 AND step <= ?2",
        VALUES(U64(sale), U64(step)), STATUS_NOT_FOUND);
}

/* ---- removing ---- */

struct leaving {
    ticket_number ticket;
    user_id user;
    uint32_t item;
};
static const struct sql_columns leaving_columns =
    COLUMNS(leaving, FIELD(leaving, ticket), FIELD(leaving, user), FIELD(leaving, item));

static const char mails_remove[] = "DELETE FROM mails WHERE ticket = ?1 AND case_id IN"
                                   " (SELECT case_id FROM remedy_orders WHERE ticket = ?1)";

static enum status order_remove(struct store *store, const struct leaving *order, sale_id sale)
{
    static const char *const of_ticket[] = {
        "DELETE FROM refunds WHERE payment IN (SELECT id FROM payments WHERE ticket = ?1)",
        "DELETE FROM part_refunds WHERE payment IN (SELECT id FROM payments WHERE ticket = ?1)",
        "DELETE FROM payments WHERE ticket = ?1",
        "DELETE FROM order_details WHERE ticket = ?1",
        "DELETE FROM shipments WHERE ticket = ?1",
        mails_remove,
        "DELETE FROM outbox WHERE ticket = ?1",
        "DELETE FROM stock_events WHERE ticket = ?1",
        "DELETE FROM orders WHERE ticket = ?1",
    };
    bool open = false;
    enum status status = sql_found(store,
        "SELECT 1 FROM payments JOIN refunds ON refunds.payment = payments.id"
        " WHERE payments.ticket = ?1 AND refunds.state <> 2",
        VALUES(U64(order->ticket)), &open);
    if (status == STATUS_OK && open) /* asked for by another process while the sale was being marked */
        return STATUS_BUSY;
    for (size_t i = 0; i < sizeof of_ticket / sizeof *of_ticket && status == STATUS_OK; i++)
        status = sql_do(store, of_ticket[i], VALUES(U64(order->ticket)));
    if (status == STATUS_OK)
        status = sql_do(store, "DELETE FROM buyer_items WHERE user_id = ?1 AND item = ?2",
            VALUES(U64(order->user), U64(order->item)));
    if (status == STATUS_OK)
        status = sql_do(store, "DELETE FROM user_counters WHERE user_id = ?1 AND scope IN (?2, ?3)",
            VALUES(U64(order->user), U64(order->item), U64((UINT64_C(1) << 32) + sale)));
    return status;
}

static enum status orders_remove(struct store *store, sale_id sale, uint32_t *removed)
{
    struct leaving orders[ORDERS_PER_PART];
    enum status status = sql_rows(store,
        "SELECT orders.ticket, orders.user_id, orders.item FROM items JOIN orders ON orders.item = "
        "items.id"
        " WHERE items.sale = ?1 LIMIT ?2",
        VALUES(U64(sale), U64(ORDERS_PER_PART)), &leaving_columns,
        PAGE(orders, ORDERS_PER_PART, removed));
    for (uint32_t i = 0; i < *removed && status == STATUS_OK; i++)
        status = order_remove(store, &orders[i], sale);
    return status;
}

/* What hangs on items and the sale, up to the last of the first ROWS_PER_PART rows of each. */
static enum status others_remove(struct store *store, sale_id sale, uint32_t *removed)
{
    static const struct {
        const char *find, *remove;
    } others[] = {
        { "SELECT max(id) FROM (SELECT waitlist.id FROM waitlist JOIN items ON items.id = "
          "waitlist.item"
          " WHERE items.sale = ?1 ORDER BY waitlist.id LIMIT ?2) AS part",
            "DELETE FROM waitlist WHERE id <= ?2 AND item IN (SELECT id FROM items WHERE sale = "
            "?1)" },
        { "SELECT max(id) FROM (SELECT bookings.id FROM bookings JOIN items ON items.id = "
          "bookings.item"
          " WHERE items.sale = ?1 ORDER BY bookings.id LIMIT ?2) AS part",
            "DELETE FROM bookings WHERE id <= ?2 AND item IN (SELECT id FROM items WHERE sale = "
            "?1)" },
        { "SELECT max(user_id) FROM (SELECT user_id FROM eligible_users WHERE sale = ?1 ORDER BY "
          "user_id"
          " LIMIT ?2) AS part",
            "DELETE FROM eligible_users WHERE sale = ?1 AND user_id <= ?2" },
        { "SELECT max(item) FROM (SELECT waitlist_lines.item FROM waitlist_lines JOIN items ON "
          "items.id ="
          " waitlist_lines.item WHERE items.sale = ?1 ORDER BY waitlist_lines.item LIMIT ?2) AS "
          "part",
            "DELETE FROM waitlist_lines WHERE item <= ?2 AND item IN (SELECT id FROM items WHERE "
            "sale = ?1)" },
    };
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof others / sizeof *others && status == STATUS_OK; i++) {
        uint64_t last = 0;
        status = sql_number(store, others[i].find, VALUES(U64(sale), U64(ROWS_PER_PART)), &last);
        if (status != STATUS_OK)
            return status;
        status = sql_do(store, others[i].remove, VALUES(U64(sale), U64(last)));
        *removed += status == STATUS_OK ? sql_matched(store) : 0;
    }
    return status;
}

/* Many machines: no order is left, so nobody needs the partitions: they go at one moment, then their logs. */
static enum status partitions_remove(struct store *store, sale_id sale, uint32_t *removed)
{
    enum status status =
        sql_do(store, "DELETE FROM parts WHERE part BETWEEN ?1 AND ?2", PARTS_OF(sale));
    *removed += status == STATUS_OK ? sql_matched(store) : 0;
    for (uint32_t shard = 0; *removed > 0 && shard < SHARDS_MAX && status == STATUS_OK; shard++) {
        char name[LEASE_NAME_MAX];
        snprintf(name, sizeof name, LEASE_PART, part_of_sale(sale, shard));
        status = sql_do(store, "DELETE FROM leases WHERE name = ?1", VALUES(TEXT(name)));
    }
    return status;
}

struct entry_key {
    uint64_t part, first_seq;
};
static const struct sql_columns entry_columns =
    COLUMNS(entry_key, FIELD(entry_key, part), FIELD(entry_key, first_seq));

static enum status entries_remove(struct store *store, sale_id sale, uint32_t *removed)
{
    struct entry_key keys[ENTRIES_PER_PART];
    uint32_t count = 0;
    enum status status = sql_rows(store,
        "SELECT part, first_seq FROM journal_entries WHERE part BETWEEN ?1 AND ?2"
        " ORDER BY part, first_seq LIMIT ?3",
        VALUES(U64(part_of_sale(sale, 0)), U64(part_of_sale(sale, SHARDS_MAX - 1)), U64(ENTRIES_PER_PART)),
        &entry_columns, PAGE(keys, ENTRIES_PER_PART, &count));
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        status = sql_do(store, "DELETE FROM journal_entries WHERE part = ?1 AND first_seq = ?2",
            VALUES(U64(keys[i].part), U64(keys[i].first_seq)));
    *removed += count;
    return status;
}

static enum status archive_remove(struct order_store *handle, sale_id sale, bool *more)
{
    struct store *store = store_of(handle);
    uint32_t removed = 0;
    *more = true;
    enum status status = store_begin(store);
    if (status != STATUS_OK)
        return status;
    status = orders_remove(store, sale, &removed);
    if (status == STATUS_OK && removed == 0)
        status = others_remove(store, sale, &removed);
    if (status == STATUS_OK && removed == 0)
        status = partitions_remove(store, sale, &removed);
    if (status == STATUS_OK && removed == 0)
        status = entries_remove(store, sale, &removed);
    *more = removed > 0;
    return store_end(store, status);
}

const struct archive_store_ops store_archive_ops = {
    .list = archive_list,
    .unfinished = archive_unfinished,
    .holds = archive_holds,
    .look = archive_look,
    .begin = archive_begin,
    .remove = archive_remove,
    .step = archive_step,
    .erase = store_archive_erase,
    .erase_older = store_archive_erase_older,
    .wish_get = store_wish_get,
    .wish_put = store_wish_put,
    .wishes_count = store_wishes_count,
    .next = store_archive_next,
};
