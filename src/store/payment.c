/* SPDX-License-Identifier: Apache-2.0 */
/* Payments (contract/payment.h) from their start until there is news of them; learn.c has
 * what follows. */
#include "contract/order_state.h"
#include "contract/payment_rules.h"
#include "store/parts.h"

#include <stdio.h>

static_assert(PAYMENT_STARTED == 1 && PAYMENT_OPEN == 2 && PAYMENT_CLOSING == 3
        && PAYMENT_CAPTURED == 4 && PAYMENT_CLOSED == 5,
    "numbers in the database never change their meaning");
static_assert(USE_ORDER == 1 && USE_LATE == 2 && USE_RELINKED == 3 && USE_REFUND == 4, "the same");

/* A payment that the user may still pay is due at the latest when the order's time is over. */
#define DUE_MS "CASE WHEN state < 3 AND pay_by_ms < next_ms THEN pay_by_ms ELSE next_ms END"

const char store_payment_tables[] =
    "CREATE TABLE payments("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  ticket INTEGER NOT NULL, paid_ticket INTEGER NOT NULL,"
    "  provider TEXT NOT NULL,"
    "  reference TEXT{200} NOT NULL UNIQUE CHECK(length(reference) > 0),"
    "  provider_id TEXT NOT NULL, url TEXT NOT NULL,"
    "  amount INTEGER NOT NULL, currency TEXT NOT NULL CHECK(length(currency) = 3),"
    "  captured INTEGER NOT NULL,"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 5),"
    "  used_for INTEGER NOT NULL CHECK(used_for BETWEEN 0 AND 4 AND (used_for <> 0) = (state = 4)),"
    "  tries INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL, captured_ms INTEGER NOT NULL,"
    "  next_ms INTEGER NOT NULL, pay_by_ms INTEGER NOT NULL, closing_ms INTEGER NOT NULL"
    ", late_before INTEGER NOT NULL DEFAULT 0"
    ", stated_ms INTEGER NOT NULL DEFAULT 0"
    ", searched INTEGER NOT NULL DEFAULT 0"
    ", payer INTEGER NOT NULL DEFAULT 0" /* a keyed hash of who paid; 0: not known */
    ") STRICT;"
    "CREATE INDEX payments_by_ticket ON payments(ticket);"
    /* An order is paid by one payment only. */
    "CREATE UNIQUE INDEX payments_paid ON payments(paid_ticket){paid_ticket} WHERE used_for IN (1, "
    "3);"
    "CREATE INDEX payments_due ON payments((" DUE_MS ")){state, next_ms} WHERE " UNDER_WAY ";"
    "CREATE INDEX payments_unanswered ON payments(next_ms){next_ms} WHERE " UNANSWERED ";";

#define PAYMENT_COLUMNS \
    "id, ticket, paid_ticket, provider, reference, provider_id, url, amount, currency, captured," \
    " state, used_for, tries, created_ms, captured_ms, next_ms, pay_by_ms, closing_ms," \
    " late_before, searched, stated_ms, payer"

static const char payment_of_paid[] =
    "SELECT " PAYMENT_COLUMNS " FROM payments WHERE paid_ticket = ?1 AND used_for IN (1, 3)";
static const char payments_close[] =
    "UPDATE payments SET state = 3, tries = 0, next_ms = ?2, closing_ms = ?2"
    " WHERE ticket = ?1 AND state < 3";
static const struct sql_columns payment_columns =
    COLUMNS(payment, FIELD(payment, id), FIELD(payment, ticket), FIELD(payment, paid_ticket),
        FIELD(payment, provider), FIELD(payment, reference), FIELD(payment, provider_id),
        FIELD(payment, url), FIELD(payment, amount), FIELD(payment, currency),
        FIELD(payment, captured), FIELD(payment, state), FIELD(payment, use), FIELD(payment, tries),
        FIELD(payment, created_ms), FIELD(payment, captured_ms), FIELD(payment, next_ms),
        FIELD(payment, pay_by_ms), FIELD(payment, closing_ms), FIELD(payment, late_before),
        FIELD(payment, searched), FIELD(payment, stated_ms), FIELD(payment, payer));

