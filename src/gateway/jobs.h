/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/jobs.h: jobs for the worker: made from a request, handed in, answered when they come back.
 * Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_JOBS_H
#define STAMPEDE_GATEWAY_JOBS_H

#include "api/job.h"

struct exchange;
struct routes;

enum {
    TOO_MANY_JOBS_WAIT_MS = 1000
}; /* a user with enough jobs at the worker is told to wait this long */

struct job_wish {
    enum job_kind kind;
    enum job_share share;
    user_id user; /* 0: nobody's */
    struct reply_to to;
};
struct job *job_take(struct routes *routes, const struct job_wish *wish); /* NULL: none for them */
/* NULL: refused, and told so. */
struct job *exchange_job(
    struct exchange *exchange, enum job_kind kind, enum job_share share, user_id user);
/* Copies the request to the job; answers how many bytes of the job's space are used. */
size_t job_fill(struct job *job, const struct http_request *request, struct span path);
struct span job_copy(struct job *job, size_t *used, struct span bytes); /* into the rest of the space */
bool content_is_json(struct span type);
void job_hand_in(struct routes *routes, struct job *job);
/* Jobs that came back, notes about orders, waits that are over. */
void jobs_turn(struct routes *routes, uint64_t now_ms);

#endif
