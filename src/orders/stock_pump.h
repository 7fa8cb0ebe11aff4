/* SPDX-License-Identifier: Apache-2.0 */
/* orders/stock_pump.h: brings stock events of the store to the inventory, each applied once.
 * An event is written with the change of the order that causes it. The pump submits it as a SETTLE
 * command; the engine applies a step of a ticket once, however often it is asked; the journal
 * carries the step back to the store, which confirms the event in the same transaction as
 * everything else. Until then the event stays open and a restarted pump submits it again. So
 * nothing that crashes can lose a unit or return it twice.
 *
 * The record may be long on its way, behind a backlog of orders. The pump does not wait for it: an event that
 * the inventory has answered makes room for the next one. Every STOCK_PUMP_ROUND_MS the pump begins again
 * with the oldest open event, so that an answer which no record followed is asked again.
 *
 * Thread: the store thread only; time comes in as now_ms.
 * Memory: one arena, at create.
 * Errors: a store that is away: the turn does nothing and says so. An event that the engine refuses
 * for good stays open, raises an alarm, and is tried again slowly. */
#ifndef STAMPEDE_ORDERS_STOCK_PUMP_H
#define STAMPEDE_ORDERS_STOCK_PUMP_H

#include "base/arena.h"
#include "contract/inventory.h"
#include "contract/order_store.h"

enum {
    STOCK_PUMP_FLIGHT_MAX = 256,
    STOCK_PUMP_RECENT = 1024,     /* tickets of the last answers */
    STOCK_PUMP_LOOK_MS = 20,      /* between looks into the store */
    STOCK_PUMP_AGAIN_MS = 100,    /* after "not now" from the inventory */
    STOCK_PUMP_REFUSED_MS = 5000, /* after a refusal */
    STOCK_PUMP_ROUND_MS = 5000,
};
/* The pump's tags have the highest bit set, so that it can share a port. */
static const uint64_t STOCK_PUMP_TAG = (uint64_t)1 << 63;

struct stock_pump_config {
    struct order_store *store;
    struct inventory_port *port;
    uint32_t offer_window_ms; /* for those in line who are served by a return: time to pay */
    bool port_is_shared; /* true: the port's owner collects answers and gives them to stock_pump_answer */
    uint32_t flight_max; /* 0: STOCK_PUMP_FLIGHT_MAX */
    /* A user let a win go; NULL: nobody wants to know. One whose record overtakes the answer is not told. */
    void (*let_go)(void *context, user_id user);
    void *context;
    /* The inventory has taken a step of this ticket: its answer says so, or its record. user 0: whoever the
     * order says. NULL: nobody wants to know. */
    void (*settled)(void *context, ticket_number ticket, user_id user);
    void *settled_context;
};

struct stock_pump_progress {
    uint32_t open;      /* events that are not answered, and later ones; at most flight_max */
    uint32_t asked;     /* of these: submitted, not answered */
    uint32_t submitted; /* in this turn */
    uint32_t refused;   /* open events that the engine refuses: a person must look */
    uint32_t wait_ms;
};

struct stock_pump;
size_t stock_pump_bytes(void);
struct stock_pump *stock_pump_create(struct arena *arena, const struct stock_pump_config *config);
MUST_CHECK enum status stock_pump_turn(
    struct stock_pump *pump, uint64_t now_ms, struct stock_pump_progress *progress);
/* An order has moved: the next turn looks into the store at once. */
void stock_pump_look(struct stock_pump *pump);
/* How often the pump has looked into the store. */
uint64_t stock_pump_looks(const struct stock_pump *pump);
/* Whether a step of this ticket has not been answered by the inventory yet. since: stock_pump_looks when the
 * order moved; a later look has seen its event. STOCK_PUMP_ANY_LOOK: that is not known; "yes" while any
 * order has moved that nobody has looked for. */
#define STOCK_PUMP_ANY_LOOK UINT64_MAX
bool stock_pump_is_open(const struct stock_pump *pump, ticket_number ticket, uint64_t since);
/* False: not an answer to the pump. */
bool stock_pump_answer(struct stock_pump *pump, uint64_t now_ms, const struct inventory_answer *answer);

#endif