enum status store_payer_known(struct store *store, ticket_number ticket, bool *known)
{
    return sql_found(store, payment_of_paid, VALUES(U64(ticket)), known);
}

enum status store_payment_get(struct order_store *handle, uint64_t id, struct payment *payment)
{
    return sql_one(store_of(handle), "SELECT " PAYMENT_COLUMNS " FROM payments WHERE id = ?1",
        VALUES(U64(id)), &payment_columns, payment);
}

enum status store_payment_of_paid(struct order_store *handle, ticket_number ticket, struct payment *payment)
{
    return sql_one(store_of(handle), payment_of_paid, VALUES(U64(ticket)), &payment_columns, payment);
}

enum status store_payment_by_reference(
    struct order_store *handle, const char *reference, struct payment *payment)
{
    return sql_one(store_of(handle), "SELECT " PAYMENT_COLUMNS " FROM payments WHERE reference = ?1",
        VALUES(TEXT(reference)), &payment_columns, payment);
}

static enum status payments_of(struct order_store *handle, ticket_number ticket,
    struct payment *payments, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle),
        "SELECT " PAYMENT_COLUMNS " FROM payments WHERE ticket = ?1 ORDER BY id DESC LIMIT ?2",
        VALUES(U64(ticket), U64(max)), &payment_columns, PAGE(payments, max, count));
}

enum status store_payments_live(struct store *store, ticket_number ticket, uint32_t *live)
{
    uint64_t count = *live;
    const enum status status = sql_number(store,
        "SELECT count(*) FROM payments WHERE ticket = ?1 AND state < 4", VALUES(U64(ticket)), &count);
    *live = (uint32_t)count;
    return status;
}

enum status store_payments_close(struct store *store, ticket_number ticket, uint64_t now_ms)
{
    return sql_do(store, payments_close, VALUES(U64(ticket), U64(now_ms)));
}

enum status store_payment_insert(struct store *store, struct payment *payment)
{
    return sql_insert(store,
        "INSERT INTO payments(ticket, paid_ticket, provider, reference, provider_id, url, amount,"
        " currency, captured, state, used_for, tries, created_ms, captured_ms, next_ms, pay_by_ms,"
        " closing_ms, searched)"
        " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
        " RETURNING id",
        VALUES(U64(payment->ticket), U64(payment->paid_ticket), TEXT(payment->provider),
            TEXT(payment->reference), TEXT(payment->provider_id), TEXT(payment->url),
            U64(payment->amount), TEXT(payment->currency), U64(payment->captured),
            U64(payment->state), U64(payment->use), U64(payment->tries), U64(payment->created_ms),
            U64(payment->captured_ms), U64(payment->next_ms), U64(payment->pay_by_ms),
            U64(payment->closing_ms), U64(payment->searched)),
        &payment->id);
}

enum status store_payment_write(struct store *store, const struct payment *payment)
{
    const enum status status = sql_do(store,
        "UPDATE payments SET paid_ticket = ?2, provider_id = ?3, url = ?4, captured = ?5, state"
        " = ?6, used_for = ?7, tries = ?8, captured_ms = ?9, next_ms = ?10, payer = ?11 WHERE id = "
        "?1",
        VALUES(U64(payment->id), U64(payment->paid_ticket), TEXT(payment->provider_id),
            TEXT(payment->url), U64(payment->captured), U64(payment->state), U64(payment->use),
            U64(payment->tries), U64(payment->captured_ms), U64(payment->next_ms), U64(payment->payer)));
    return status == STATUS_OK && sql_matched(store) != 1 /* it was read before */
        ? store_conflict(store)
        : status;
}

