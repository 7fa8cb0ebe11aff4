/* SPDX-License-Identifier: Apache-2.0 */
/* worker/errands.h: work that asks the inventory and waits for the durable answer, each piece on a
 * fiber: while it waits, the worker goes on with other jobs and tasks. No transaction of its own is
 * open meanwhile: an errand asks before it changes the database.
 *
 * What operators and the schedule do about sales and stock runs in one lane, one errand at a time,
 * so that no two of them interleave. What buyers ask runs several at a time, and takes part in the round's
 * transaction (worker/job_group.h), which ends before a command is given to the inventory.
 * Why: docs/decisions/0023-waiting-for-the-inventory-is-a-fiber.md.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_ERRANDS_H
#define STAMPEDE_WORKER_ERRANDS_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ASK_MS = 5000,          /* how long an answer is waited for */
    SHARED_ERRANDS = 32,    /* at a time */
    ASK_TOGETHER_MAX = 256, /* commands of one errand on their way at a time */
};
enum lane { LANE_OPERATORS, LANE_SHARED };

struct arena;
struct command;
struct funnel_keys;
struct inventory;
struct inventory_port;
struct job;
struct job_group;
struct order_store;
struct outcome;
struct task;

struct errands;
struct errands_config {
    struct inventory *inventory;
    struct inventory_port *port; /* its own */
    struct order_store *store;
    struct job_group *group;
    const struct funnel_keys *keys;
};
MUST_CHECK enum status errands_open(struct errands **errands, struct arena *arena,
    const struct errands_config *config, struct task *task);
bool errands_has_room(struct errands *errands, enum lane lane);
/* Begins run(self, what). False: the lane is full, nothing was begun. When it returns true the
 * errand is over, or waits for an answer. */
bool errands_begin(struct errands *errands, enum lane lane, void (*run)(void *self, void *what),
    void *self, void *what);
/* A task's own errand in the operators' lane, one at a time: *running until run has cleared it and waked
 * the task.
 * Answers when the task wants its next turn. */
uint64_t errands_own(struct errands *errands, void (*run)(void *self, void *unused), void *self,
    bool *running, uint64_t now_ms);

/* From within an errand. */
/* Its commands from now on are of this request of an administrator; NULL: of nobody's. */
void errands_acting(struct errands *errands, struct job *job);
/* STATUS_AWAY: it was not asked, nothing changes. STATUS_UNKNOWN: no answer within ASK_MS, it may
 * still be done; or the administrator's transaction could not be begun again. Commands that a
 * request of an administrator causes carry its origin.
 * Other jobs and tasks run meanwhile: what was read from the database may have changed since. */
MUST_CHECK enum status errands_ask(
    struct errands *errands, const struct command *command, struct outcome *outcome);
/* `count` commands, each made by `fill`: many are on their way together, so that they share the
 * syncs of the journal. *outcome: the first that was refused, else the last one; `applied` is the
 * sum. After a refusal, and on STATUS_UNKNOWN, some may be done and some not. */
MUST_CHECK enum status errands_ask_all(struct errands *errands, uint32_t count,
    void (*fill)(void *context, uint32_t index, struct command *command), void *context,
    struct outcome *outcome);

/* command_origin.c */
/* Reads job->origin of an administrator's request. */
void origin_read(const struct funnel_keys *keys, struct job *job);
/* Whom and which request a command of the job is from. */
void origin_fill(const struct funnel_keys *keys, const struct job *job, struct command *command);

#endif
