/* SPDX-License-Identifier: Apache-2.0 */
/* orders/cashier.h: follows the money of orders to its end, whatever is lost on the way.
 *
 * Everything it does follows from what the store has: payments and refunds that are due. A payment
 * that was started is created at its provider; one that is open is asked about, more and more
 * seldom; one whose order's time is over, or whose user has cancelled, is closed at the provider
 * before the order is; money that came too late asks for a unit or goes back; a refund is asked for
 * until the provider confirms it. A callback only brings the news sooner. So a crash loses nothing:
 * after a restart the same rows are due.
 *
 *   due                        asked of the provider      the answer leads to
 *   STARTED                    CREATE                     OPEN with an address to pay at
 *   OPEN                       QUERY                      captured, closed, or asked again later
 *   STARTED, OPEN, too late    – (becomes CLOSING)
 *   CLOSING                    CLOSE, and QUERY in turn   closed, captured; closed all the same after
 *                                                         close_wait_ms, and then unanswered
 *   unanswered                 QUERY, and CLOSE in turn   closed, captured (then late); asked about more
 *                                                         and more seldom, for ask_ms at most
 *   searched (after a restore) as CLOSING                 see orders/payment_search.h
 *   late money                 – (asks the inventory)     a new order, paid by it; or a refund intent
 *   a refund                   REFUND, and REFUND_QUERY   done; refused: stuck, alarm, tried slowly
 *
 * At most one question about a payment or refund is under way at a time.
 *
 * Thread: the store thread; time comes in as now_ms. Memory: plain data, bounded.
 * Errors: a store that is away: nothing is lost, the turn tries again later. */
#ifndef STAMPEDE_ORDERS_CASHIER_H
#define STAMPEDE_ORDERS_CASHIER_H

#include "base/hash.h"
#include "contract/command.h"
#include "contract/provider.h"
#include "orders/late_money.h"

enum {
    CASHIER_FLIGHT_MAX = 256, /* questions under way */
    /* Rows looked at in one turn. Those under way, and late money that is asked for, are due, too. */
    CASHIER_LOOK_MAX = CASHIER_FLIGHT_MAX + LATE_ASKS_MAX + 64,
    CASHIER_AWAY_MS = 500, /* after trouble with the store */
    CASHIER_CREATE_AGAIN_MS = 1000,
    CASHIER_CLOSE_AGAIN_MS = 1000,
    CASHIER_REFUND_AGAIN_MS = 2000,
    CASHIER_LATE_AGAIN_MS = 100, /* late money whose new order is being written */
    CASHIER_AGAIN_MAX_MS = 60 * 1000,
    CASHIER_UNANSWERED_MAX_MS = 60 * 60 * 1000,
    CASHIER_STUCK_MS = 10 * 60 * 1000,
    CASHIER_KEY_LIFE_MS = 12 * 60 * 60 * 1000, /* a provider remembers keys for longer */
};

static_assert((int)CASHIER_LOOK_MAX > (int)CASHIER_FLIGHT_MAX + (int)LATE_ASKS_MAX,
    "what is under way stays due and must not hide the rest");

struct cashier_config {
    struct order_store *store;
    uint32_t calls_max; /* questions under way at a time; 0: CASHIER_FLIGHT_MAX */
    uint64_t query_ms;  /* from opening to the first question; doubles up to CASHIER_AGAIN_MAX_MS */
    uint64_t close_wait_ms; /* an order is closed without an answer of the provider after this time */
    uint64_t ask_ms; /* a payment that is so old and unanswered is asked about by itself no more */
    struct hash_key payer_key; /* names of payers are kept as hashes under it */
    uint64_t late_wait_ms; /* late money is refunded when the inventory is unavailable for this time */
    /* Asks the provider. False: no room now. The answer is brought to cashier_said, exactly once,
     * later or within this call, with the same `flight`. */
    bool (*ask)(void *context, uint32_t flight, const struct provider_task *task);
    /* A unit for late money (orders/late_money.h). STATUS_BUSY: the answer is on its way, and cashier_look
     * is called when it is there. STATUS_AWAY: not asked. */
    enum status (*unit)(void *context, const struct payment *payment, const struct order *order,
        struct outcome *outcome);
    /* An order has changed by this, or what its page tells of its money (then only its ticket is known, see
     * cashier_shown), or a payment that kept it from expiring is over. */
    void (*changed)(void *context, const struct order *order);
    /* A payment can be paid now (state OPEN), or never (`error`). */
    void (*opened)(void *context, const struct payment *payment, const char *error);
    void (*stuck)(void *context, const struct refund *refund); /* a person must look */
    /* The provider that is asked next about a payment that is searched for; NULL in: the first;
     * NULL: no more, also as the function. */
    const char *(*provider_after)(void *context, const char *provider);
    void *context;
};

struct cashier_flight {
    bool used, is_refund;
    enum provider_act act;
    struct payment payment;
    struct refund refund;
};
struct cashier {
    struct cashier_config config;
    uint64_t payments_look_ms, refunds_look_ms; /* nothing is due before these */
    bool passed_over; /* something was due, but a question about it was under way */
    uint32_t under_way;
    struct cashier_flight flights[CASHIER_FLIGHT_MAX];
    struct payment due[CASHIER_LOOK_MAX];
    struct refund refunds[CASHIER_LOOK_MAX];
};

void cashier_start(struct cashier *cashier, const struct cashier_config *config);
/* Payments or refunds were written: something may be due now. */
void cashier_look(struct cashier *cashier);
/* For the files of the cashier: a refund or late money was moved, which the page of this order shows. */
void cashier_shown(struct cashier *cashier, ticket_number ticket);
/* The next look is at `at_ms` at the latest. */
static inline void cashier_look_by(uint64_t *look_ms, uint64_t at_ms)
{
    if (*look_ms > at_ms)
        *look_ms = at_ms;
}
/* The payment is due again at this time. */
MUST_CHECK enum status cashier_again(
    struct cashier *cashier, const struct payment *payment, uint64_t at_ms);
MUST_CHECK enum status cashier_turn(struct cashier *cashier, uint64_t now_ms);
void cashier_said(
    struct cashier *cashier, uint32_t index, const struct provider_said *said, uint64_t now_ms);
/* The question of the flight at `index`, as it was asked (without addresses and title). */
void cashier_task(const struct cashier *cashier, uint32_t index, struct provider_task *task);
/* News from a callback. The answer: enum learn_answer. */
MUST_CHECK enum status cashier_news(struct cashier *cashier, const char *provider,
    const struct provider_said *said, uint64_t now_ms, uint8_t *answer);

#endif
