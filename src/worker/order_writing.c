/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/order_writing.h"

#include "api/link.h"
#include "base/arena.h"
#include "base/log.h"
#include "contract/inventory.h"
#include "contract/limits.h"
#include "orders/order_writer.h"
#include "worker/alarm_checks.h"
#include "worker/order_news.h"
#include "worker/task.h"
#include "worker/unpaid_orders.h"

struct order_writing {
    struct order_writing_config config;
    struct order_writer *writer;
    uint64_t lag;                  /* records of the log that are not orders yet */
    enum order_writer_state state; /* of the last turn */
    uint32_t records;              /* of the last transaction */
};

bool order_writing_is_behind(const struct order_writing *writing)
{
    return writing->lag > writing->config.lag_max / 4;
}

bool order_writing_was_filled(const struct order_writing *writing)
{
    return writing->records > ORDER_BATCH_MAX / 4;
}

bool order_writing_is_done(const struct order_writing *writing)
{
    return writing->lag == 0 || writing->state == ORDER_WRITER_AWAY
        || writing->state == ORDER_WRITER_STOPPED;
}

static void lag_take(struct order_writing *writing, const struct order_writer_progress *progress)
{
    struct inventory *inventory = writing->config.inventory;
    const uint64_t bound = writing->config.lag_max;
    const bool held = writing->lag > bound;
    writing->lag = progress->lag;
    writing->state = progress->state;
    link_health_set(writing->config.link,
        &(struct worker_health){ .away = progress->state == ORDER_WRITER_AWAY,
            .stopped = progress->state == ORDER_WRITER_STOPPED,
            .lag = progress->lag });
    if (progress->lag > bound && !held) {
        log_error("worker", "orders are %llu records behind: wins stop until they catch up",
            (unsigned long long)progress->lag);
        inventory->ops->hold_wins(inventory, WINS_ORDERS_LAG);
    } else if (progress->lag < bound - bound / 10) {
        inventory->ops->hold_wins(inventory, WINS_RUNNING);
    }
}

static uint64_t writing_turn(void *self, uint64_t now_ms)
{
    struct order_writing *writing = self;
    struct order_writer_progress progress = { 0 };
    const enum status status = order_writer_turn(writing->writer, now_ms, &progress);
    if (status != STATUS_OK && progress.state == ORDER_WRITER_STOPPED)
        log_error("worker", "orders can't be written: %s (%s)", status_name(status),
            progress.trouble == NULL ? "no further information" : progress.trouble);
    alarm_checks_writer(writing->config.alarms, &progress, now_ms);
    writing->records = progress.records;
    lag_take(writing, &progress);
    if (progress.records > 0)
        unpaid_orders_look(writing->config.unpaid);
    return now_ms + (progress.wait_ms < ORDER_BATCH_WAIT_MS ? progress.wait_ms : ORDER_BATCH_WAIT_MS);
}

size_t order_writing_bytes(void)
{
    return order_writer_bytes(0);
}

enum status order_writing_open(struct order_writing **out, struct arena *arena,
    const struct order_writing_config *config, struct task *task)
{
    struct order_writing *writing = arena_take(arena, 1, sizeof *writing);
    *out = writing;
    writing->config = *config;
    writing->writer = order_writer_create(arena,
        &(struct order_writer_config){ .queue = config->queue,
            .store = config->store,
            .changed = order_news_tell,
            .changed_context = config->news });
    *task = (struct task){
        .name = "orders", .self = writing, .turn = writing_turn, .listens = true, .rests = true
    };
    return order_writer_start(writing->writer);
}
