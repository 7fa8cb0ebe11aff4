/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/schedule.h"

#include "api/refusals.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "contract/order_store.h"
#include "funnel/door.h"
#include "worker/channel_returns.h"
#include "worker/errands.h"
#include "worker/room_driver.h"
#include "worker/sale_commands.h"
#include "worker/task.h"

enum { READ_ROWS = 32, LOOK_MS = 250, PREHEAT_AHEAD_MS = 60000 };

struct schedule {
    struct schedule_config config;
    struct task *task;
    bool running; /* its errand */
    uint64_t next_ms;
};

static bool sale_is_due(const struct sale *sale, uint64_t now_ms)
{
    if (sale->gate == GATE_ENDED || now_ms >= sale->end_ms)
        return false;
    const bool asked = sale->preheat_at_ms != 0 && now_ms >= sale->preheat_at_ms;
    const bool near = sale->published && now_ms + PREHEAT_AHEAD_MS >= sale->start_ms;
    return asked || near;
}

static void sale_items_look(const struct schedule *schedule, const struct sale *sale)
{
    struct item items[READ_ROWS];
    uint32_t count = READ_ROWS;
    struct order_store *store = schedule->config.store;
    for (item_id after = 0; count == READ_ROWS;) {
        if (store->ops->items(store, sale->id, after, items, READ_ROWS, &count) != STATUS_OK)
            return;
        for (uint32_t i = 0; i < count; i++) {
            struct outcome outcome = { 0 };
            after = items[i].id;
            if (channel_return_is_due(&items[i], sale, clock_now_ms()))
                channel_units_return(schedule->config.errands, schedule->config.board,
                    schedule->config.channels->count, items[i].id);
            if (items[i].preheated)
                continue;
            const enum preheat_result result =
                item_preheat(store, schedule->config.errands, sale, &items[i], &outcome);
            if (result == PREHEAT_DONE)
                log_info("worker", "preheated item %u of sale %u on schedule", items[i].id, sale->id);
            else if (result != PREHEAT_UNCHANGED)
                log_error("worker", "item %u of sale %u can't be preheated: %s", items[i].id, sale->id,
                    result >= PREHEAT_AWAY ? "the inventory can't write now"
                                           : refusal_conflict_text(outcome.detail));
        }
    }
}

static void rooms_define(const struct schedule *schedule)
{
    struct order_store *store = schedule->config.store;
    struct sale sale;
    uint32_t at = 0;
    for (sale_id id; (id = room_driver_undefined(schedule->config.rooms, &at)) != 0;)
        if (store->ops->sale_get(store, id, &sale) == STATUS_OK)
            room_driver_define(schedule->config.rooms, &sale, clock_now_ms());
}

static void schedule_run(void *self, void *unused)
{
    struct schedule *schedule = self;
    struct sale sales[READ_ROWS];
    uint32_t count = READ_ROWS;
    struct order_store *store = schedule->config.store;
    const uint64_t soon_ms = clock_now_ms() + PREHEAT_AHEAD_MS;
    struct sales_cursor cursor = sales_cursor_after(clock_now_ms());
    (void)unused;
    rooms_define(schedule);
    while (count == READ_ROWS) {
        if (store->ops->sales_due(store, &cursor, soon_ms, sales, READ_ROWS, &count) != STATUS_OK)
            break; /* away: the order writer tells */
        for (uint32_t i = 0; i < count; i++)
            if (sale_is_due(&sales[i], clock_now_ms()))
                sale_items_look(schedule, &sales[i]);
    }
    schedule->running = false;
    schedule->next_ms = clock_now_ms() + LOOK_MS;
    task_wake(schedule->task);
}

static uint64_t schedule_turn(void *self, uint64_t now_ms)
{
    struct schedule *schedule = self;
    if (now_ms < schedule->next_ms)
        return schedule->next_ms;
    return errands_own(schedule->config.errands, schedule_run, schedule, &schedule->running, now_ms);
}

void schedule_open(struct arena *arena, const struct schedule_config *config, struct task *task)
{
    struct schedule *schedule = arena_take(arena, 1, sizeof *schedule);
    schedule->config = *config;
    schedule->task = task;
    *task = (struct task){ .name = "schedule", .self = schedule, .turn = schedule_turn, .rests = true };
}
