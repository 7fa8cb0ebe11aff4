/* orders/order_state.h: the legal moves of an order, as data. Pure functions, any thread. */
#ifndef STAMPEDE_ORDERS_ORDER_STATE_H
#define STAMPEDE_ORDERS_ORDER_STATE_H

#include "contract/order_store.h"

enum order_event {
    ORDER_EVENT_PAY,
    ORDER_EVENT_EXPIRE,
    ORDER_EVENT_CANCEL,
    ORDER_EVENT_REJECT, /* the database refused the order itself */
    ORDER_EVENT_REFUND,
    ORDER_EVENTS,
};

/* Where the event leads; ORDER_NONE: refused, the order stays as it is. */
enum order_state order_state_next(enum order_state state, enum order_event event);
/* Why an order that the event closed is closed. */
enum order_reason order_state_reason(enum order_event event);
bool order_state_move_is_legal(enum order_state from, enum order_state to);
bool order_state_holds_stock(enum order_state state); /* its units are not for anybody else */
bool order_state_is_final(enum order_state state);
/* As the API spells them; NULL for REASON_NONE. */
const char *order_state_name(enum order_state state);
const char *order_reason_name(enum order_reason reason);

#endif
