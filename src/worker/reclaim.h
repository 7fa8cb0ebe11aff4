/* SPDX-License-Identifier: Apache-2.0 */
/* worker/reclaim.h: when the table of tickets is nearly full, the inventory is told to forget
 * returned tickets of sales that ended a day ago: a bounded number of rows with each command, one
 * command with each turn, until the table has been gone through. Tickets that were sold stay.
 * Why, and what else was looked at: docs/decisions/0019-returned-tickets-are-reclaimed.md.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_RECLAIM_H
#define STAMPEDE_WORKER_RECLAIM_H

#include <stdint.h>

struct arena;
struct errands;
struct board;
struct task;

struct reclaim_config {
    struct errands *errands;
    const struct board *board;
    uint64_t tickets_max;
};
void reclaim_open(struct arena *arena, const struct reclaim_config *config, struct task *task);

#endif
