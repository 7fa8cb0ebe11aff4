/* SPDX-License-Identifier: Apache-2.0 */
/* Refund intents: written with what makes them necessary, in one transaction; at most one for a
 * payment, by a unique key; due until the provider has confirmed. */
#include "contract/payment_rules.h"
#include "store/sqlite/parts.h"

#include <stdio.h>

static_assert(REFUND_WANTED == 1 && REFUND_DONE == 2 && REFUND_STUCK == 3,
    "numbers in the database never change their meaning");

const char sqlite_refund_tables[] =
    "CREATE TABLE refunds("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  payment INTEGER NOT NULL UNIQUE REFERENCES payments(id),"
    "  ticket INTEGER NOT NULL, provider TEXT NOT NULL,"
    "  key TEXT NOT NULL UNIQUE, provider_id TEXT NOT NULL,"
    "  amount INTEGER NOT NULL, currency TEXT NOT NULL CHECK(length(currency) = 3),"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 3), why INTEGER NOT NULL,"
    "  tries INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL, done_ms INTEGER NOT NULL, next_ms INTEGER NOT NULL,"
    "  error TEXT NOT NULL"
    ", stated_ms INTEGER NOT NULL DEFAULT 0"
    ") STRICT;"
    "CREATE INDEX refunds_open ON refunds(next_ms) WHERE state <> 2;";

#define REFUND_COLUMNS \
    "refunds.id, payment, refunds.ticket, refunds.provider, key, refunds.provider_id," \
    " refunds.amount, refunds.currency, refunds.state, why, refunds.tries, refunds.created_ms," \
    " done_ms, refunds.next_ms, error, refunds.stated_ms"

static const struct sqlite_sql refund_insert = { SQL_REFUND_INSERT,
    "INSERT INTO refunds(payment, ticket, provider, key, provider_id, amount, currency, state, why,"
    " tries, created_ms, done_ms, next_ms, error)"
    " VALUES(?1, ?2, ?3, ?4, '', ?5, ?6, ?7, ?8, 0, ?9, ?10, ?11, '')" };
static const struct sqlite_sql refund_of_paid = { SQL_REFUND_OF_PAID,
    "SELECT id FROM payments WHERE paid_ticket = ?1 AND use IN (1, 3)" };
static const struct sqlite_sql refunds_due = { SQL_REFUNDS_DUE,
    "SELECT " REFUND_COLUMNS " FROM refunds WHERE state <> 2 AND next_ms <= ?1"
    " ORDER BY next_ms LIMIT ?2" };
static const struct sqlite_sql refunds_next = { SQL_REFUNDS_NEXT,
    "SELECT next_ms FROM refunds WHERE state <> 2 AND next_ms > ?1 ORDER BY next_ms LIMIT 1" };
static const struct sqlite_sql refund_again = { SQL_REFUND_AGAIN,
    "UPDATE refunds SET tries = tries + 1, next_ms = ?2, error = ?3, state = ?4"
    " WHERE id = ?1 AND state <> 2" };
static const struct sqlite_sql refund_done = { SQL_REFUND_DONE,
    "UPDATE refunds SET state = 2, provider_id = ?2, done_ms = ?3, next_ms = 0, error = ''"
    " WHERE id = ?1 AND state <> 2" };
static const struct sqlite_sql refunds_all = { SQL_REFUNDS,
    "SELECT " REFUND_COLUMNS " FROM refunds WHERE id > ?1 ORDER BY id LIMIT ?2" };
static const struct sqlite_sql refunds_of_state = { SQL_REFUNDS_OF_STATE,
    "SELECT " REFUND_COLUMNS " FROM refunds WHERE id > ?1 AND state = ?3 ORDER BY id LIMIT ?2" };
static const struct sqlite_sql refund_of_payment = { SQL_REFUND_OF_PAYMENT,
    "SELECT " REFUND_COLUMNS " FROM refunds WHERE payment = ?1 ORDER BY id LIMIT 1" };
/* That of the payment which paid it first of all, else the newest of its payments. */
static const struct sqlite_sql refund_of_order = { SQL_REFUND_OF_ORDER,
    "SELECT " REFUND_COLUMNS " FROM refunds WHERE payment IN"
    " (SELECT id FROM payments WHERE paid_ticket = ?1 AND use IN (1, 3)"
    "  UNION ALL SELECT id FROM payments WHERE ticket = ?1)"
    " ORDER BY why <> 0, id DESC LIMIT 1" };
static_assert(REFUND_OF_ORDER == 0 && USE_ORDER == 1 && USE_RELINKED == 3, "said in numbers above");

static void refund_from_row(sqlite3_stmt *row, struct refund *refund)
{
    *refund = (struct refund){
        .id = column_u64(row, 0),
        .payment = column_u64(row, 1),
        .ticket = column_u64(row, 2),
        .amount = column_u64(row, 6),
        .state = (uint8_t)sqlite3_column_int(row, 8),
        .why = (uint8_t)sqlite3_column_int(row, 9),
        .tries = column_u32(row, 10),
        .created_ms = column_u64(row, 11),
        .done_ms = column_u64(row, 12),
        .next_ms = column_u64(row, 13),
        .stated_ms = column_u64(row, 15),
    };
    column_text(row, 3, refund->provider, sizeof refund->provider);
    column_text(row, 4, refund->key, sizeof refund->key);
    column_text(row, 5, refund->provider_id, sizeof refund->provider_id);
    column_text(row, 7, refund->currency, sizeof refund->currency);
    column_text(row, 14, refund->error, sizeof refund->error);
}

