/* SPDX-License-Identifier: Apache-2.0 */
/* Refund intents: written with what makes them necessary, in one transaction; due until the provider has
 * confirmed. `refunds` has at most one for a payment, by a unique key. `part_refunds` are parts of the money
 * of a paid order that went back before it; at the seam their numbers begin at REFUND_PART_IDS. */
#include "contract/outbox.h"
#include "contract/payment_rules.h"
#include "store/parts.h"

#include <stdio.h>

static_assert(REFUND_WANTED == 1 && REFUND_DONE == 2 && REFUND_STUCK == 3,
    "numbers in the database never change their meaning");
static_assert((uint64_t)1 << 50 == 1125899906842624, "said in the statements");

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
    "CREATE INDEX refunds_open ON refunds(next_ms){state, next_ms} WHERE state <> 2;"
    "CREATE TABLE part_refunds("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  payment INTEGER NOT NULL REFERENCES payments(id),"
    "  ticket INTEGER NOT NULL, provider TEXT NOT NULL,"
    "  refund_key TEXT{100} NOT NULL UNIQUE, provider_id TEXT NOT NULL,"
    "  amount INTEGER NOT NULL CHECK(amount > 0), currency TEXT NOT NULL CHECK(length(currency) = "
    "3),"
    "  state INTEGER NOT NULL CHECK(state BETWEEN 1 AND 3), why INTEGER NOT NULL CHECK(why = 4),"
    "  tries INTEGER NOT NULL,"
    "  created_ms INTEGER NOT NULL, done_ms INTEGER NOT NULL, next_ms INTEGER NOT NULL,"
    "  error TEXT NOT NULL, stated_ms INTEGER NOT NULL DEFAULT 0, note TEXT NOT NULL"
    ") STRICT;"
    "CREATE INDEX part_refunds_of ON part_refunds(payment);"
    "CREATE INDEX part_refunds_open ON part_refunds(next_ms){state, next_ms} WHERE state <> 2;";

#define REFUND_REST \
    ", payment, ticket, provider, refund_key, provider_id, amount, currency, state, why, tries," \
    " created_ms, done_ms, next_ms, error, stated_ms"
#define OF_WHOLE "SELECT id" REFUND_REST ", '' FROM refunds"
#define OF_PARTS "SELECT id + 1125899906842624" REFUND_REST ", note FROM part_refunds"

static_assert(REFUND_OF_ORDER == 0 && REFUND_OF_PART == 4 && USE_ORDER == 1 && USE_RELINKED == 3,
    "said in numbers in the statements");

static const struct sql_columns refund_columns = COLUMNS(refund, FIELD(refund, id),
    FIELD(refund, payment), FIELD(refund, ticket), FIELD(refund, provider), FIELD(refund, key),
    FIELD(refund, provider_id), FIELD(refund, amount), FIELD(refund, currency), FIELD(refund, state),
    FIELD(refund, why), FIELD(refund, tries), FIELD(refund, created_ms), FIELD(refund, done_ms),
    FIELD(refund, next_ms), FIELD(refund, error), FIELD(refund, stated_ms), FIELD(refund, note));

/* What a statement says of a refund, by its number at the seam: of a whole one, or of a part. */
static enum status refund_do(
    struct store *store, const char *whole, const char *part, uint64_t id, struct sql_values values)
{
    struct sql_value list[5];
    invariant(values.count <= 5);
    memcpy(list, values.list, values.count * sizeof *list);
    list[0] = U64(id >= REFUND_PART_IDS ? id - REFUND_PART_IDS : id);
    return sql_do(store, id >= REFUND_PART_IDS ? part : whole, (struct sql_values){ list, values.count });
}

/* *sum: of the parts of this payment. */
static enum status parts_sum(struct store *store, uint64_t payment, uint64_t *sum, uint32_t *count)
{
    uint64_t numbers[2] = { 0, 0 };
    const enum status status = sql_numbers(store,
        "SELECT coalesce(sum(amount), 0), count(*) FROM part_refunds WHERE payment = ?1",
        VALUES(U64(payment)), numbers, 2);
    *sum = numbers[0];
    if (count != NULL)
        *count = (uint32_t)numbers[1];
    return status;
}

