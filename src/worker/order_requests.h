/* SPDX-License-Identifier: Apache-2.0 */
/* worker/order_requests.h: orders moved: a user's own for the public API, any for the admin's.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_ORDER_REQUESTS_H
#define STAMPEDE_WORKER_ORDER_REQUESTS_H

#include "base/status.h"

#include <stdbool.h>

struct job;
struct order;
struct order_move;
struct text;
struct worker;

/* Makes the move; answers the job unless it is done or repeated (then: true). */
MUST_CHECK bool worker_order_move(struct worker *worker, struct job *job,
    const struct order_move *move, struct order *after, bool *done);
/* The order as JSON; "returning" as long as its units are on their way. */
void worker_returned_json(struct worker *worker, const struct order *order, struct text *out);
/* The order was cancelled or refunded: answers when its units are back in the inventory, or soon. */
void worker_return_reply(struct worker *worker, struct job *job, const struct order *order, bool done);
/* Handed in again by the edge: there is news of the order, or the time is up. */
void worker_return_job(struct worker *worker, struct job *job);

#endif
