/* SPDX-License-Identifier: Apache-2.0 */
/* worker/reclaim.c: when the table of tickets is nearly full, the inventory is told to forget returned
 * tickets of sales that ended a day ago: a bounded number of rows with each command, one command with each
 * turn, until the table has been gone through. Tickets that were sold stay.
 * Why, and what else was looked at: docs/decisions/0019-returned-tickets-are-reclaimed.md. */
#include "base/log.h"
#include "base/metrics.h"
#include "worker/worker_parts.h"

enum {
    NEARLY_FULL_PERCENT = 80,
    AGAIN_MS = 60 * 1000, /* between two passes that find the table nearly full */
    KEPT_MS = 24 * 3600 * 1000,
};

COUNTER(reclaimed, "stampede_tickets_reclaimed_total",
    "Returned tickets of past sales whose rows were given back.");

bool worker_tables_nearly_full(const struct worker *worker)
{
    const struct board *board = worker->config.inventory->board;
    const uint64_t tickets = atomic_load_explicit(&board->tickets, memory_order_relaxed);
    return tickets * 100 >= worker->config.config->tickets_max * NEARLY_FULL_PERCENT
        || atomic_load_explicit(&board->buyers_percent, memory_order_relaxed) >= NEARLY_FULL_PERCENT;
}

static void pass_end(struct worker *worker)
{
    struct worker_reclaim *reclaim = &worker->reclaim;
    if (reclaim->pass > 0)
        log_info("worker", "%llu returned tickets of past sales are forgotten: their rows are free",
            (unsigned long long)reclaim->pass);
    *reclaim = (struct worker_reclaim){ .next_ms = worker->now_ms + AGAIN_MS };
}

bool worker_reclaim_turn(struct worker *worker)
{
    struct worker_reclaim *reclaim = &worker->reclaim;
    struct outcome outcome;
    if (!reclaim->running && (worker->now_ms < reclaim->next_ms || !worker_tables_nearly_full(worker)))
        return false;
    reclaim->running = true;
    const struct command command = { .type = COMMAND_RECLAIM,
        .reclaim = { .before_ms = worker->now_ms < KEPT_MS ? 0 : worker->now_ms - KEPT_MS,
            .from = reclaim->from,
            .rows = RECLAIM_ROWS_MAX } };
    if (worker_ask(worker, &command, &outcome) != STATUS_OK
        || (outcome.answer != ANSWER_DONE && outcome.answer != ANSWER_UNCHANGED)) {
        pass_end(worker); /* the disk is full, or the inventory is stopping: later */
        return false;
    }
    metric_add(&reclaimed, (uint64_t)outcome.applied);
    reclaim->pass += (uint64_t)outcome.applied;
    reclaim->from = outcome.number;
    if (outcome.number == 0)
        pass_end(worker);
    return reclaim->running;
}
