/* SPDX-License-Identifier: Apache-2.0 */
/* worker/archiving.h: takes a sale out of store and inventory whose bundle is made (docs/archive.md), in
 * small steps that go on after a crash where the row of the sale says; and erases what names customers
 * after privacy.keep_days.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_ARCHIVING_H
#define STAMPEDE_WORKER_ARCHIVING_H

#include <stdint.h>

struct arena;
struct errands;
struct order_store;
struct task;

struct archiving_config {
    struct errands *errands;
    struct order_store *store;
    uint64_t keep_days; /* privacy.keep_days; 0: for good */
};
void archiving_open(struct arena *arena, const struct archiving_config *config, struct task *task);

#endif
