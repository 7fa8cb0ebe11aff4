/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/tasks.h: the product's own threads (a keeper, a log reader), which wait inside of
 * calls, as tasks of a world that has one thread: each is a fiber (worker/fiber.h) that runs from where
 * the world
 * resumes it until it waits. So a run depends on nothing but the order in which the world resumes tasks.
 *
 * Here are also the clock, the wake-ups and the log that the product links in the simulator: time is the
 * world's, waiting is a pause. */
#ifndef STAMPEDE_TESTS_CLUSTER_TASKS_H
#define STAMPEDE_TESTS_CLUSTER_TASKS_H

#include <stdbool.h>
#include <stdint.h>

struct task;
/* It runs when it is resumed first. */
struct task *task_start(void (*run)(void *context), void *context);
bool task_is_due(const struct task *task); /* what it waits for has come */
bool task_is_over(const struct task *task);
void task_resume(struct task *task);
void task_end(struct task *task); /* one that is over: its stack is free for another */

bool task_runs(void);            /* called by a task, not by the world */
void task_pause(uint64_t ms);    /* of the world's time; nothing outside of a task */
uint64_t task_next_due_ms(void); /* the next time at which one is due; UINT64_MAX: none is */

/* The world's time, ms since 1970. */
extern uint64_t sim_now_ms;

#endif
