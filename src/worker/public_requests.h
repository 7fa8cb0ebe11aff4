/* SPDX-License-Identifier: Apache-2.0 */
/* worker/public_requests.h: the handlers of requests of users (api/public_routes.h). Each runs on
 * the worker, answers the job, and changes nothing when it refuses. */
#ifndef STAMPEDE_WORKER_PUBLIC_REQUESTS_H
#define STAMPEDE_WORKER_PUBLIC_REQUESTS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct board_update;
struct job;
struct order;
struct worker;

void worker_public_job(struct worker *worker, struct job *job);

/* `id`: the number in the path, or 0. job->user: whose session; job->ticket: the order in the path. */
typedef void (*public_handler)(struct worker *worker, struct job *job, uint32_t id);

/* The order of the path, if it is this user's; else the job is answered. Thread: the worker. */
MUST_CHECK bool public_order_read(struct worker *worker, struct job *job, struct order *order);
void public_order_reply(struct worker *worker, struct job *job, int status, const struct order *order);

/* waitlist_requests.c */
/* False, and answered: the user could buy now, or could never have it as things are. buy_instead: how the
 * first is said; NULL: as usual. From within an errand. */
MUST_CHECK bool public_line_check(struct worker *worker, struct job *job, uint32_t item,
    const struct board_update *view, uint32_t quantity, const char *buy_instead);
void public_waitlist_join(struct worker *worker, struct job *job, uint32_t id);
void public_waitlist_show(struct worker *worker, struct job *job, uint32_t id);
void public_waitlist_leave(struct worker *worker, struct job *job, uint32_t id);

/* presale_requests.c */
void public_presale_book(struct worker *worker, struct job *job, uint32_t id);
void public_presale_show(struct worker *worker, struct job *job, uint32_t id);
void public_presale_leave(struct worker *worker, struct job *job, uint32_t id);

/* order_requests.c */
void public_order_cancel(struct worker *worker, struct job *job, uint32_t id);

#endif