enum status store_refund_want(struct store *store, const struct payment *payment,
    const char *currency, enum refund_why why, uint64_t now_ms)
{
    struct refund refund;
    uint64_t parts = 0;
    const enum status status = parts_sum(store, payment->id, &parts, NULL);
    if (status != STATUS_OK)
        return status;
    refund_make(payment, currency, why, parts, now_ms, &refund);
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
    uint32_t parts = 0;
    uint64_t part_next_ms = UINT64_MAX;
    enum status status =
        sql_rows(store, OF_WHOLE " WHERE state <> 2 AND next_ms <= ?1 ORDER BY next_ms LIMIT ?2",
            VALUES(U64(now_ms), U64(max)), &refund_columns, PAGE(refunds, max, count));
    if (status == STATUS_OK)
        status = sql_rows(store, OF_PARTS " WHERE state <> 2 AND next_ms <= ?1 ORDER BY next_ms LIMIT ?2",
            VALUES(U64(now_ms), U64(max - *count)), &refund_columns,
            PAGE(refunds + *count, max - *count, &parts));
    *count += parts;
    if (status == STATUS_OK)
        status = store_next_due(store,
            "SELECT next_ms FROM refunds WHERE state <> 2 AND next_ms > ?1"
            " ORDER BY next_ms LIMIT 1",
            now_ms, next_ms);
    if (status == STATUS_OK)
        status = store_next_due(store,
            "SELECT next_ms FROM part_refunds WHERE state <> 2 AND next_ms > ?1"
            " ORDER BY next_ms LIMIT 1",
            now_ms, &part_next_ms);
    if (part_next_ms < *next_ms)
        *next_ms = part_next_ms;
    return status;
}

enum status store_refund_again(
    struct order_store *handle, uint64_t id, uint64_t next_ms, const char *error, bool stuck)
{
    return refund_do(store_of(handle),
        "UPDATE refunds SET tries = tries + 1, next_ms = ?2, error = ?3, state = ?4"
        " WHERE id = ?1 AND state <> 2",
        "UPDATE part_refunds SET tries = tries + 1, next_ms = ?2, error = ?3, state = ?4"
        " WHERE id = ?1 AND state <> 2",
        id, VALUES(U64(id), U64(next_ms), TEXT(error), U64(stuck ? REFUND_STUCK : REFUND_WANTED)));
}

enum status store_refund_done(
    struct order_store *handle, uint64_t id, const char *provider_id, uint64_t now_ms)
{
    return refund_do(store_of(handle),
        "UPDATE refunds SET state = 2, provider_id = ?2, done_ms = ?3, next_ms = 0, error = ''"
        " WHERE id = ?1 AND state <> 2",
        "UPDATE part_refunds SET state = 2, provider_id = ?2, done_ms = ?3, next_ms = 0, error = ''"
        " WHERE id = ?1 AND state <> 2",
        id, VALUES(U64(id), TEXT(provider_id), U64(now_ms)));
}

enum status store_refund_stated(struct store *store, uint64_t id, uint64_t now_ms)
{
    return refund_do(store, "UPDATE refunds SET stated_ms = ?2 WHERE id = ?1 AND stated_ms = 0",
        "UPDATE part_refunds SET stated_ms = ?2 WHERE id = ?1 AND stated_ms = 0", id,
        VALUES(U64(id), U64(now_ms)));
}

/* The whole ones first: the numbers of parts are above theirs. */
enum status store_refunds(struct order_store *handle, uint64_t after, enum refund_state state,
    struct refund *refunds, uint32_t max, uint32_t *count)
{
    struct store *store = store_of(handle);
    uint32_t parts = 0;
    enum status status = STATUS_OK;
    *count = 0;
    if (after < REFUND_PART_IDS)
        status = sql_rows(store, OF_WHOLE " WHERE id > ?1 AND (?3 = 0 OR state = ?3) ORDER BY id LIMIT ?2",
            VALUES(U64(after), U64(max), U64(state)), &refund_columns, PAGE(refunds, max, count));
    if (status == STATUS_OK && *count < max)
        status = sql_rows(store, OF_PARTS " WHERE id > ?1 AND (?3 = 0 OR state = ?3) ORDER BY id LIMIT ?2",
            VALUES(U64(after > REFUND_PART_IDS ? after - REFUND_PART_IDS : 0), U64(max - *count),
                U64(state)),
            &refund_columns, PAGE(refunds + *count, max - *count, &parts));
    *count += parts;
    return status;
}

/* That of the payment which paid it first of all, else the newest of its payments. */
enum status store_refund_of_order(struct order_store *handle, ticket_number ticket, struct refund *refund)
{
    return sql_one(store_of(handle),
        OF_WHOLE " WHERE payment IN"
                 " (SELECT id FROM payments WHERE paid_ticket = ?1 AND used_for IN (1, 3)"
                 "  UNION ALL SELECT id FROM payments WHERE ticket = ?1)"
                 " ORDER BY why <> 0, id DESC LIMIT 1",
        VALUES(U64(ticket)), &refund_columns, refund);
}

enum status store_refund_of_payment(struct order_store *handle, uint64_t payment, struct refund *refund)
{
    return sql_one(store_of(handle), OF_WHOLE " WHERE payment = ?1 ORDER BY id LIMIT 1",
        VALUES(U64(payment)), &refund_columns, refund);
}

