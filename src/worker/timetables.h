/* SPDX-License-Identifier: Apache-2.0 */
/* worker/timetables.h: makes the sale of each session when it is time (contract/timetable.h); the schedule
 * preheats it. What was missed while no server ran is noted. It also gives back what items of past sales did
 * not sell to the stock of their product. Only the leader does this, and twice does no harm.
 * Thread: the worker's. Errors: a store that is away is asked again. */
#ifndef STAMPEDE_WORKER_TIMETABLES_H
#define STAMPEDE_WORKER_TIMETABLES_H

struct arena;
struct board;
struct catalog_updates;
struct errands;
struct order_store;
struct task;

struct timetables_config {
    struct order_store *store;
    struct errands *errands;
    struct catalog_updates *catalog;
    const struct board *board;
};
void timetables_open(struct arena *arena, const struct timetables_config *config, struct task *task);

#endif
