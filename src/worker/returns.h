/* SPDX-License-Identifier: Apache-2.0 */
/* worker/returns.h: units on their way back to the inventory: stock events are brought to it
 * (orders/stock_pump.h), and those in line are served (orders/waitlist.h).
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_RETURNS_H
#define STAMPEDE_WORKER_RETURNS_H

#include "contract/types.h"

#include <stdbool.h>
#include <stddef.h>

struct alarm_checks;
struct arena;
struct board;
struct inventory_port;
struct money;
struct order_news;
struct order_store;
struct task;

enum { RETURN_WAIT_MS = 2000 }; /* how long a request waits for the units that it gave back */

struct returns;
struct returns_config {
    struct order_store *store;
    struct inventory_port *port; /* of the pump, the waitlist and late money */
    const struct board *board;
    uint32_t offer_window_ms;                    /* to pay, for those in line */
    bool has_line;                               /* as in orders/waitlist.h */
    void (*let_go)(void *context, user_id user); /* a user let a win go */
    void *let_go_context;
    struct order_news *news;
    struct alarm_checks *alarms;
    struct money *money; /* gets the answers of late money */
};
size_t returns_bytes(void);
struct returns *returns_open(struct arena *arena, const struct returns_config *config, struct task *task);
void returns_look(struct returns *returns); /* an order has moved: there may be units to bring back */
void returns_look_line(struct returns *returns); /* somebody waits now: units may be free */
/* Whether the inventory does not have the units of this ticket yet. since: returns_looks when its order
 * moved; STOCK_PUMP_ANY_LOOK: not known (orders/stock_pump.h). */
uint64_t returns_looks(const struct returns *returns);
bool returns_is_open(const struct returns *returns, ticket_number ticket, uint64_t since);
/* Somebody waits for units that are on their way: until then they do not rest. */
void returns_hurry(struct returns *returns, uint64_t until_ms);

#endif
