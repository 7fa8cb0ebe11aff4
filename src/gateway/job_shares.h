/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/job_shares.h: the jobs that an edge can have at the worker. Each kind of work has its own share, so
 * that no other kind can take its last place: operators and callbacks get through however many people pay.
 * A request that waits (for a provider, for an order to change) holds no job; it waits at the edge
 * (waits.c).
 * Within a share of people or channels, once half of it is taken, one of them has JOBS_PER_USER at most. Of
 * purchases that may pass a limit, a user has one.
 *
 *   share      who                                      body up to       answer up to
 *   admin      operators                                HTTP_BODY_MAX    256 KiB
 *   shop       orders that the shop moves               8 KiB            16 KiB
 *   channel    sales channels with keys of their own    8 KiB            16 KiB
 *   callback   payment providers                        HTTP_BODY_MAX    16 KiB
 *   sandbox    the sandbox's bank, its pay page         8 KiB            16 KiB
 *   pay        users who start to pay, or waited for    8 KiB            16 KiB
 *   view       orders, details, the waitlist            8 KiB            256 KiB
 *   push       what push connections are to be told     –                256 KiB
 *   limit      purchases that may pass a limit          –                –
 *
 * Thread: the edge's own. Memory: from the arena at create; pages that were never used cost nothing. */
#ifndef STAMPEDE_GATEWAY_JOB_SHARES_H
#define STAMPEDE_GATEWAY_JOB_SHARES_H

#include "api/job.h"
#include "base/arena.h"

enum {
    JOBS_PER_USER = 16,
};

struct job_pool {
    struct job *jobs;
    user_id *users; /* of jobs[i]; 0: nobody's, or free */
    struct job *free;
    uint32_t slots, taken;
};
struct job_shares {
    struct job_pool pools[JOB_SHARES];
};

size_t job_shares_bytes(void);
void job_shares_create(struct job_shares *shares, struct arena *arena);
/* NULL: the share is full, or this user has enough of it. user 0: nobody's. */
struct job *job_shares_take(struct job_shares *shares, enum job_share share, user_id user);
void job_shares_give(struct job_shares *shares, struct job *job);
bool job_shares_user_full(const struct job_shares *shares, enum job_share share, user_id user);
uint32_t job_shares_free(const struct job_shares *shares, enum job_share share);

#endif
