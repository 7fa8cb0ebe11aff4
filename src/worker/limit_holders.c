/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/limit_holders.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/metrics.h"
#include "contract/board.h"
#include "contract/limit_uses.h"
#include "worker/task.h"

enum {
    HOLDERS_PER_PART = 512,
    PART_PAUSE_MS = 5,              /* between two parts: others use the database, too */
    LOOK_MS = 1000,                 /* a database that was away; how many there are */
    ROUND_PAUSE_MIN_MS = 10 * 1000, /* then twice as long each time */
    ROUND_PAUSE_MAX_MS = 3600 * 1000,
};

GAUGE(holders_known, "stampede_limit_holders",
    "Pairs of a limit group and a user that this process asks the database about.");
GAUGE(holders_max, "stampede_limit_holders_max",
    "The bound: of further users, purchases past a limit are refused when their order is written.");

struct limit_holders {
    struct order_store *store;
    const struct board *board;
    struct limit_holder after; /* where the round is */
    uint32_t pause_ms;         /* after this round */
    uint64_t round_ms;         /* when the next one begins */
    struct limit_holder part[HOLDERS_PER_PART];
};

static void round_end(struct limit_holders *holders, uint64_t now_ms)
{
    const uint32_t longer_ms = 2 * holders->pause_ms;
    holders->after = (struct limit_holder){ 0 };
    holders->round_ms = now_ms + holders->pause_ms;
    holders->pause_ms = longer_ms < ROUND_PAUSE_MAX_MS ? longer_ms : ROUND_PAUSE_MAX_MS;
}

/* When the next part is due. */
static uint64_t part_read(struct limit_holders *holders, uint64_t now_ms)
{
    bool more = false;
    uint32_t count = 0;
    if (holders->after.group == 0 && board_holders_full(holders->board))
        board_clear_holders(holders->board); /* of earlier periods, most likely */
    const enum status status = holders->store->ops->limits->holders(
        holders->store, &holders->after, holders->part, HOLDERS_PER_PART, &count, &more);
    if (status != STATUS_OK) {
        if (status != STATUS_AWAY)
            log_error("worker", "the users of limits can't be read: %s", status_name(status));
        return now_ms + LOOK_MS;
    }
    for (uint32_t i = 0; i < count; i++)
        board_add_holder(holders->board, holders->part[i].group, holders->part[i].user);
    if (!more)
        round_end(holders, now_ms);
    return now_ms + (more ? PART_PAUSE_MS : LOOK_MS);
}

static uint64_t holders_turn(void *self, uint64_t now_ms)
{
    struct limit_holders *holders = self;
    const uint64_t next_ms = now_ms < holders->round_ms ? now_ms + LOOK_MS : part_read(holders, now_ms);
    metric_set(&holders_known,
        atomic_load_explicit(&holders->board->holders->count, memory_order_relaxed));
    metric_set(&holders_max, holders->board->holders->max);
    return next_ms;
}

void limit_holders_open(
    struct arena *arena, struct order_store *store, const struct board *board, struct task *task)
{
    struct limit_holders *holders = arena_take(arena, 1, sizeof *holders);
    holders->store = store;
    holders->board = board;
    holders->pause_ms = ROUND_PAUSE_MIN_MS;
    *task = (struct task){ .name = "limit holders", .self = holders, .turn = holders_turn };
}
