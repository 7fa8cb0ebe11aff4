/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/reclaim.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/metrics.h"
#include "contract/command.h"
#include "worker/alarm_checks.h"
#include "worker/asks.h"
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
    bool running;  /* a pass through the table */
    uint32_t from; /* the row to go on with */
    uint64_t pass; /* forgotten in this pass */
};

static uint64_t pass_end(struct reclaim *reclaim, uint64_t now_ms)
{
    if (reclaim->pass > 0)
        log_info("worker", "%llu returned tickets of past sales are forgotten: their rows are free",
            (unsigned long long)reclaim->pass);
    *reclaim = (struct reclaim){ .config = reclaim->config };
    return now_ms + AGAIN_MS;
}

static uint64_t reclaim_turn(void *self, uint64_t now_ms)
{
    struct reclaim *reclaim = self;
    struct outcome outcome;
    if (!reclaim->running && !tables_nearly_full(reclaim->config.board, reclaim->config.tickets_max))
        return now_ms + LOOK_MS;
    reclaim->running = true;
    const struct command command = { .type = COMMAND_RECLAIM,
        .reclaim = { .before_ms = now_ms < KEPT_MS ? 0 : now_ms - KEPT_MS,
            .from = reclaim->from,
            .rows = RECLAIM_ROWS_MAX } };
    if (asks_ask(reclaim->config.asks, &command, &outcome) != STATUS_OK
        || (outcome.answer != ANSWER_DONE && outcome.answer != ANSWER_UNCHANGED))
        return pass_end(reclaim, now_ms); /* the disk is full, or the inventory is stopping: later */
    metric_add(&reclaimed, (uint64_t)outcome.applied);
    reclaim->pass += (uint64_t)outcome.applied;
    reclaim->from = outcome.number;
    return outcome.number == 0 ? pass_end(reclaim, now_ms) : now_ms;
}

void reclaim_open(struct arena *arena, const struct reclaim_config *config, struct task *task)
{
    struct reclaim *reclaim = arena_take(arena, 1, sizeof *reclaim);
    reclaim->config = *config;
    *task = (struct task){ .name = "reclaim", .self = reclaim, .turn = reclaim_turn, .rests = true };
}
