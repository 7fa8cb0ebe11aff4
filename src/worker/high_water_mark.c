/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/high_water_mark.h"

#include "base/arena.h"
#include "base/log.h"
#include "config/high_water.h"
#include "worker/task.h"

enum { LOOK_MS = 50, WRITE_MS = 5000 };

struct high_water_mark {
    struct disk *folder;
    struct high_water *mark;
    struct order_store *store;
    uint64_t write_ms;
    bool changed, failed;
};

static void mark_write(struct high_water_mark *state, uint64_t now_ms, bool blocks)
{
    high_water_reserve(state->mark, blocks);
    const enum status status = high_water_write(state->folder, state->mark);
    if (status != STATUS_OK && !state->failed)
        log_error("worker",
            "the file high-water can't be written (%s): an older database would not be"
            " recognized",
            status_name(status));
    state->failed = status != STATUS_OK;
    state->write_ms = now_ms + WRITE_MS;
    state->changed = false;
}

void high_water_mark_look(struct high_water_mark *state, uint64_t now_ms)
{
    bool changed = false, ahead = false;
    if (state->mark == NULL || high_water_look(state->mark, state->store, &changed, &ahead) != STATUS_OK)
        return; /* away: nothing is given */
    state->changed |= changed;
    if (ahead || (state->changed && now_ms >= state->write_ms))
        mark_write(state, now_ms, true);
}

static uint64_t mark_turn(void *self, uint64_t now_ms)
{
    struct high_water_mark *state = self;
    high_water_mark_look(state, now_ms);
    return state->mark == NULL ? TASK_IDLE : now_ms + LOOK_MS;
}

/* A clean stop: nothing is reserved. */
static void mark_end(void *self, uint64_t now_ms)
{
    struct high_water_mark *state = self;
    bool changed = false, ahead = false;
    if (state->mark != NULL && high_water_look(state->mark, state->store, &changed, &ahead) == STATUS_OK)
        mark_write(state, now_ms, false);
}

struct high_water_mark *high_water_mark_open(struct arena *arena, struct disk *folder,
    struct high_water *mark, struct order_store *store, struct task *task)
{
    struct high_water_mark *state = arena_take(arena, 1, sizeof *state);
    *state = (struct high_water_mark){ .folder = folder, .mark = mark, .store = store };
    *task = (struct task){ .name = "high water mark", .self = state, .turn = mark_turn, .end = mark_end };
    return state;
}
