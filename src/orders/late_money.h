/* SPDX-License-Identifier: Apache-2.0 */
/* orders/late_money.h: a unit for money that came after its order was over (USE_LATE).
 *
 * The unit is a RESERVE under a key of the payment's own, so that however often it is asked for, also
 * after a crash, it is one ticket. Free units belong to those who wait in line, first: while one of
 * them could be offered what is free, late money does not ask.
 *
 * Thread: the store thread only; time comes in as now_ms. The port is shared: its owner collects and
 * hands answers to late_money_answer. Memory: plain data, bounded. */
#ifndef STAMPEDE_ORDERS_LATE_MONEY_H
#define STAMPEDE_ORDERS_LATE_MONEY_H

#include "contract/board.h"
#include "contract/inventory.h"
#include "contract/payment.h"

enum { LATE_ASKS_MAX = 64 }; /* payments whose answer is on its way, or was not fetched yet */
static const uint64_t LATE_MONEY_TAG = (uint64_t)1 << 60;

struct late_money_config {
    struct order_store *store;
    struct inventory_port *port;
    const struct board *board;
    /* The same for a payment whenever it is asked; secret, so that no user can choose it. */
    uint64_t (*key)(void *context, const struct payment *payment, user_id user);
    void *context;
};
struct late_ask {
    uint64_t payment; /* 0: free */
    bool answered;
    struct outcome outcome;
};
struct late_money {
    struct late_money_config config;
    struct late_ask asks[LATE_ASKS_MAX];
};

void late_money_start(struct late_money *late, const struct late_money_config *config);
/* STATUS_OK: the inventory's answer. STATUS_BUSY: it is asked, the answer will come. STATUS_AWAY: it is
 * not asked now: others wait for these units, or there is no room. Other errors: the store's. */
MUST_CHECK enum status late_money_unit(struct late_money *late, const struct payment *payment,
    const struct order *order, uint64_t now_ms, struct outcome *outcome);
/* False: somebody else's. */
bool late_money_answer(struct late_money *late, const struct inventory_answer *answer);

#endif
