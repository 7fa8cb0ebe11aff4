/* SPDX-License-Identifier: Apache-2.0 */
/* worker/schedule.h: no sale opens unpreheated: what is due, or opens within a minute, is preheated
 * here if nobody did it by hand. Units that channels did not sell in their time go back to web
 * (worker/channel_returns.h). Sales with a waiting room are made known to the inventory before
 * their room opens.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_SCHEDULE_H
#define STAMPEDE_WORKER_SCHEDULE_H

struct arena;
struct board;
struct door_channels;
struct errands;
struct order_store;
struct room_driver;
struct task;

struct schedule_config {
    struct order_store *store;
    struct errands *errands;
    struct room_driver *rooms;
    const struct board *board;
    const struct door_channels *channels;
};
void schedule_open(struct arena *arena, const struct schedule_config *config, struct task *task);

#endif