static enum status refunds_read(sqlite3_stmt *list, struct refund *refunds, uint32_t max, uint32_t *count)
{
    enum status status = STATUS_OK;
    while (*count < max && (status = sqlite_next(list)) == STATUS_OK)
        refund_from_row(list, &refunds[(*count)++]);
    (void)sqlite3_reset(list);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status sqlite_refund_want(struct sqlite_store *store, const struct payment *payment,
    const char *currency, enum refund_why why, uint64_t now_ms)
{
    struct refund refund;
    sqlite3_stmt *insert;
    enum status status = sqlite_prepare(store, &refund_insert, &insert);
    if (status != STATUS_OK)
        return status;
    refund_make(payment, currency, why, now_ms, &refund);
    bind_u64(insert, 1, refund.payment);
    bind_u64(insert, 2, refund.ticket);
    bind_text(insert, 3, refund.provider);
    bind_text(insert, 4, refund.key);
    bind_u64(insert, 5, refund.amount);
    bind_text(insert, 6, refund.currency);
    bind_u64(insert, 7, refund.state);
    bind_u64(insert, 8, refund.why);
    bind_u64(insert, 9, refund.created_ms);
    bind_u64(insert, 10, refund.done_ms);
    bind_u64(insert, 11, refund.next_ms);
    status = sqlite_run(insert);
    (void)sqlite3_clear_bindings(insert);
    return status;
}

enum status sqlite_refund_order(struct sqlite_store *store, ticket_number ticket, uint64_t now_ms)
{
    struct payment payment;
    uint64_t id = 0;
    sqlite3_stmt *find;
    enum status status = sqlite_prepare(store, &refund_of_paid, &find);
    if (status != STATUS_OK)
        return status;
    bind_u64(find, 1, ticket);
    status = sqlite_next(find);
    if (status == STATUS_OK)
        id = column_u64(find, 0);
    (void)sqlite3_reset(find);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK; /* the log told that it was paid, nobody told us of money */
    if (status == STATUS_OK)
        status = sqlite_payment_get(&store->store, id, &payment);
    if (status != STATUS_OK)
        return status;
    return sqlite_refund_want(store, &payment, payment.currency, REFUND_OF_ORDER, now_ms);
}

enum status sqlite_refunds_due(struct order_store *handle, uint64_t now_ms, struct refund *refunds,
    uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    sqlite3_stmt *list;
    *count = 0;
    enum status status = sqlite_prepare(sqlite_of(handle), &refunds_due, &list);
    if (status != STATUS_OK)
        return status;
    bind_u64(list, 1, now_ms);
    bind_u64(list, 2, max);
    status = refunds_read(list, refunds, max, count);
    if (status != STATUS_OK)
        return status;
    return sqlite_next_due(sqlite_of(handle), &refunds_next, now_ms, next_ms);
}

enum status sqlite_refund_again(
    struct order_store *handle, uint64_t id, uint64_t next_ms, const char *error, bool stuck)
{
    sqlite3_stmt *update;
    enum status status = sqlite_prepare(sqlite_of(handle), &refund_again, &update);
    if (status != STATUS_OK)
        return status;
    bind_u64(update, 1, id);
    bind_u64(update, 2, next_ms);
    bind_text(update, 3, error);
    bind_u64(update, 4, stuck ? REFUND_STUCK : REFUND_WANTED);
    status = sqlite_run(update);
    (void)sqlite3_clear_bindings(update);
    return status;
}

enum status sqlite_refund_done(
    struct order_store *handle, uint64_t id, const char *provider_id, uint64_t now_ms)
{
    sqlite3_stmt *update;
    enum status status = sqlite_prepare(sqlite_of(handle), &refund_done, &update);
    if (status != STATUS_OK)
        return status;
    bind_u64(update, 1, id);
    bind_text(update, 2, provider_id);
    bind_u64(update, 3, now_ms);
    status = sqlite_run(update);
    (void)sqlite3_clear_bindings(update);
    return status;
}

enum status sqlite_refunds(struct order_store *handle, uint64_t after, enum refund_state state,
    struct refund *refunds, uint32_t max, uint32_t *count)
{
    sqlite3_stmt *list;
    *count = 0;
    const enum status status = sqlite_prepare(
        sqlite_of(handle), state == REFUND_NONE ? &refunds_all : &refunds_of_state, &list);
    if (status != STATUS_OK)
        return status;
    bind_u64(list, 1, after);
    bind_u64(list, 2, max);
    if (state != REFUND_NONE)
        bind_u64(list, 3, state);
    return refunds_read(list, refunds, max, count);
}

static enum status refund_by(struct order_store *handle, const struct sqlite_sql *sql,
    uint64_t number, struct refund *refund)
{
    sqlite3_stmt *get;
    uint32_t count = 0;
    enum status status = sqlite_prepare(sqlite_of(handle), sql, &get);
    if (status != STATUS_OK)
        return status;
    bind_u64(get, 1, number);
    status = refunds_read(get, refund, 1, &count);
    return status == STATUS_OK && count == 0 ? STATUS_NOT_FOUND : status;
}

enum status sqlite_refund_of_order(struct order_store *handle, ticket_number ticket, struct refund *refund)
{
    return refund_by(handle, &refund_of_order, ticket, refund);
}

enum status sqlite_refund_of_payment(struct order_store *handle, uint64_t payment, struct refund *refund)
{
    return refund_by(handle, &refund_of_payment, payment, refund);
}
