/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/order_state.h"

#include <stddef.h>
#include <string.h>

/* The table is the specification; an empty cell is a refusal. */
static const enum order_state order_next[ORDER_STATES][ORDER_EVENTS] = {
    [ORDER_NONE] = { ORDER_NONE },
    [ORDER_PENDING] = {
        [ORDER_EVENT_PAY] = ORDER_PAID,
        [ORDER_EVENT_EXPIRE] = ORDER_CLOSED,
        [ORDER_EVENT_CANCEL] = ORDER_CLOSED,
        [ORDER_EVENT_REJECT] = ORDER_CLOSED,
    },
    [ORDER_PAID] = { [ORDER_EVENT_REFUND] = ORDER_REFUNDED }, /* no EXPIRE: paid beats the timer */
    [ORDER_CLOSED] = { ORDER_NONE },                          /* no PAY: late money never reopens an order */
    [ORDER_REFUNDED] = { ORDER_NONE },
};

static const enum order_reason event_reason[ORDER_EVENTS] = {
    [ORDER_EVENT_EXPIRE] = REASON_EXPIRED,
    [ORDER_EVENT_CANCEL] = REASON_CANCELLED,
    [ORDER_EVENT_REJECT] = REASON_REJECTED,
};

static const char *const state_names[] = { "creating", "pending", "paid", "closed", "refunded" };
static_assert(sizeof state_names / sizeof *state_names == ORDER_STATES, "a name for each");
static const char *const ticket_names[] = { "held", "sold", "returned", "written off" };
static const char *const reason_names[] = { NULL, "expired", "cancelled", "rejected" };
static_assert(sizeof reason_names / sizeof *reason_names == ORDER_REASONS, "a name for each");

enum order_state order_state_next(enum order_state state, enum order_event event)
{
    invariant(state < ORDER_STATES && event < ORDER_EVENTS);
    return order_next[state][event];
}

/* A move that was made already is no trouble; any other that the table does not have is. */
static bool move_is_repeated(
    const struct order_move *move, const struct order *order, enum order_payer payer)
{
    switch ((enum order_event)move->event) {
    case ORDER_EVENT_PAY:
        return order->state == ORDER_PAID && payer == PAYER_THIS;
    case ORDER_EVENT_REFUND:
        return order->state == ORDER_REFUNDED;
    case ORDER_EVENT_EXPIRE:
    case ORDER_EVENT_CANCEL:
    case ORDER_EVENT_REJECT:
        return order->state == ORDER_CLOSED && order->reason == event_reason[move->event];
    case ORDER_EVENTS:
        break;
    }
    return false;
}

enum move_answer order_move_decide(const struct order_move *move, const struct order *order,
    const char *currency, const struct order_money *money, enum order_state *to)
{
    const enum order_payer payer = money->payer;
    const bool pays = move->event == ORDER_EVENT_PAY;
    const bool repeated = move_is_repeated(move, order, payer);
    const bool adopts = pays && order->state == ORDER_PAID && payer == PAYER_NONE;
    *to = adopts ? ORDER_PAID
                 : order_state_next((enum order_state)order->state, (enum order_event)move->event);
    if (*to == ORDER_NONE && !repeated)
        return MOVE_REFUSED;
    if (pays && (move->amount != order->amount || strcmp(move->currency, currency) != 0))
        return MOVE_AMOUNT;
    if (repeated)
        return MOVE_REPEATED;
    if (move->event == ORDER_EVENT_REFUND && payer == PAYER_NONE)
        return MOVE_NO_PAYMENT;
    if (move->event == ORDER_EVENT_REFUND && move->unless_shipped && money->shipped)
        return MOVE_SHIPPED;
    if (move->event == ORDER_EVENT_EXPIRE && move->now_ms < order->pay_by_ms)
        return MOVE_EARLY;
    if (pays && money->reference_used)
        return MOVE_REFERENCE_USED;
    const bool closes = move->event == ORDER_EVENT_EXPIRE || move->event == ORDER_EVENT_CANCEL;
    if (closes && money->live > 0)
        return MOVE_PAYMENT_OPEN;
    return MOVE_DONE;
}

bool order_ending_event(const struct order *order, uint32_t live, enum order_event *event)
{
    *event = order->ending == REASON_EXPIRED ? ORDER_EVENT_EXPIRE : ORDER_EVENT_CANCEL;
    return order->state == ORDER_PENDING && order->ending != REASON_NONE && live == 0;
}

bool order_ending_is_kept(const struct order *order, uint32_t live, enum order_reason reason)
{
    return order->state == ORDER_PENDING && order->ending == REASON_NONE && live > 0
        && reason != REASON_NONE;
}

enum settle_step order_move_step(const struct order_move *move)
{
    if (move->event == ORDER_EVENT_PAY)
        return SETTLE_SOLD;
    const bool off = move->event == ORDER_EVENT_REFUND && move->refund_to == REFUND_TO_WRITE_OFF;
    return off ? SETTLE_WRITE_OFF : SETTLE_RETURN;
}

channel_index order_move_destination(const struct order_move *move, const struct order *order)
{
    const bool safety = move->event == ORDER_EVENT_REFUND && move->refund_to == REFUND_TO_SAFETY;
    return safety ? CHANNEL_SAFETY : order->channel;
}

enum order_reason order_state_reason(enum order_event event)
{
    invariant(event < ORDER_EVENTS);
    return event_reason[event];
}

bool order_state_move_is_legal(enum order_state from, enum order_state to)
{
    invariant(from < ORDER_STATES && to < ORDER_STATES);
    if (to == ORDER_NONE)
        return false;
    for (enum order_event event = 0; event < ORDER_EVENTS; event++) {
        if (order_next[from][event] == to)
            return true;
    }
    return false;
}

bool order_state_holds_stock(enum order_state state)
{
    return state == ORDER_PENDING || state == ORDER_PAID;
}

bool order_state_is_final(enum order_state state)
{
    for (enum order_event event = 0; event < ORDER_EVENTS; event++) {
        if (order_state_next(state, event) != ORDER_NONE)
            return false;
    }
    return state != ORDER_NONE;
}

const char *order_state_name(enum order_state state)
{
    invariant(state < ORDER_STATES);
    return state_names[state];
}

const char *ticket_state_name(enum ticket_state state)
{
    invariant(state <= TICKET_WRITTEN_OFF);
    return ticket_names[state];
}

const char *order_reason_name(enum order_reason reason)
{
    invariant(reason < ORDER_REASONS);
    return reason_names[reason];
}
