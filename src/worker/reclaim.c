/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/reclaim.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "contract/command.h"
#include "worker/alarm_checks.h"
#include "worker/errands.h"
#include "worker/task.h"

enum {
    LOOK_MS = 250,        /* whether the table is nearly full */
    AGAIN_MS = 60 * 1000, /* between two passes that find it nearly full */
    KEPT_MS = 24 * 3600 * 1000,
};

COUNTER(reclaimed, "stampede_tickets_reclaimed_total",
    "Returned tickets of past sales whose rows were given back.");

struct reclaim {
    struct reclaim_config config;
    struct task *task;
    bool going_on; /* a pass through the table */
    bool asking;   /* its errand */
    uint32_t from; /* the row to go on with */
    uint64_t pass; /* forgotten in this pass */
    uint64_t next_ms;
};

static void pass_end(struct reclaim *reclaim, uint64_t now_ms)
{
    if (reclaim->pass > 0)
        log_info("worker", "%llu returned tickets of past sales are forgotten: their rows are free",
            (unsigned long long)reclaim->pass);
    reclaim->going_on = false;
    reclaim->from = 0;
    reclaim->pass = 0;
    reclaim->next_ms = now_ms + AGAIN_MS;
}

/* One command of a pass. */
static void rows_reclaim(void *self, void *unused)
{
    struct reclaim *reclaim = self;
    struct outcome outcome;
    const uint64_t now_ms = clock_now_ms();
    const struct command command = { .type = COMMAND_RECLAIM,
        .reclaim = { .before_ms = now_ms < KEPT_MS ? 0 : now_ms - KEPT_MS,
            .from = reclaim->from,
            .rows = RECLAIM_ROWS_MAX } };
    (void)unused;
    const bool done = errands_ask(reclaim->config.errands, &command, &outcome) == STATUS_OK
        && (outcome.answer == ANSWER_DONE || outcome.answer == ANSWER_UNCHANGED);
    if (done) {
        metric_add(&reclaimed, (uint64_t)outcome.applied);
        reclaim->pass += (uint64_t)outcome.applied;
        reclaim->from = outcome.number;
    }
    if (!done || outcome.number == 0) /* the disk is full, or the inventory is stopping: later */
        pass_end(reclaim, now_ms);
    reclaim->asking = false;
    task_wake(reclaim->task);
}

static uint64_t reclaim_turn(void *self, uint64_t now_ms)
{
    struct reclaim *reclaim = self;
    if (now_ms < reclaim->next_ms)
        return reclaim->next_ms;
    if (!reclaim->going_on && !tables_nearly_full(reclaim->config.board, reclaim->config.tickets_max))
        return now_ms + LOOK_MS;
    reclaim->going_on = true;
    return errands_own(reclaim->config.errands, rows_reclaim, reclaim, &reclaim->asking, now_ms);
}

void reclaim_open(struct arena *arena, const struct reclaim_config *config, struct task *task)
{
    struct reclaim *reclaim = arena_take(arena, 1, sizeof *reclaim);
    reclaim->config = *config;
    reclaim->task = task;
    *task = (struct task){ .name = "reclaim", .self = reclaim, .turn = reclaim_turn, .rests = true };
}
