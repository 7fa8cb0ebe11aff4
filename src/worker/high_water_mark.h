/* SPDX-License-Identifier: Apache-2.0 */
/* worker/high_water_mark.h: keeps the file `high-water` up with the database (config/high_water.h).
 * Thread: the worker's. Errors: a file that can't be written is logged once and tried again. */
#ifndef STAMPEDE_WORKER_HIGH_WATER_MARK_H
#define STAMPEDE_WORKER_HIGH_WATER_MARK_H

#include <stdint.h>

struct arena;
struct disk;
struct high_water;
struct order_store;
struct task;

struct high_water_mark;
/* `mark` NULL: none is kept. */
struct high_water_mark *high_water_mark_open(struct arena *arena, struct disk *folder,
    struct high_water *mark, struct order_store *store, struct task *task);
/* Before somebody is told a number that the database gave. */
void high_water_mark_look(struct high_water_mark *state, uint64_t now_ms);

#endif
