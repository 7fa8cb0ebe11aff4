/* SPDX-License-Identifier: Apache-2.0 */
/* contract/order_state.h: the legal moves of an order, as data, and what a store answers to one.
 * Every store asks here, so that no two of them can disagree. Pure functions, any thread. */
#ifndef STAMPEDE_CONTRACT_ORDER_STATE_H
#define STAMPEDE_CONTRACT_ORDER_STATE_H

#include "contract/order_store.h"

/* Where the event leads; ORDER_NONE: refused, the order stays as it is. */
enum order_state order_state_next(enum order_state state, enum order_event event);
/* Why an order that the event closed is closed. */
enum order_reason order_state_reason(enum order_event event);
/* Which payment has paid the order. PAYER_THIS: the move's reference is the one. */
enum order_payer { PAYER_NONE, PAYER_THIS, PAYER_OTHER };
/* What the store knows of the order's money. */
struct order_money {
    enum order_payer payer;
    bool reference_used; /* the move's reference names a payment that did not pay this order */
    uint32_t live;       /* payments that are STARTED, OPEN or CLOSING */
    bool shipped;        /* asked for with unless_shipped only */
};
/* What becomes of the move of this order. `currency`: the order's. MOVE_DONE: *to is where it goes.
 * A payment is also taken for an order that is paid by none that anybody knows, which after a
 * restore may be: it stays paid. Such an order is not refunded. */
enum move_answer order_move_decide(const struct order_move *move, const struct order *order,
    const char *currency, const struct order_money *money, enum order_state *to);
/* The order is to be closed as soon as its payments are, and `live` of them are left. True: it is closed
 * now, by *event. */
bool order_ending_event(const struct order *order, uint32_t live, enum order_event *event);
/* Whether an order with `live` payments keeps `reason` to be closed with later. It keeps the first one
 * that it was given; one without live payments is moved by the caller at once. */
bool order_ending_is_kept(const struct order *order, uint32_t live, enum order_reason reason);
/* The step that the inventory must take for a move that was done. */
enum settle_step order_move_step(const struct order_move *move);
/* Where a returned unit goes. */
channel_index order_move_destination(const struct order_move *move, const struct order *order);
bool order_state_move_is_legal(enum order_state from, enum order_state to);
bool order_state_holds_stock(enum order_state state); /* its units are not for anybody else */
bool order_state_is_final(enum order_state state);
/* As the API spells them; NULL for REASON_NONE. */
const char *order_state_name(enum order_state state);
const char *ticket_state_name(enum ticket_state state); /* in words, for reports */
const char *order_reason_name(enum order_reason reason);

#endif
