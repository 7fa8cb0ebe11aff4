/* SPDX-License-Identifier: Apache-2.0 */
/* worker/view_requests.h: what only shows a user its orders: one of them, all of them, what its push
 * connection is to be told, and whether one more is within a limit over a period.
 * Thread: the one that owns the views' store; a reader's (worker/view_readers.h). */
#ifndef STAMPEDE_WORKER_VIEW_REQUESTS_H
#define STAMPEDE_WORKER_VIEW_REQUESTS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct job;
struct order_views;
struct text;

/* Answers the job. False: the database could not say. */
bool view_request_answer(const struct order_views *views, struct job *job);
/* Answers it by the view that processes share, if that was read at most so long ago. False: it does not. */
bool view_request_cached(const struct order_views *views, struct job *job, uint64_t age_max_ms);
/* Answers it without a look: the database can't say. */
void view_request_refuse(struct job *job);

/* "orders":[…] of the job's user, the newest ones. */
MUST_CHECK enum status view_orders_text(
    const struct order_views *views, const struct job *job, struct text *out);
/* push_text.c */
MUST_CHECK enum status view_push_text(const struct order_views *views, struct job *job, struct text *out);

#endif
