/* SPDX-License-Identifier: Apache-2.0 */
/* contract/fulfilment.h: the goods of an order on their way, beside its money. An order that is paid is
 * shipped, then delivered; its state stays paid, and a refund stays possible at any time.
 *
 *   NONE ── ship ──► SHIPPED ── deliver ──► DELIVERED
 *                      ▲ │
 *                      └─┘ ship with `replace`: another carrier or tracking number
 *
 * What was shipped before a refund may still arrive: a refunded order is delivered, too. Nothing is shipped
 * of an order that is not paid. The legal moves are data (fulfilment.c); a store asks there.
 * Thread, errors: as the order store (order_store.h). The decision: a pure function, any thread. */
#ifndef STAMPEDE_CONTRACT_FULFILMENT_H
#define STAMPEDE_CONTRACT_FULFILMENT_H

#include "contract/order_store.h"

enum { CARRIER_MAX = 64, TRACKING_MAX = 64, FULFIL_MOVES_MAX = 100 };

enum fulfil_state { FULFIL_NONE, FULFIL_SHIPPED, FULFIL_DELIVERED, FULFIL_STATES };
enum fulfil_event { FULFIL_SHIP, FULFIL_DELIVER, FULFIL_EVENTS };

struct shipment {
    ticket_number ticket;
    uint8_t state; /* enum fulfil_state */
    char carrier[CARRIER_MAX + 1];
    char tracking[TRACKING_MAX + 1];
    uint64_t shipped_ms, delivered_ms; /* 0: not yet */
};
struct fulfil_move {
    ticket_number ticket;
    uint8_t event; /* enum fulfil_event */
    bool replace;  /* ship: another carrier or tracking number takes the place of the known one */
    char carrier[CARRIER_MAX + 1];
    char tracking[TRACKING_MAX + 1];
    uint64_t now_ms;
};
enum fulfil_answer {
    FULFIL_DONE,
    FULFIL_REPEATED,    /* it was so already: nothing changed */
    FULFIL_UNKNOWN,     /* there is no such order */
    FULFIL_NOT_PAID,    /* not from the state that the order is in */
    FULFIL_NOT_SHIPPED, /* deliver: nothing is on its way */
    FULFIL_OTHER,       /* ship: it is on its way with another carrier or number */
    FULFIL_OVER,        /* ship: it was delivered, with another carrier or number */
    FULFIL_ANSWERS,
};

/* What becomes of the move. `shipment`: as it is, with state FULFIL_NONE where there is none. FULFIL_DONE:
 * *shipment is what it becomes. */
enum fulfil_answer fulfil_decide(
    const struct fulfil_move *move, const struct order *order, struct shipment *shipment);
const char *fulfil_state_name(enum fulfil_state state);    /* "none", "shipped", "delivered" */
const char *fulfil_answer_text(enum fulfil_answer answer); /* one sentence, for a report by line */

/* A part of the order store's operations. */
struct fulfil_store_ops {
    /* STATUS_NOT_FOUND: nothing was shipped. */
    enum status (*get)(struct order_store *, ticket_number, struct shipment *);
    /* One transaction, at most FULFIL_MOVES_MAX, each by itself: one that is refused changes nothing.
     * `check`: all of them only tell what they would come to. after[i]: the order then (not for
     * FULFIL_UNKNOWN). */
    enum status (*move)(struct order_store *, const struct fulfil_move *, uint32_t count,
        bool check, struct order *after, uint8_t *answers);
};

#endif
