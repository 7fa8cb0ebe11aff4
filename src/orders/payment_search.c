/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/payment_search.h"

#include "base/log.h"
#include "contract/payment_reference.h"

#include <stdio.h>

static const struct payment_store_ops *ops_of(const struct cashier *cashier)
{
    return cashier->config.store->ops->payment;
}

static const char *provider_after(const struct cashier *cashier, const char *provider)
{
    return cashier->config.provider_after == NULL
        ? NULL
        : cashier->config.provider_after(cashier->config.context, provider);
}

static enum status attempt_search(
    struct cashier *cashier, const struct payment *payment, bool known, uint64_t now_ms)
{
    struct payment_search search = { .ticket = payment->ticket };
    const char *first = provider_after(cashier, NULL);
    uint64_t order_id;
    uint32_t attempt;
    if (first == NULL || !payment_reference_read(payment->reference, &order_id, &attempt)
        || attempt == PAYMENTS_PER_ORDER || (!known && attempt > 1))
        return STATUS_OK;
    snprintf(search.provider, sizeof search.provider, "%s", first);
    payment_reference_write(order_id, attempt + 1, search.reference);
    cashier_look(cashier);
    return ops_of(cashier)->search(cashier->config.store, &search, 1, now_ms);
}

enum status payment_search_known(struct cashier *cashier, const struct payment *payment, uint64_t now_ms)
{
    log_info("cashier", "payment %s of %s was found after the restore", payment->reference,
        payment->provider);
    return attempt_search(cashier, payment, true, now_ms);
}

enum status payment_search_unknown(struct cashier *cashier, const struct payment *payment, uint64_t now_ms)
{
    struct order_store *store = cashier->config.store;
    const char *next = provider_after(cashier, payment->provider);
    struct order after;
    cashier_look(cashier);
    if (next != NULL)
        return ops_of(cashier)->search_next(store, payment->id, next, now_ms);
    /* The next attempt first: meanwhile the order must not be closed. */
    enum status status = attempt_search(cashier, payment, false, now_ms);
    if (status == STATUS_OK)
        status = ops_of(cashier)->search_end(store, payment->id, now_ms, &after);
    if (status == STATUS_OK)
        cashier->config.changed(cashier->config.context, &after);
    return status;
}

/* ---- the beginning ---- */

static enum status search_of(const struct payment_search_config *config, const struct order *order,
    struct payment_search *search, bool *wanted)
{
    struct payment known[PAYMENTS_PER_ORDER];
    uint32_t count = 0;
    struct order_store *store = config->store;
    const enum status status =
        store->ops->payment->of_order(store, order->ticket, known, PAYMENTS_PER_ORDER, &count);
    if (status != STATUS_OK)
        return status;
    const uint32_t attempt = payment_reference_next(known, count);
    *wanted = attempt <= PAYMENTS_PER_ORDER;
    for (uint32_t i = 0; i < count; i++)
        *wanted &= !known[i].searched || known[i].state == PAYMENT_CAPTURED; /* it is under way */
    *search = (struct payment_search){ .ticket = order->ticket };
    snprintf(search->provider, sizeof search->provider, "%s", config->provider);
    payment_reference_write(config->order_id(config->context, order->ticket), attempt, search->reference);
    return STATUS_OK;
}

enum status payment_search_begin(const struct payment_search_config *config, ticket_number newest,
    uint64_t now_ms, uint64_t *orders)
{
    static struct order rows[RESTORE_SEARCH_MAX]; /* one thread at the start */
    static struct payment_search searches[RESTORE_SEARCH_MAX];
    struct order_store *store = config->store;
    uint32_t count = RESTORE_SEARCH_MAX;
    enum status status = STATUS_OK;
    *orders = 0;
    for (ticket_number after = 0; count == RESTORE_SEARCH_MAX && status == STATUS_OK;) {
        uint32_t wanted = 0;
        status = store->ops->restore->orders(store, after, newest, rows, RESTORE_SEARCH_MAX, &count);
        for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
            bool search = false;
            after = rows[i].ticket;
            status = search_of(config, &rows[i], &searches[wanted], &search);
            wanted += search;
        }
        if (status == STATUS_OK)
            status = store->ops->payment->search(store, searches, wanted, now_ms);
        *orders += wanted;
    }
    return status;
}
