/* SPDX-License-Identifier: Apache-2.0 */
/* worker/trend_checks.h: alarms that follow from the server's own counters over some seconds: slow syncs,
 * orders that lag, an attack, payments of another amount, messages of a stranger, items that sold out at
 * once, and the room on the disk.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_TREND_CHECKS_H
#define STAMPEDE_WORKER_TREND_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct board;
struct config;
struct handover;
struct task;

struct trend_checks_config {
    const struct config *config;
    const struct board *board;
    struct handover *catalog;
};
void trend_checks_open(struct arena *arena, const struct trend_checks_config *config, struct task *task);

/* Up above the bound, and down only below half of it: a value at the bound does not flicker. */
static inline bool trend_is_up(bool was_up, uint64_t value, uint64_t bound)
{
    return bound != 0 && value > (was_up ? bound / 2 : bound);
}

#endif
