/* SPDX-License-Identifier: Apache-2.0 */
/* Payments that may have been made before a restore (contract/payment.h, `search`): a row stands for
 * the question until a provider has answered it. While it is there its order is not closed. */
#include "contract/payment_rules.h"
#include "store/parts.h"

static_assert(PAYMENT_CLOSING == 3 && PAYMENT_CLOSED == 5, "said in numbers in the statements");

/* An order that is not there has no payments; one that is known is not asked about. */
static enum status search_write(struct store *store, const void *rows, uint32_t index, uint64_t now_ms)
{
    const struct payment_search *search = (const struct payment_search *)rows + index;
    struct payment payment;
    struct order order;
    char currency[4] = "";
    enum status status = store_order_lock(store, search->ticket);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    status = store_payment_by_reference(&store->store, search->reference, &payment);
    if (status != STATUS_NOT_FOUND)
        return status;
    status = store_order_by_ticket(&store->store, search->ticket, &order);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status == STATUS_OK)
        status = store_currency(store, order.item, currency);
    if (status != STATUS_OK)
        return status;
    payment_search_make(search, &order, currency, now_ms, &payment);
    return store_payment_insert(store, &payment);
}

enum status store_payment_search(
    struct order_store *handle, const struct payment_search *list, uint32_t count, uint64_t now_ms)
{
    invariant(count <= RESTORE_SEARCH_MAX);
    return store_rows_write(store_of(handle), search_write, list, count, now_ms);
}

enum status store_payment_search_next(
    struct order_store *handle, uint64_t id, const char *provider, uint64_t now_ms)
{
    return sql_do(store_of(handle),
        "UPDATE payments SET provider = ?2, tries = 0, next_ms = ?3, closing_ms = ?3"
        " WHERE id = ?1 AND searched = 1 AND (state = 3 OR (state = 5 AND next_ms > 0))",
        VALUES(U64(id), TEXT(provider), U64(now_ms)));
}

static enum status search_end_once(
    struct order_store *handle, uint64_t id, uint64_t now_ms, struct order *after)
{
    struct store *store = store_of(handle);
    struct store_change change;
    struct payment payment;
    enum status status = store_change_begin(&change, store);
    if (status == STATUS_OK)
        status = store_payment_lock(store, id, true);
    if (status == STATUS_OK)
        status = store_payment_get(handle, id, &payment);
    if (status == STATUS_OK)
        status = store_order_by_ticket(handle, payment.ticket, after);
    if (status == STATUS_OK)
        status = sql_do(store, "DELETE FROM payments WHERE id = ?1 AND searched = 1 AND state IN (3, 5)",
            VALUES(U64(id)));
    if (status == STATUS_OK)
        status = store_order_close_waiting(&change.batch, after, now_ms);
    return store_change_end(&change, status, true);
}

enum status store_payment_search_end(
    struct order_store *handle, uint64_t id, uint64_t now_ms, struct order *after)
{
    struct store_tries tries = { 0 };
    enum status status;
    STORE_TRIES (store_of(handle), &tries, &status)
        status = search_end_once(handle, id, now_ms, after);
    return status;
}