/* Nothing is changed here. `payment` is filled for START_REPEATED. */
static enum status start_look(struct store *store, const struct payment_start *start,
    struct payment *payment, struct order *order, uint8_t *answer)
{
    struct payment tried[PAYMENTS_PER_ORDER];
    const struct payment *same = NULL;
    uint32_t count = 0;
    bool missing = false;
    enum status status = store_order_by_ticket(&store->store, start->ticket, order);
    *answer = START_UNKNOWN;
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    status = payments_of(&store->store, start->ticket, tried, PAYMENTS_PER_ORDER, &count);
    if (status == STATUS_OK)
        status = store_details_missing(store, order, &missing);
    if (status != STATUS_OK)
        return status;
    *answer = (uint8_t)payment_start_decide(start, order, tried, count, missing, &same);
    if (*answer == START_REPEATED)
        *payment = *same;
    return STATUS_OK;
}

static enum status start_extend(struct store *store, const struct payment_start *start, struct order *order)
{
    uint64_t pay_by_ms;
    if (!payment_start_extends(start, order, &pay_by_ms))
        return STATUS_OK;
    const enum status status = sql_do(store,
        "UPDATE orders SET pay_by_ms = ?2, extended = 1, version = version + 1 WHERE ticket = ?1",
        VALUES(U64(start->ticket), U64(pay_by_ms)));
    if (status != STATUS_OK)
        return status;
    order->pay_by_ms = pay_by_ms;
    order->extended = true;
    order->version++;
    return sql_do(store, "UPDATE payments SET pay_by_ms = ?2 WHERE ticket = ?1 AND state < 4",
        VALUES(U64(start->ticket), U64(pay_by_ms)));
}

static enum status start_make(struct store *store, const struct payment_start *start,
    struct payment *payment, struct order *order)
{
    char currency[4] = "";
    enum status status = start_extend(store, start, order);
    if (status == STATUS_OK)
        status = store_currency(store, order->item, currency);
    if (status != STATUS_OK)
        return status;
    payment_start_make(start, order, currency, payment);
    return store_payment_insert(store, payment);
}

static enum status start_once(struct store *store, const struct payment_start *start,
    struct payment *payment, struct order *after, uint8_t *answer)
{
    struct store_change change;
    *answer = START_UNKNOWN;
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = store_order_lock(store, start->ticket);
    if (status == STATUS_OK)
        status = start_look(store, start, payment, after, answer);
    if (status == STATUS_OK && *answer == START_DONE)
        status = start_make(store, start, payment, after);
    if (status == STATUS_NOT_FOUND && *answer == START_UNKNOWN) /* by the lock */
        status = STATUS_OK;
    return store_change_end(&change, status, *answer == START_DONE);
}

static enum status payment_start(struct order_store *handle, const struct payment_start *start,
    struct payment *payment, struct order *after, uint8_t *answer)
{
    struct store *store = store_of(handle);
    struct store_tries tries = { .repeatable = true };
    enum status status;
    STORE_TRIES (store, &tries, &status)
        status = start_once(store, start, payment, after, answer);
    if (tries.unknown && *answer == START_REPEATED) /* by the try that was kept */
        *answer = START_DONE;
    return status;
}

static enum status open_once(struct order_store *handle, uint64_t id, const char *provider_id,
    const char *url, uint64_t next_ms)
{
    struct store *store = store_of(handle);
    struct payment payment;
    enum status status = store_begin(store);
    if (status == STATUS_OK)
        status = store_payment_lock(store, id, false);
    if (status == STATUS_OK)
        status = store_payment_get(handle, id, &payment);
    if (status == STATUS_OK) {
        payment_opened_apply(&payment, provider_id, url, next_ms);
        status = store_payment_write(store, &payment);
    }
    return store_end(store, status);
}