enum status store_refunds_of_payment(struct order_store *handle, uint64_t payment,
    struct refund *refunds, uint32_t max, uint32_t *count)
{
    struct store *store = store_of(handle);
    uint32_t parts = 0, whole = 0;
    enum status status = sql_rows(store, OF_PARTS " WHERE payment = ?1 ORDER BY id LIMIT ?2",
        VALUES(U64(payment), U64(max)), &refund_columns, PAGE(refunds, max, &parts));
    if (status == STATUS_OK)
        status = sql_rows(store, OF_WHOLE " WHERE payment = ?1 ORDER BY id LIMIT ?2",
            VALUES(U64(payment), U64(max - parts)), &refund_columns,
            PAGE(refunds + parts, max - parts, &whole));
    *count = parts + whole;
    return status;
}

enum status store_given_back(struct order_store *handle, ticket_number ticket, uint64_t *amount)
{
    *amount = 0;
    return sql_number(store_of(handle),
        "SELECT coalesce(sum(r.amount), 0) FROM part_refunds r JOIN payments p ON p.id = r.payment"
        " WHERE p.paid_ticket = ?1 AND p.used_for IN (1, 3)",
        VALUES(U64(ticket)), amount);
}

/* ---- parts ---- */

static enum status part_look(struct store *store, const struct part_refund *part,
    struct refund *refund, struct order *order, struct payment *payer, uint64_t *left, uint8_t *answer)
{
    char key[REFERENCE_BYTES_MAX + 1];
    uint64_t parts = 0;
    uint32_t count = 0;
    enum status status = store_order_by_ticket(&store->store, part->ticket, order);
    bool archived = false;
    *answer = PART_UNKNOWN;
    if (status == STATUS_OK)
        status = store_item_left(store, order->item, &archived);
    if (status != STATUS_OK || archived)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    status = store_payment_of_paid(&store->store, part->ticket, payer);
    const bool paid = status == STATUS_OK;
    if (!paid) {
        *answer = (uint8_t)refund_part_decide(part, order, NULL, NULL, 0, 0);
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    refund_part_key(payer, part->key, key);
    status =
        sql_one(store, OF_PARTS " WHERE refund_key = ?1", VALUES(TEXT(key)), &refund_columns, refund);
    const bool same = status == STATUS_OK;
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        status = parts_sum(store, payer->id, &parts, &count);
    if (status != STATUS_OK)
        return status;
    *left = payer->captured - parts;
    *answer = (uint8_t)refund_part_decide(part, order, payer, same ? refund : NULL, parts, count);
    return STATUS_OK;
}

static enum status part_make(struct store *store, const struct part_refund *part,
    const struct payment *payer, struct refund *refund, struct order *order)
{
    refund_part_make(part, payer, refund);
    enum status status = sql_insert(store,
        "INSERT INTO part_refunds(payment, ticket, provider, refund_key, provider_id, amount,"
        " currency, state, why, tries, created_ms, done_ms, next_ms, error, note)"
        " VALUES(?1, ?2, ?3, ?4, '', ?5, ?6, ?7, ?8, 0, ?9, ?10, ?11, '', ?12) RETURNING id",
        VALUES(U64(refund->payment), U64(refund->ticket), TEXT(refund->provider), TEXT(refund->key),
            U64(refund->amount), TEXT(refund->currency), U64(refund->state), U64(refund->why),
            U64(refund->created_ms), U64(refund->done_ms), U64(refund->next_ms), TEXT(refund->note)),
        &refund->id);
    refund->id += REFUND_PART_IDS;
    return status == STATUS_OK ? store_order_news(store, order, TOPIC_REFUNDED_PART, refund->amount)
                               : status;
}

static enum status part_once(struct store *store, const struct part_refund *part,
    struct refund *refund, struct order *after, uint64_t *left, uint8_t *answer)
{
    struct store_change change;
    struct payment payer = { 0 };
    *answer = PART_UNKNOWN;
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = store_order_lock(store, part->ticket);
    if (status == STATUS_OK)
        status = part_look(store, part, refund, after, &payer, left, answer);
    const bool makes = status == STATUS_OK && *answer == PART_DONE;
    if (makes)
        status = part_make(store, part, &payer, refund, after);
    if (status == STATUS_NOT_FOUND)
        status = STATUS_OK; /* no such order */
    return store_change_end(&change, status, makes);
}

enum status store_refund_part(struct order_store *handle, const struct part_refund *part,
    struct refund *refund, struct order *after, uint64_t *left, uint8_t *answer)
{
    struct store_tries tries = { .repeatable = true };
    enum status status;
    STORE_TRIES (store_of(handle), &tries, &status)
        status = part_once(store_of(handle), part, refund, after, left, answer);
    if (tries.unknown && *answer == PART_REPEATED) /* by the try that was kept */
        *answer = PART_DONE;
    return status;
}
