/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/timetables.h"

#include "api/catalog.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "contract/waitlist.h"
#include "policy/sale_copy.h"
#include "policy/stock_share.h"
#include "policy/timetable_rules.h"
#include "worker/catalog_updates.h"
#include "worker/errands.h"
#include "worker/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK_MS = 1000,
    DAYS_MAX = TIMETABLE_LATE_DAYS + TIMETABLE_AHEAD_MAX_S / (24 * 3600) + 9,
    MODEL_ITEMS_MAX = 256,
    POOL_LOOK_MS = 5000,
    POOL_ROWS = 16,
    POOL_DAYS = 30, /* so long after its end an item's late returns go back to the product */
};

struct timetables {
    struct timetables_config config;
    struct task *task;
    bool running;               /* its errand */
    uint64_t next_ms, pools_ms; /* the next looks */
    struct timetable tables[TIMETABLES_MAX];
    struct timetable_day days[DAYS_MAX];
    struct item items[MODEL_ITEMS_MAX];
};

/* The model as it is now. False: said why in the log; the session is tried again. */
static bool model_read(
    struct timetables *self, const struct timetable *table, struct sale *sale, uint32_t *count)
{
    struct order_store *store = self->config.store;
    enum status status = store->ops->sale_get(store, table->model, sale);
    if (status == STATUS_OK)
        status = store->ops->items(store, table->model, 0, self->items, MODEL_ITEMS_MAX, count);
    if (status == STATUS_OK && *count > 0)
        return true;
    if (status == STATUS_OK)
        log_error("worker", "timetable %u makes no session: sale %u, its model, has no items",
            table->id, table->model);
    return false;
}

static void day_tell(struct timetables *self, const struct timetable *table,
    const struct timetable_day *day, const char *what)
{
    char text[DAY_TEXT_BYTES];
    (void)self;
    day_format(day->day, text);
    log_info("worker", "timetable %u: the session of %s %s", table->id, text, what);
}

static void session_make(struct timetables *self, const struct timetable *table,
    const struct timetable_day *day, uint64_t now_ms)
{
    struct order_store *store = self->config.store;
    const struct session_times times = timetable_times(table, day);
    struct audit_entry entry = { .time_ms = now_ms, .actor = "timetable", .action = "session.make" };
    char text[DAY_TEXT_BYTES];
    struct sale sale;
    uint32_t count = 0;
    if (!model_read(self, table, &sale, &count))
        return;
    for (uint32_t i = 0; i < count; i++) {
        if (!item_renew(&self->items[i])) {
            log_error("worker",
                "timetable %u makes no session: an item of sale %u has too few units for "
                "its channels",
                table->id, table->model);
            return;
        }
    }
    sale_renew(&sale);
    if (strcmp(sale.title, table->title) != 0)
        sale.texts[0] = 0; /* what other languages say is the old title's */
    memcpy(sale.title, table->title, sizeof sale.title);
    sale.start_ms = times.start_ms;
    sale.end_ms = times.end_ms;
    sale.published = true;
    sale.timetable = table->id;
    sale.day_ms = times.day_ms;
    day_format(day->day, text);
    snprintf(entry.detail, sizeof entry.detail, "timetable %u day %s, %u items", table->id, text, count);
    const enum status status =
        store->ops->timetables->day_make(store, day, &sale, self->items, count, &entry);
    if (status == STATUS_OK) {
        day_tell(self, table, day, "is made");
        catalog_updates_part(self->config.catalog, &(struct catalog_change){ CATALOG_SALE, sale.id });
    } else if (status != STATUS_CONFLICT && status != STATUS_AWAY) {
        log_error("worker", "timetable %u can't make its session of %s: %s", table->id, text,
            status_name(status));
    }
}

static void session_miss(
    struct timetables *self, const struct timetable *table, const struct timetable_day *day)
{
    struct order_store *store = self->config.store;
    struct timetable_day missed = *day;
    missed.state = DAY_MISSED;
    if (store->ops->timetables->day_put(store, &missed) == STATUS_OK)
        day_tell(self, table, day, "was missed: no server ran until it was over");
}

