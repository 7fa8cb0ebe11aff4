#include "orders/order_state.h"

#include <stddef.h>

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

static const char *const state_names[ORDER_STATES] = { "creating", "pending", "paid", "closed",
    "refunded" };
static const char *const reason_names[ORDER_REASONS] = { NULL, "expired", "cancelled", "rejected" };

enum order_state order_state_next(enum order_state state, enum order_event event)
{
    invariant(state < ORDER_STATES && event < ORDER_EVENTS);
    return order_next[state][event];
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

const char *order_reason_name(enum order_reason reason)
{
    invariant(reason < ORDER_REASONS);
    return reason_names[reason];
}
