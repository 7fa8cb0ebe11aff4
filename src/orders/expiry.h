/* SPDX-License-Identifier: Apache-2.0 */
/* orders/expiry.h: orders that nobody paid in time are closed, and their units return.
 * Never early: the store compares with the order's own deadline, and server time does not run
 * behind the log. Orders from before the start get a grace counted from the start, because nobody
 * could pay while the server was down. Whoever pays before the closing transaction has paid: the
 * deadline alone closes nothing.
 *
 * Thread: the store thread only; time comes in as now_ms.
 * Errors: a store that is away: the turn says so, and the same orders are tried again later. */
#ifndef STAMPEDE_ORDERS_EXPIRY_H
#define STAMPEDE_ORDERS_EXPIRY_H

#include "contract/order_store.h"

enum { EXPIRY_AGAIN_MS = 200 }; /* after trouble with the store */

struct expiry_config {
    struct order_store *store;
    uint64_t started_ms, grace_ms;
    void (*changed)(void *context, ticket_number ticket, user_id user); /* an order was closed */
    void *changed_context;
};

struct expiry {
    struct expiry_config config;
    uint64_t look_ms; /* nothing is due before this */
    ticket_number tickets[ORDER_MOVES_MAX];
    struct order_move moves[ORDER_MOVES_MAX];
    struct order after[ORDER_MOVES_MAX];
    uint8_t answers[ORDER_MOVES_MAX];
};

void expiry_start(struct expiry *expiry, const struct expiry_config *config);
/* Orders were written: the next deadline may be nearer than it was. */
void expiry_look(struct expiry *expiry);
/* Closes at most ORDER_MOVES_MAX orders. */
MUST_CHECK enum status expiry_turn(struct expiry *expiry, uint64_t now_ms, uint32_t *closed);

#endif
