/* SPDX-License-Identifier: Apache-2.0 */
/* Address and note of an order, and the sums of all money. */
#include "store/parts.h"

const char store_details_tables[] =
    "CREATE TABLE order_details("
    "  ticket INTEGER PRIMARY KEY REFERENCES orders(ticket),"
    "  name TEXT NOT NULL, phone TEXT NOT NULL, address TEXT NOT NULL, note TEXT NOT NULL,"
    "  time_ms INTEGER NOT NULL,"
    "  email TEXT NOT NULL DEFAULT ''"
    ") STRICT;";

#define CAPTURED SUM_HALVES("captured")
#define AMOUNT SUM_HALVES("amount")
#define ORDER_AMOUNT SUM_HALVES("orders.amount")
#define PART_AMOUNT SUM_HALVES("part_refunds.amount")
static_assert(REFUND_DONE == 2 && USE_LATE == 2 && USE_ORDER == 1 && USE_RELINKED == 3 && ORDER_PAID == 2,
    "said in numbers in the statements");

static enum status details_write(struct store *store, ticket_number ticket,
    const struct order_details *details, uint64_t now_ms, bool *changed)
{
    const struct sql_values values = VALUES(U64(ticket), TEXT(details->name), TEXT(details->phone),
        TEXT(details->address), TEXT(details->note), U64(now_ms), TEXT(details->email));
    enum status status = sql_do(store,
        "INSERT INTO order_details(ticket, name, phone, address, note, time_ms, email)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT(ticket) DO NOTHING",
        values);
    if (status == STATUS_OK && sql_matched(store) == 0)
        status = sql_do(store,
            "UPDATE order_details SET name = ?2, phone = ?3, address = ?4, note = ?5, time_ms = ?6,"
            " email = ?7 WHERE ticket = ?1 AND (name <> ?2 OR phone <> ?3 OR address <> ?4"
            " OR note <> ?5 OR email <> ?7)",
            values);
    *changed = status == STATUS_OK && sql_matched(store) == 1;
    if (!*changed)
        return status;
    return sql_do(
        store, "UPDATE orders SET version = version + 1 WHERE ticket = ?1", VALUES(U64(ticket)));
}

static enum status details_set_once(struct order_store *handle, ticket_number ticket,
    const struct order_details *details, uint64_t now_ms, struct order *after)
{
    struct store *store = store_of(handle);
    struct store_change change;
    bool changed = false;
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = store_order_lock(store, ticket);
    if (status == STATUS_OK)
        status = store_order_by_ticket(handle, ticket, after);
    if (status == STATUS_OK && after->state != ORDER_PENDING)
        status = STATUS_CONFLICT;
    if (status == STATUS_OK)
        status = details_write(store, ticket, details, now_ms, &changed);
    if (status == STATUS_OK && changed)
        after->version++;
    return store_change_end(&change, status, changed);
}

enum status store_details_set(struct order_store *handle, ticket_number ticket,
    const struct order_details *details, uint64_t now_ms, struct order *after)
{
    struct store_tries tries = { .repeatable = true };
    enum status status;
    STORE_TRIES (store_of(handle), &tries, &status)
        status = details_set_once(handle, ticket, details, now_ms, after);
    return status;
}

static const struct sql_columns details_columns =
    COLUMNS(order_details, FIELD(order_details, name), FIELD(order_details, phone),
        FIELD(order_details, address), FIELD(order_details, note), FIELD(order_details, email));

enum status store_details(struct order_store *handle, ticket_number ticket, struct order_details *details)
{
    return sql_one(store_of(handle),
        "SELECT name, phone, address, note, email FROM order_details WHERE ticket = ?1",
        VALUES(U64(ticket)), &details_columns, details);
}

enum status store_details_missing(struct store *store, const struct order *order, bool *missing)
{
    return sql_found(store,
        "SELECT 1 FROM items JOIN sales ON sales.id = items.sale WHERE items.id = ?2"
        " AND sales.details_required = 1"
        " AND NOT EXISTS(SELECT 1 FROM order_details WHERE ticket = ?1)",
        VALUES(U64(order->ticket), U64(order->item)), missing);
}

struct totals_row {
    struct money_totals totals;
    uint64_t parts; /* of orders that are paid */
};
static const struct sql_columns totals_columns = COLUMNS(totals_row, SUM(totals_row, totals.captured),
    SUM(totals_row, totals.refunded), SUM(totals_row, totals.wanted), SUM(totals_row, totals.late),
    SUM(totals_row, totals.paid), SUM(totals_row, parts));

enum status store_money_totals(struct order_store *handle, struct money_totals *totals)
{
    struct totals_row row;
    const enum status status = sql_one(store_of(handle),
        "SELECT * FROM (SELECT" CAPTURED "FROM payments) AS all_payments,"
        " (SELECT" AMOUNT "FROM (SELECT amount, state FROM refunds"
        "  UNION ALL SELECT amount, state FROM part_refunds) AS r WHERE state = 2) AS done,"
        " (SELECT" AMOUNT "FROM (SELECT amount, state FROM refunds"
        "  UNION ALL SELECT amount, state FROM part_refunds) AS r WHERE state <> 2) AS wanted,"
        " (SELECT" CAPTURED "FROM payments WHERE used_for = 2) AS late,"
        " (SELECT" ORDER_AMOUNT "FROM payments JOIN orders ON orders.ticket = payments.paid_ticket"
        "  WHERE used_for IN (1, 3) AND orders.state = 2) AS paid,"
        " (SELECT" PART_AMOUNT
        "FROM part_refunds JOIN payments ON payments.id = part_refunds.payment"
        "  JOIN orders ON orders.ticket = payments.paid_ticket"
        "  WHERE used_for IN (1, 3) AND orders.state = 2) AS parts",
        NO_VALUES, &totals_columns, &row);
    *totals = row.totals;
    totals->paid -= row.parts;
    return status;
}
