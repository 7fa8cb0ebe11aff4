/* SPDX-License-Identifier: Apache-2.0 */
/* worker/crowd_checks.h: alarms while the tables that clients share are too small for the crowd, raised
 * before anybody feels it: limits, what was used, connections. What happens when one is full is in
 * docs/operations.md ("Tables that clients share"); the alarms say what to raise.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_CROWD_CHECKS_H
#define STAMPEDE_WORKER_CROWD_CHECKS_H

#include <stdint.h>

struct arena;
struct limits;
struct spent;
struct task;

struct crowd_checks_config {
    const struct limits *limits;
    const struct spent *spent;  /* challenges and passes */
    const struct spent *tokens; /* of the shop */
    uint64_t connections_max;   /* of all edges */
};
void crowd_checks_open(struct arena *arena, const struct crowd_checks_config *config, struct task *task);

#endif
