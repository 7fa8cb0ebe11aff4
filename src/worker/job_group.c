/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/job_group.h"

#include "api/job_reply.h"
#include "api/link.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/metrics.h"
#include "contract/order_store.h"
#include "worker/task.h"

COUNTER(groups_total, "stampede_job_groups_total", "Commits that jobs of the worker shared.");
COUNTER(group_jobs_total, "stampede_job_group_jobs_total", "Jobs that were answered after such a commit.");

struct job_group {
    struct order_store *store;
    struct link *link;
    struct job *jobs[GROUP_JOBS_MAX]; /* answered since the transaction began */
    uint32_t count;
};

void job_group_join(struct job_group *group, bool takes_part)
{
    if (!takes_part) {
        job_group_end(group);
        return;
    }
    group->store->ops->group_begin(group->store);
    link_hold(group->link);
}

/* What the database was to keep is not there. What the sandbox's bank did is its own. */
static void answer_take_back(struct job *job, enum status status)
{
    if (job->share == SHARE_SANDBOX)
        return;
    job_reply_status(job, status);
}

static void answers_take_back(struct job_group *group, enum status status)
{
    log_warn("worker", "%u requests that shared a transaction were not kept: %s", group->count,
        status_name(status));
    for (uint32_t i = 0; i < group->count; i++)
        answer_take_back(group->jobs[i], status);
}

void job_group_end(struct job_group *group)
{
    struct order_store *store = group->store;
    const bool open = store->ops->group_is_open(store);
    const enum status status = store->ops->group_end(store);
    if (status != STATUS_OK)
        answers_take_back(group, status);
    if (open) {
        metric_add(&groups_total, 1);
        metric_add(&group_jobs_total, group->count);
    }
    group->count = 0;
    link_release(group->link);
    link_flush(group->link);
}

void job_group_answer(struct job_group *group, struct job *job)
{
    struct order_store *store = group->store;
    link_return(group->link, job);
    if (store->ops->group_is_open(store))
        group->jobs[group->count++] = job;
    else
        link_release(group->link);
    if (group->count == GROUP_JOBS_MAX)
        job_group_end(group);
    else
        link_flush(group->link);
}

/* In each round, after jobs and errands. */
static uint64_t group_turn(void *self, uint64_t now_ms)
{
    (void)now_ms;
    job_group_end(self);
    return TASK_IDLE;
}

static void group_last(void *self, uint64_t now_ms)
{
    (void)group_turn(self, now_ms);
}

struct job_group *job_group_open(
    struct arena *arena, struct order_store *store, struct link *link, struct task *task)
{
    struct job_group *group = arena_take(arena, 1, sizeof *group);
    group->store = store;
    group->link = link;
    *task = (struct task){
        .name = "job group", .self = group, .turn = group_turn, .end = group_last, .listens = true
    };
    return group;
}
