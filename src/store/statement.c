/* SPDX-License-Identifier: Apache-2.0 */
/* What providers' statements say of payments and refunds (contract/payment.h). */
#include "store/parts.h"

static const char payments_without[] =
    "SELECT id, ticket, reference, captured, currency, captured_ms FROM payments"
    " WHERE id > ?1 AND provider = ?2 AND state = 4 AND stated_ms = 0"
    " AND captured_ms BETWEEN ?3 AND ?4 ORDER BY id LIMIT ?5";
static const char refunds_without[] =
    "SELECT r.id, r.ticket, p.reference, r.amount, r.currency, r.done_ms FROM"
    " (SELECT id, ticket, payment, provider, amount, currency, state, stated_ms, done_ms FROM "
    "refunds"
    "  UNION ALL SELECT id + 1125899906842624, ticket, payment, provider, amount, currency, state,"
    "  stated_ms, done_ms FROM part_refunds) r"
    " JOIN payments p ON p.id = r.payment WHERE r.id > ?1 AND r.provider = ?2 AND r.state = 2"
    " AND r.stated_ms = 0 AND r.done_ms BETWEEN ?3 AND ?4 ORDER BY r.id LIMIT ?5";
static_assert(PAYMENT_CAPTURED == 4 && REFUND_DONE == 2, "said in numbers in the statements");

enum status store_payment_ask(struct order_store *handle, uint64_t id, uint64_t now_ms)
{
    return sql_do(store_of(handle),
        "UPDATE payments SET next_ms = ?2 WHERE id = ?1 AND state IN (1, 2, 3, 5)",
        VALUES(U64(id), U64(now_ms)));
}

enum status store_stated(struct order_store *handle, const uint64_t *payments,
    uint32_t payment_count, const uint64_t *refunds, uint32_t refund_count, uint64_t now_ms)
{
    struct store *store = store_of(handle);
    struct store_tries tries = { 0 };
    enum status status;
    STORE_TRIES (store, &tries, &status) {
        status = store_begin(store);
        for (uint32_t i = 0; i < payment_count && status == STATUS_OK; i++)
            status = sql_do(store, "UPDATE payments SET stated_ms = ?2 WHERE id = ?1 AND stated_ms = 0",
                VALUES(U64(payments[i]), U64(now_ms)));
        for (uint32_t i = 0; i < refund_count && status == STATUS_OK; i++)
            status = store_refund_stated(store, refunds[i], now_ms);
        status = store_end(store, status);
    }
    return status;
}

static const struct sql_columns missing_columns =
    COLUMNS(statement_missing, FIELD(statement_missing, id), FIELD(statement_missing, ticket),
        FIELD(statement_missing, reference), FIELD(statement_missing, amount),
        FIELD(statement_missing, currency), FIELD(statement_missing, time_ms));

enum status store_unstated(struct order_store *handle, const struct unstated_query *query,
    struct statement_missing *rows, uint32_t max, uint32_t *count)
{
    return sql_rows(store_of(handle), query->refunds ? refunds_without : payments_without,
        VALUES(U64(query->after), TEXT(query->provider), U64(query->from_ms), U64(query->to_ms), U64(max)),
        &missing_columns, PAGE(rows, max, count));
}