static enum status payment_open(struct order_store *handle, uint64_t id, const char *provider_id,
    const char *url, uint64_t next_ms)
{
    struct store_tries tries = { .repeatable = true };
    enum status status;
    STORE_TRIES (store_of(handle), &tries, &status)
        status = open_once(handle, id, provider_id, url, next_ms);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status closing_once(struct order_store *handle, ticket_number ticket,
    enum order_reason reason, uint64_t now_ms, uint32_t *live)
{
    struct store *store = store_of(handle);
    struct store_change change;
    struct order order = { 0 };
    *live = 0;
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = store_order_lock(store, ticket);
    if (status == STATUS_OK)
        status = store_payments_live(store, ticket, live);
    if (status == STATUS_OK && *live > 0)
        status = sql_do(store, payments_close, VALUES(U64(ticket), U64(now_ms)));
    if (status == STATUS_OK && *live > 0)
        status = store_order_by_ticket(handle, ticket, &order);
    if (status == STATUS_OK && order_ending_is_kept(&order, *live, reason))
        status = sql_do(store, "UPDATE orders SET ending = ?2, version = version + 1 WHERE ticket = ?1",
            VALUES(U64(ticket), U64(reason)));
    if (status == STATUS_NOT_FOUND && *live == 0) /* by the lock */
        status = STATUS_OK;
    return store_change_end(&change, status, *live > 0);
}

static enum status payments_closing(struct order_store *handle, ticket_number ticket,
    enum order_reason reason, uint64_t now_ms, uint32_t *live)
{
    struct store_tries tries = { .repeatable = true };
    enum status status;
    STORE_TRIES (store_of(handle), &tries, &status)
        status = closing_once(handle, ticket, reason, now_ms, live);
    return status;
}

/* Each half of both statements by its own index. */
static enum status payments_due_list(struct order_store *handle, uint64_t now_ms,
    struct payment *payments, uint32_t max, uint32_t *count, uint64_t *next_ms)
{
    const enum status status = sql_rows(store_of(handle),
        "SELECT " PAYMENT_COLUMNS ", " DUE_MS " AS due FROM payments WHERE " UNDER_WAY
        " AND " DUE_MS " <= ?1 UNION ALL SELECT " PAYMENT_COLUMNS
        ", next_ms FROM payments WHERE " UNANSWERED " AND next_ms <= ?1 ORDER BY due LIMIT ?2",
        VALUES(U64(now_ms), U64(max)), &payment_columns, PAGE(payments, max, count));
    if (status != STATUS_OK)
        return status;
    return store_next_due(store_of(handle),
        "SELECT " DUE_MS " AS due FROM payments WHERE " UNDER_WAY " AND " DUE_MS " > ?1"
        " UNION ALL SELECT next_ms FROM payments WHERE " UNANSWERED " AND next_ms > ?1"
        " ORDER BY due LIMIT 1",
        now_ms, next_ms);
}

static enum status payment_try_again(struct order_store *handle, uint64_t id, uint64_t next_ms)
{
    return sql_do(store_of(handle),
        "UPDATE payments SET tries = tries + 1, next_ms = ?2 WHERE id = ?1 AND (" UNDER_WAY
        " OR " UNANSWERED ")",
        VALUES(U64(id), U64(next_ms)));
}

const struct payment_store_ops store_payment_ops = {
    .start = payment_start,
    .opened = payment_open,
    .learn = store_payment_learn,
    .closing = payments_closing,
    .due = payments_due_list,
    .again = payment_try_again,
    .relink = store_payment_relink,
    .give_back = store_payment_give_back,
    .get = store_payment_get,
    .by_reference = store_payment_by_reference,
    .of_paid = store_payment_of_paid,
    .of_order = payments_of,
    .refunds_due = store_refunds_due,
    .refund_again = store_refund_again,
    .refund_done = store_refund_done,
    .refunds = store_refunds,
    .refund_of_payment = store_refund_of_payment,
    .refunds_of_payment = store_refunds_of_payment,
    .refund_part = store_refund_part,
    .given_back = store_given_back,
    .refund_of_order = store_refund_of_order,
    .details_set = store_details_set,
    .details = store_details,
    .search = store_payment_search,
    .search_next = store_payment_search_next,
    .search_end = store_payment_search_end,
    .totals = store_money_totals,
    .ask = store_payment_ask,
    .stated = store_stated,
    .unstated = store_unstated,
};
