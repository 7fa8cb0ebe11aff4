/* SPDX-License-Identifier: Apache-2.0 */
/* worker/order_writing.h: the log becomes orders (orders/order_writer.h). Orders that fall too far
 * behind stop the wins (orders.lag_max); a tenth below the bound they go on.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_ORDER_WRITING_H
#define STAMPEDE_WORKER_ORDER_WRITING_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alarm_checks;
struct arena;
struct inventory;
struct link;
struct order_news;
struct order_store;
struct task;
struct ticket_queue;
struct unpaid_orders;

struct order_writing;
struct order_writing_config {
    struct ticket_queue *queue;
    struct order_store *store;
    struct order_news *news;
    struct inventory *inventory; /* whose wins stop */
    struct link *link;           /* where its health is left */
    uint64_t lag_max;
    struct alarm_checks *alarms;
    struct unpaid_orders *unpaid;
};
size_t order_writing_bytes(void);
MUST_CHECK enum status order_writing_open(struct order_writing **writing, struct arena *arena,
    const struct order_writing_config *config, struct task *task);
bool order_writing_is_behind(const struct order_writing *writing); /* far enough to write without rest */
bool order_writing_was_filled(const struct order_writing *writing); /* the last transaction */
/* Nothing is left, or it can't be written now. */
bool order_writing_is_done(const struct order_writing *writing);

#endif
