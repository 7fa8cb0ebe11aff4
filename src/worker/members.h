/* SPDX-License-Identifier: Apache-2.0 */
/* worker/members.h: the processes of a shop on many machines know of each other by rows of the database
 * (contract/cluster_store.h: struct member). Each renews its own each MEMBER_BEAT_MS, reads those of the
 * others, and compares its clock with the database's and with Redis'.
 *
 *   alarm members-differ   a live member has another program version, or other settings that must agree
 *   alarm clock-apart      a clock is CLOCK_APART_ALARM_MS or more apart from ours; from CLOCK_APART_MAX_MS
 *                          on this process is not ready
 * The leader removes rows that nobody has renewed for MEMBER_FORGET_MS.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_MEMBERS_H
#define STAMPEDE_WORKER_MEMBERS_H

#include "contract/cluster_store.h"

struct arena;
struct leadership;
struct task;
struct members;
struct members_config {
    struct order_store *store;
    const struct member *self; /* NULL: one machine, nothing is done */
    const struct leadership *leadership;
    int64_t (*redis_apart_ms)(void *context); /* how far Redis' clock is ahead of ours */
    void *context;
};

struct members *members_open(struct arena *arena, const struct members_config *config, struct task *task);
/* Why this process must not sell, for people; NULL: it may. */
const char *members_trouble(const struct members *members);

#endif
