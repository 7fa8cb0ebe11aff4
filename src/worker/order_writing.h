/* SPDX-License-Identifier: Apache-2.0 */
/* worker/order_writing.h: the log becomes orders (orders/order_writer.h). Orders that fall too far
 * behind make the wins wait (orders.lag_max; wins_until of contract/inventory.h).
 *
 * Where the database takes several connections that write (writer_open of contract/order_store.h), the order
 * writer has a thread and a connection of its own: payments, cancels and operators' changes on the worker's
 * thread go on beside it. Elsewhere it is a task of the worker, on the worker's connection.
 *   the writing thread owns   the order writer, the ticket queue, its store, when it rests
 *   the worker owns           news of orders, alarms, unpaid orders, what it knows of the lag
 *   between them              worker/written_news.h
 * Wins are held, and the health is left at the link, by the thread that writes: both are for any thread.
 * Why: docs/decisions/0034-the-order-writer-has-a-connection-of-its-own.md. */
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
struct wake;

struct worker_health;

struct order_writing;
struct order_writing_config {
    /* NULL: other processes write orders; what they have written is heard by order_writing_heard, and
     * `health` says how it goes. */
    struct ticket_queue *queue;
    void (*health)(void *context, struct worker_health *health);
    void *health_context;
    struct order_store *store; /* the worker's */
    struct wake *wake;         /* the worker's */
    struct order_news *news;
    struct inventory *inventory; /* whose wins stop */
    struct link *link;           /* where its health is left */
    uint64_t lag_max;
    bool beside; /* with a thread of its own, if the database can */
    struct alarm_checks *alarms;
    struct purchase_traces *traces; /* NULL: none is followed */
    struct unpaid_orders *unpaid;
};
size_t order_writing_bytes(void);
MUST_CHECK enum status order_writing_open(struct order_writing **writing, struct arena *arena,
    const struct order_writing_config *config, struct task *task);
/* Once, before the worker's first round, when its store is set up. */
MUST_CHECK enum status order_writing_start(struct order_writing *writing);
/* Without a queue, one thread, which hears of it: an order was written or changed (ticket 0: many were);
 * and: that was all for now. */
void order_writing_heard(struct order_writing *writing, uint64_t ticket, uint64_t user);
void order_writing_heard_end(struct order_writing *writing);
/* The worker's thread. */
bool order_writing_is_behind(const struct order_writing *writing); /* far enough to write without rest */
bool order_writing_was_filled(const struct order_writing *writing); /* the last transaction */
/* A stop: what the log has by now is to be written. */
void order_writing_last(struct order_writing *writing);
/* Nothing is left, or it can't be written now. */
bool order_writing_is_done(const struct order_writing *writing);

#endif
