/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/job_shares.h"

#include "base/metrics.h"

#define OPEN_JOBS(share, label) \
    [share] = METRIC_ROW(METRIC_GAUGE, "stampede_jobs_open", "share=\"" label "\"", \
        "Jobs that edges have handed to the worker and not got back yet.")
static struct metric open_jobs[JOB_SHARES] = {
    OPEN_JOBS(SHARE_ADMIN, "admin"),
    OPEN_JOBS(SHARE_SHOP, "shop"),
    OPEN_JOBS(SHARE_CALLBACK, "callback"),
    OPEN_JOBS(SHARE_SANDBOX, "sandbox"),
    OPEN_JOBS(SHARE_PAY, "pay"),
    OPEN_JOBS(SHARE_VIEW, "view"),
    OPEN_JOBS(SHARE_PUSH, "push"),
    OPEN_JOBS(SHARE_LIMIT, "limit"),
};
METRIC_TABLE(open_jobs);

struct share_row {
    uint32_t slots;
    size_t request_bytes, response_bytes;
    uint32_t per_user; /* once half of them are taken; one: always. 0: any number */
};

enum {
    REQUEST_SMALL = HTTP_HEAD_MAX + JOB_BODY_SMALL,
    REQUEST_LARGE = HTTP_HEAD_MAX + HTTP_BODY_MAX,
    RESPONSE_SMALL = 16 * 1024,
    JOB_SPARE = 256, /* what the arena rounds up */
};

static const struct share_row rows[JOB_SHARES] = {
    [SHARE_ADMIN] = { 24, REQUEST_LARGE, JOB_RESPONSE_BYTES, 0 },
    [SHARE_SHOP] = { 256, REQUEST_SMALL, RESPONSE_SMALL, 0 },
    [SHARE_CHANNEL] = { 32, REQUEST_SMALL, RESPONSE_SMALL, JOBS_PER_USER },
    [SHARE_CALLBACK] = { 128, REQUEST_LARGE, RESPONSE_SMALL, 0 },
    [SHARE_SANDBOX] = { 256, REQUEST_SMALL, RESPONSE_SMALL, 0 },
    [SHARE_PAY] = { 1024, REQUEST_SMALL, RESPONSE_SMALL, JOBS_PER_USER },
    [SHARE_VIEW] = { 256, REQUEST_SMALL, JOB_RESPONSE_BYTES, JOBS_PER_USER },
    [SHARE_PUSH] = { 64, 0, JOB_RESPONSE_BYTES, 0 },
    [SHARE_LIMIT] = { 128, 0, 0, 1 },
};
static_assert(24 + 256 + 32 + 128 + 256 + 1024 + 256 < JOB_SLOTS,
    "the worker's rings always have room for a job; those of push and of limits never come there");
static_assert(256 + 64 + 128 < VIEW_SLOTS, "and so have those of the order views");

size_t job_shares_bytes(void)
{
    size_t bytes = 4096;
    for (int share = 0; share < JOB_SHARES; share++)
        bytes += rows[share].slots
            * (sizeof(struct job) + sizeof(user_id) + rows[share].request_bytes
                + rows[share].response_bytes + JOB_SPARE);
    return bytes;
}

void job_shares_create(struct job_shares *shares, struct arena *arena)
{
    for (int share = 0; share < JOB_SHARES; share++) {
        const struct share_row *row = &rows[share];
        struct job_pool *pool = &shares->pools[share];
        *pool = (struct job_pool){ .slots = row->slots };
        pool->jobs = arena_take(arena, row->slots, sizeof *pool->jobs);
        pool->users = arena_take(arena, row->slots, sizeof *pool->users);
        for (uint32_t i = row->slots; i-- > 0;) {
            struct job *job = &pool->jobs[i];
            *job = (struct job){ .share = (uint8_t)share,
                .request_bytes = row->request_bytes,
                .response_bytes = row->response_bytes,
                .next = pool->free };
            job->request = row->request_bytes == 0 ? NULL : arena_take(arena, 1, row->request_bytes);
            job->response = row->response_bytes == 0 ? NULL : arena_take(arena, 1, row->response_bytes);
            pool->free = job;
        }
    }
}

bool job_shares_user_full(const struct job_shares *shares, enum job_share share, user_id user)
{
    const struct job_pool *pool = &shares->pools[share];
    const uint32_t most = rows[share].per_user;
    if (most == 0 || user == 0 || (most > 1 && pool->taken < pool->slots / 2))
        return false;
    uint32_t count = 0;
    for (uint32_t i = 0; i < pool->slots; i++)
        count += pool->users[i] == user;
    return count >= most;
}

struct job *job_shares_take(struct job_shares *shares, enum job_share share, user_id user)
{
    struct job_pool *pool = &shares->pools[share];
    struct job *job = pool->free;
    if (job == NULL || job_shares_user_full(shares, share, user))
        return NULL;
    pool->free = job->next;
    pool->taken++;
    metric_add(&open_jobs[share], 1);
    pool->users[job - pool->jobs] = user;
    *job = (struct job){ .share = job->share,
        .user = user,
        .request = job->request,
        .request_bytes = job->request_bytes,
        .response = job->response,
        .response_bytes = job->response_bytes };
    return job;
}

void job_shares_give(struct job_shares *shares, struct job *job)
{
    struct job_pool *pool = &shares->pools[job->share];
    invariant(job >= pool->jobs && job < pool->jobs + pool->slots && pool->taken > 0);
    pool->taken--;
    metric_add(&open_jobs[job->share], (uint64_t)-1); /* the sum of all threads is never below 0 */
    pool->users[job - pool->jobs] = 0;
    job->next = pool->free;
    pool->free = job;
}

uint32_t job_shares_free(const struct job_shares *shares, enum job_share share)
{
    return shares->pools[share].slots - shares->pools[share].taken;
}