static void table_look(struct timetables *self, const struct timetable *table, uint64_t now_ms)
{
    struct order_store *store = self->config.store;
    const uint64_t late_ms = (uint64_t)TIMETABLE_LATE_DAYS * DAY_MS;
    const uint32_t from = timetable_day_at(table, now_ms < late_ms ? 0 : now_ms - late_ms);
    const uint32_t to = timetable_day_at(table, now_ms + (uint64_t)table->ahead_s * 1000);
    uint32_t count = 0, at = 0;
    if (store->ops->timetables->days(store, table->id, from, self->days, DAYS_MAX, &count) != STATUS_OK)
        return;
    for (uint32_t number = from; number <= to; number++) {
        while (at < count && self->days[at].day < number)
            at++;
        const struct timetable_day day = at < count && self->days[at].day == number
            ? self->days[at]
            : timetable_day_plain(table, number);
        const enum session_step step = timetable_step(table, &day, now_ms);
        if (step == SESSION_MAKE)
            session_make(self, table, &day, now_ms);
        else if (step == SESSION_MISSED)
            session_miss(self, table, &day);
    }
}

/* Whoever waits for the item may still be offered its units. */
static bool somebody_waits(struct timetables *self, item_id item)
{
    struct order_store *store = self->config.store;
    struct waitlist_line line;
    uint32_t count = 0;
    const enum status status = store->ops->waitlist->lines(store, item - 1, &line, 1, &count);
    return status != STATUS_OK || (count > 0 && line.item == item);
}

/* The records give the units to the product (store/pool.c). */
static void item_give_back(struct timetables *self, const struct item *item)
{
    struct command commands[STOCK_BACK_MAX];
    struct board_update view;
    if (!board_read(self->config.board, item->id, &view)
        || view.counts.free + view.counts.safety == 0 || somebody_waits(self, item->id))
        return;
    const uint32_t count = stock_back(item->id, &view.counts, commands);
    for (uint32_t i = 0; i < count; i++) {
        struct outcome outcome = { 0 };
        if (errands_ask(self->config.errands, &commands[i], &outcome) != STATUS_OK)
            return; /* the next look finds what is left */
        log_info("worker", "item %u gives %d unsold units back to product %u", item->id,
            -outcome.applied, item->product);
    }
}

static void pools_look(struct timetables *self, uint64_t now_ms)
{
    struct order_store *store = self->config.store;
    const uint64_t past_ms = (uint64_t)POOL_DAYS * DAY_MS;
    if (now_ms < self->pools_ms)
        return;
    self->pools_ms = now_ms + POOL_LOOK_MS;
    struct item rows[POOL_ROWS];
    uint32_t count = POOL_ROWS;
    for (item_id after = 0; count == POOL_ROWS;) {
        if (store->ops->items_pooled(store, after, now_ms < past_ms ? 0 : now_ms - past_ms, now_ms,
                rows, POOL_ROWS, &count)
            != STATUS_OK)
            return;
        for (uint32_t i = 0; i < count; i++) {
            item_give_back(self, &rows[i]);
            after = rows[i].id;
        }
    }
}

static void timetables_run(void *context, void *unused)
{
    struct timetables *self = context;
    struct order_store *store = self->config.store;
    const uint64_t now_ms = clock_now_ms();
    uint32_t count = 0;
    (void)unused;
    if (store->ops->timetables->list(store, self->tables, TIMETABLES_MAX, &count) == STATUS_OK)
        for (uint32_t i = 0; i < count; i++)
            if (self->tables[i].active)
                table_look(self, &self->tables[i], now_ms);
    pools_look(self, now_ms);
    self->running = false;
    self->next_ms = clock_now_ms() + LOOK_MS;
    task_wake(self->task);
}

static uint64_t timetables_turn(void *context, uint64_t now_ms)
{
    struct timetables *self = context;
    if (now_ms < self->next_ms)
        return self->next_ms;
    return errands_own(self->config.errands, timetables_run, self, &self->running, now_ms);
}

void timetables_open(struct arena *arena, const struct timetables_config *config, struct task *task)
{
    struct timetables *self = arena_take(arena, 1, sizeof *self);
    *task = (struct task){ .name = "timetables", .self = self, .turn = timetables_turn, .rests = true };
    self->config = *config;
    self->task = task;
}
