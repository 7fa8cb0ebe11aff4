/* SPDX-License-Identifier: Apache-2.0 */
/* orders/payment_search.h: payments that a restored database does not know. A payment that is
 * `searched` stands for the question whether there was such an attempt: each provider in turn is
 * asked to close it and what became of it. One that a provider knows leads to the question about the
 * next attempt; the second attempt is asked about in any case, since some providers do not know a
 * payment before somebody has come to pay it.
 * Thread, errors: as the cashier (orders/cashier.h). */
#ifndef STAMPEDE_ORDERS_PAYMENT_SEARCH_H
#define STAMPEDE_ORDERS_PAYMENT_SEARCH_H

#include "orders/cashier.h"

/* The provider of this searched payment does not know it. */
MUST_CHECK enum status payment_search_unknown(
    struct cashier *cashier, const struct payment *payment, uint64_t now_ms);
/* It knows it, and the news of it are learned: there may be a next attempt. */
MUST_CHECK enum status payment_search_known(
    struct cashier *cashier, const struct payment *payment, uint64_t now_ms);

/* After a restore: begins the search for payments of all orders that may have had some, above
 * `newest` and those that contract/restore.h lists. *orders: how many. */
struct payment_search_config {
    struct order_store *store;
    const char *provider;                                      /* the first to ask */
    uint64_t (*order_id)(void *context, ticket_number ticket); /* as it is in references */
    void *context;
};
MUST_CHECK enum status payment_search_begin(const struct payment_search_config *config,
    ticket_number newest, uint64_t now_ms, uint64_t *orders);

#endif
