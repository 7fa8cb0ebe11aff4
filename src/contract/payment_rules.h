/* SPDX-License-Identifier: Apache-2.0 */
/* contract/payment_rules.h: what becomes of payments, money and refunds (contract/payment.h). A store
 * reads the rows, asks here, and writes what it is told, in one transaction; it decides nothing itself,
 * so that no two of them can disagree.
 *
 *   captured, its order is ...   use
 *   pending                      ORDER     pending → paid, other payments of it are closed
 *   paid (by another one)        REFUND    double
 *   paid, by none that we know   ORDER     after a restore: this was it
 *   refunded, the same           ORDER     and goes back, like any money of a refunded order
 *   closed, refunded             LATE      the cashier looks for a unit: relink or give_back
 *   any, another amount          REFUND    if we asked; a callback only makes us ask
 *   not paid, its payer has      REFUND    a pending order is closed with it (enum payer_limit)
 *     bought enough
 *
 * What was captured is never taken back by later news; what came too late never reopens an order. A
 * payment that is closed without its provider's word keeps a next_ms: it is unanswered, and due.
 * Pure functions, any thread. */
#ifndef STAMPEDE_CONTRACT_PAYMENT_RULES_H
#define STAMPEDE_CONTRACT_PAYMENT_RULES_H

#include "contract/payment.h"

bool payment_is_live(const struct payment *payment); /* money may come by it, and its order waits for that */
bool payment_is_payable(const struct payment *payment); /* live, and the user may still pay it */

/* Starting. `tried`: all payments of the order, at most PAYMENTS_PER_ORDER. START_REPEATED: *same is the
 * one that is there. START_DONE: payment_start_make. */
enum start_answer payment_start_decide(const struct payment_start *start, const struct order *order,
    const struct payment *tried, uint32_t count, bool details_missing, const struct payment **same);
/* Whether the start makes the order's time to pay longer, and until when. */
bool payment_start_extends(
    const struct payment_start *start, const struct order *order, uint64_t *pay_by_ms);
/* The row of a payment that starts, without its id; `order` has its time to pay already. */
void payment_start_make(const struct payment_start *start, const struct order *order,
    const char *currency, struct payment *payment);
/* The row of money that the shop itself reports: it has paid the order. Without its id. */
void payment_by_shop_make(const struct order_move *move, struct payment *payment);
/* The row that stands for the question whether there was such a payment, without its id. */
void payment_search_make(const struct payment_search *search, const struct order *order,
    const char *currency, uint64_t now_ms, struct payment *payment);
/* The provider has it, under this name and address; changes *payment. */
void payment_opened_apply(
    struct payment *payment, const char *provider_id, const char *url, uint64_t next_ms);

/* News. *payment is changed to what it is then. */
struct news_verdict {
    uint8_t answer;   /* enum learn_answer */
    bool changed;     /* the payment is to be written */
    bool pays;        /* the order is paid by it: ORDER_EVENT_PAY */
    bool refund;      /* a refund intent is to be written */
    bool order_freed; /* one payment less holds the order: order_ending_event is to be asked */
    bool rejects;     /* the order is closed: ORDER_EVENT_REJECT, LIMIT_PAYER */
    uint8_t why;      /* enum refund_why */
};
/* The item's limit per payment identity, and who paid. */
enum payer_limit {
    PAYER_FREE,   /* there is none, or it is kept */
    PAYER_WANTED, /* there is one, and nobody has said who paid: a callback makes us ask */
    PAYER_OVER,   /* it would be passed */
};
/* `payer_known`: some payment has paid `order`, which is the payment's. */
struct news_verdict payment_news_decide(const struct payment_news *news, const struct order *order,
    bool payer_known, enum payer_limit limit, struct payment *payment);

/* Late money and the order that it has got a unit for. *payment is changed for PAYS and GIVES_BACK. */
enum relink_verdict {
    RELINK_PAYS, /* the order is paid by it: ORDER_EVENT_PAY */
    RELINK_GIVES_BACK, /* not an order that this money is for, or too much for its payer: a refund intent */
    RELINK_REPEATED, /* it has paid this order already */
    RELINK_OVER,     /* something else became of it already */
};
/* `first`: the order that the payment was for; `payer_known`: some payment has paid `order`; `apart`:
 * `first` is the deposit of a booking that can't go on with `order` (policy/booking_rules.h). */
enum relink_verdict payment_relink_decide(const struct order *first, const struct order *order,
    bool payer_known, bool apart, enum payer_limit limit, struct payment *payment);
/* Late money gets no unit. True: *payment is changed, and a refund intent is to be written. */
bool payment_give_back_decide(struct payment *payment);

/* The intent to give a payment's money back, without its id; `parts`: so much of it went back before.
 * `currency`: what came; not three letters: the payment's. The shop moves its money itself, and nothing
 * needs no provider: those are done. */
void refund_make(const struct payment *payment, const char *currency, enum refund_why why,
    uint64_t parts, uint64_t now_ms, struct refund *refund);
/* Whether a part may go back. `payer`: the payment that has paid the order, NULL: none is known; `same`: the
 * part of this key, NULL: there is none; `parts` and `count`: of that payment, so far. */
enum part_answer refund_part_decide(const struct part_refund *part, const struct order *order,
    const struct payment *payer, const struct refund *same, uint64_t parts, uint32_t count);
/* Its row, without its id. */
void refund_part_make(const struct part_refund *part, const struct payment *payer, struct refund *refund);
/* How it is named to the provider: the same for the same payment and key, also after a restore. */
void refund_part_key(
    const struct payment *payment, const char *asked, char key[REFERENCE_BYTES_MAX + 1]);
/* How the refund of this payment is named to its provider, for ever. */
void refund_key(const struct payment *payment, char key[REFERENCE_BYTES_MAX + 1]);

#endif
