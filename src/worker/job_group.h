/* SPDX-License-Identifier: Apache-2.0 */
/* worker/job_group.h: jobs that share a transaction. What the jobs of a round change is committed once, and
 * nothing that they say is seen by an edge before that: answers and notes are held at the link. If the
 * commit fails, every job that was answered since the group's transaction began is answered "unavailable",
 * and nothing else of it was told.
 *
 * Jobs and errands of the shared lane take part. Operators' changes and tasks do not: they begin when the
 * group has ended. A question to the inventory changes nothing and tells nobody anything, so it may be asked
 * from within a group; a command ends the group first.
 * Why: docs/decisions/0027-jobs-of-a-round-share-a-transaction.md.
 * Thread: the worker's. Memory: from the arena at open. */
#ifndef STAMPEDE_WORKER_JOB_GROUP_H
#define STAMPEDE_WORKER_JOB_GROUP_H

#include <stdbool.h>

enum { GROUP_JOBS_MAX = 256 }; /* a group ends with so many answers at the latest */

struct arena;
struct job;
struct link;
struct order_store;
struct task;

struct job_group;
struct job_group *job_group_open(
    struct arena *arena, struct order_store *store, struct link *link, struct task *task);
/* Before something runs that may change the database or be told: it takes part, or the group ends first. */
void job_group_join(struct job_group *group, bool takes_part);
/* The job has its answer, which goes to its edge: at once, or with the commit. */
void job_group_answer(struct job_group *group, struct job *job);
/* Commits, and tells. */
void job_group_end(struct job_group *group);

#endif
