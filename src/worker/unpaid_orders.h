/* SPDX-License-Identifier: Apache-2.0 */
/* worker/unpaid_orders.h: orders that nobody paid in time are closed (orders/expiry.h).
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_UNPAID_ORDERS_H
#define STAMPEDE_WORKER_UNPAID_ORDERS_H

#include <stdint.h>

struct arena;
struct leadership;
struct order_news;
struct order_store;
struct returns;
struct task;

struct unpaid_orders;
struct unpaid_orders_config {
    struct order_store *store;
    uint64_t grace_ms;
    struct order_news *news;
    struct returns *returns;
    const struct leadership *leadership; /* its beginning counts as a start; NULL: none */
};
struct unpaid_orders *unpaid_orders_open(
    struct arena *arena, const struct unpaid_orders_config *config, struct task *task);
/* Orders were written: the next deadline may be nearer than it was. */
void unpaid_orders_look(struct unpaid_orders *unpaid);

#endif
