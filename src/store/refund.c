/* SPDX-License-Identifier: Apache-2.0 */
/* Refund intents: written with what makes them necessary, in one transaction; at most one for a
 * payment, by a unique key; due until the provider has confirmed. */
#include "contract/payment_rules.h"
#include "store/parts.h"

#include <stdio.h>

static_assert(REFUND_WANTED == 1 && REFUND_DONE == 2 && REFUND_STUCK == 3,
    "numbers in the database never change their meaning");

const char store_refund_tables[] =
    "CREATE TABLE refunds("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  payment INTEGER NOT NULL UNIQUE REFERENCES payments(id),"
    "  ticket INTEGER NOT NULL, provider TEXT NOT NULL,"
    "  refund_key TEXT{100} NOT NULL UNIQUE, provider_id TEXT NOT NULL,"
    "  amount INTEGER NOT NULL, currency TEXT NOT NULL CHECK(length(currency) = 3),"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 3), why INTEGER NOT NULL,"
    "  tries INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL, done_ms INTEGER NOT NULL, next_ms INTEGER NOT NULL,"
    "  error TEXT NOT NULL"
    ", stated_ms INTEGER NOT NULL DEFAULT 0"
    ") STRICT;"
    "CREATE INDEX refunds_open ON refunds(next_ms){state, next_ms} WHERE state <> 2;";

#define REFUND_COLUMNS \
    "refunds.id, payment, refunds.ticket, refunds.provider, refund_key, refunds.provider_id," \
    " refunds.amount, refunds.currency, refunds.state, why, refunds.tries, refunds.created_ms," \
    " done_ms, refunds.next_ms, error, refunds.stated_ms"

static const char refunds_all[] =
    "SELECT " REFUND_COLUMNS " FROM refunds WHERE id > ?1 ORDER BY id LIMIT ?2";
static const char refunds_of_state[] =
    "SELECT " REFUND_COLUMNS " FROM refunds WHERE id > ?1 AND state = ?3 ORDER BY id LIMIT ?2";
static_assert(REFUND_OF_ORDER == 0 && USE_ORDER == 1 && USE_RELINKED == 3,
    "said in numbers in the statements");

static const struct sql_columns refund_columns = COLUMNS(refund, FIELD(refund, id),
    FIELD(refund, payment), FIELD(refund, ticket), FIELD(refund, provider), FIELD(refund, key),
    FIELD(refund, provider_id), FIELD(refund, amount), FIELD(refund, currency),
    FIELD(refund, state), FIELD(refund, why), FIELD(refund, tries), FIELD(refund, created_ms),
    FIELD(refund, done_ms), FIELD(refund, next_ms), FIELD(refund, error), FIELD(refund, stated_ms));

enum status store_refund_want(struct store *store, const struct payment *payment,
    const char *currency, enum refund_why why, uint64_t now_ms)
{
    struct refund refund;
    refund_make(payment, currency, why, now_ms, &refund);
    return sql_do(store,
        "INSERT INTO refunds(payment, ticket, provider, refund_key, provider_id, amount, currency,"
        " state, why, tries, created_ms, done_ms, next_ms, error) VALUES(?1, ?2, ?3, ?4, '',"
        " ?5, ?6, ?7, ?8, 0, ?9, ?10, ?11, '')",
        VALUES(U64(refund.payment), U64(refund.ticket), TEXT(refund.provider), TEXT(refund.key),
            U64(refund.amount), TEXT(refund.currency), U64(refund.state), U64(refund.why),
            U64(refund.created_ms), U64(refund.done_ms), U64(refund.next_ms)));
}

enum status store_refund_order(struct store *store, ticket_number ticket, uint64_t now_ms)
{
    struct payment payment;
    const enum status status = store_payment_of_paid(&store->store, ticket, &payment);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK; /* the log told that it was paid, nobody told us of money */
    if (status != STATUS_OK)
        return status;
    return store_refund_want(store, &payment, payment.currency, REFUND_OF_ORDER, now_ms);
}

enum status store_refunds_due(struct order_store *handle, uint64_t now_ms, struct refund *refunds,
    uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    struct store *store = store_of(handle);
    const enum status status = sql_rows(store,
        "SELECT " REFUND_COLUMNS " FROM refunds WHERE state <> 2 AND next_ms <= ?1"
        " ORDER BY next_ms LIMIT ?2",
        VALUES(U64(now_ms), U64(max)), &refund_columns, PAGE(refunds, max, count));
    if (status != STATUS_OK)
        return status;
    return store_next_due(store,
        "SELECT next_ms FROM refunds WHERE state <> 2 AND next_ms > ?1"
        " ORDER BY next_ms LIMIT 1",
        now_ms, next_ms);
}

enum status store_refund_again(
    struct order_store *handle, uint64_t id, uint64_t next_ms, const char *error, bool stuck)
{
    return sql_do(store_of(handle),
        "UPDATE refunds SET tries = tries + 1, next_ms = ?2, error = ?3, state = ?4"
        " WHERE id = ?1 AND state <> 2",
        VALUES(U64(id), U64(next_ms), TEXT(error), U64(stuck ? REFUND_STUCK : REFUND_WANTED)));
}

enum status store_refund_done(
    struct order_store *handle, uint64_t id, const char *provider_id, uint64_t now_ms)
{
    return sql_do(store_of(handle),
        "UPDATE refunds SET state = 2, provider_id = ?2, done_ms = ?3, next_ms = 0, error = ''"
        " WHERE id = ?1 AND state <> 2",
        VALUES(U64(id), TEXT(provider_id), U64(now_ms)));
}

enum status store_refunds(struct order_store *handle, uint64_t after, enum refund_state state,
    struct refund *refunds, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), state == REFUND_NONE ? refunds_all : refunds_of_state,
        state == REFUND_NONE ? VALUES(U64(after), U64(max)) : VALUES(U64(after), U64(max), U64(state)),
        &refund_columns, PAGE(refunds, max, count));
}

/* That of the payment which paid it first of all, else the newest of its payments. */
enum status store_refund_of_order(struct order_store *handle, ticket_number ticket, struct refund *refund)
{
    return sql_one(store_of(handle),
        "SELECT " REFUND_COLUMNS " FROM refunds WHERE payment IN"
        " (SELECT id FROM payments WHERE paid_ticket = ?1 AND used_for IN (1, 3)"
        "  UNION ALL SELECT id FROM payments WHERE ticket = ?1)"
        " ORDER BY why <> 0, id DESC LIMIT 1",
        VALUES(U64(ticket)), &refund_columns, refund);
}

enum status store_refund_of_payment(struct order_store *handle, uint64_t payment, struct refund *refund)
{
    return sql_one(store_of(handle),
        "SELECT " REFUND_COLUMNS " FROM refunds WHERE payment = ?1 ORDER BY id LIMIT 1",
        VALUES(U64(payment)), &refund_columns, refund);
}
