/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/order_writing.h"

#include "api/link.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "contract/board.h"
#include "contract/inventory.h"
#include "contract/limits.h"
#include "orders/order_writer.h"
#include "worker/alarm_checks.h"
#include "worker/order_news.h"
#include "worker/selling_rest.h"
#include "worker/task.h"
#include "worker/trace_export.h"
#include "worker/unpaid_orders.h"
#include "worker/written_news.h"

enum { HEALTH_LOOK_MS = 200, LETTERS_LOOK_MS = 1000 };

static HISTOGRAM(order_times, "stampede_order_lag_seconds",
    "From the decision of the inventory to the commit of the order.");

struct order_writing {
    struct order_writing_config config;
    struct task *task;
    /* The thread that writes. */
    struct order_writer *writer;
    struct order_store *own; /* NULL: it is the worker's task */
    struct selling_rest rest;
    bool held;       /* the wins are: it is logged once */
    uint64_t behind; /* records, after its last turn */
    struct thread thread;
    struct wake wake;
    _Atomic bool stop, last;     /* last: the worker wants to hear of every turn */
    struct written_news written; /* from it to the worker */
    /* The worker. */
    uint64_t turns_wanted;         /* at a stop */
    uint64_t lag;                  /* records of the log that are not orders yet */
    enum order_writer_state state; /* of the last turn */
    uint32_t records;              /* of the last transaction */
    uint64_t letters_ms;           /* without a queue: when dead letters are counted next */
};

static bool is_behind(const struct order_writing *writing, uint64_t lag)
{
    return lag > writing->config.lag_max / 4;
}

static bool is_filled(uint32_t records)
{
    return records > ORDER_BATCH_MAX / 4;
}

bool order_writing_is_behind(const struct order_writing *writing)
{
    return is_behind(writing, writing->lag);
}

bool order_writing_was_filled(const struct order_writing *writing)
{
    return is_filled(writing->records);
}

void order_writing_last(struct order_writing *writing)
{
    if (writing->own == NULL)
        return;
    /* One turn may wait to be taken, and the one that is under way may have looked at the log already. */
    writing->turns_wanted = writing->written.taken->turns + 3;
    atomic_store(&writing->last, true);
    wake_signal(&writing->wake);
}

bool order_writing_is_done(const struct order_writing *writing)
{
    if (writing->state == ORDER_WRITER_AWAY || writing->state == ORDER_WRITER_STOPPED)
        return true;
    return writing->lag == 0 && writing->written.taken->turns >= writing->turns_wanted;
}

/* ---- the thread that writes ---- */

static void wins_pace(struct order_writing *writing, const struct order_writer_progress *progress)
{
    struct inventory *inventory = writing->config.inventory;
    const uint64_t bound = writing->config.lag_max;
    link_health_set(writing->config.link,
        &(struct worker_health){ .away = progress->state == ORDER_WRITER_AWAY,
            .stopped = progress->state == ORDER_WRITER_STOPPED,
            .lag = progress->lag });
    inventory->ops->wins_until(inventory, progress->position.seq + bound);
    if (progress->lag >= bound && !writing->held) {
        log_error("worker", "orders are %llu records behind: wins wait for them",
            (unsigned long long)progress->lag);
    }
    writing->held = progress->lag >= bound - (writing->held ? bound / 10 : 0);
}

static struct order_writer_progress turn_make(struct order_writing *writing, uint64_t now_ms)
{
    struct order_writer_progress progress = { 0 };
    link_health_asks(writing->config.link, now_ms);
    thread_hurry(is_behind(writing, writing->behind));
    const enum status status = order_writer_turn(writing->writer, now_ms, &progress);
    thread_hurry(false);
    writing->behind = progress.lag;
    if (status != STATUS_OK && progress.state == ORDER_WRITER_STOPPED)
        log_error("worker", "orders can't be written: %s (%s)", status_name(status),
            progress.trouble == NULL ? "no further information" : progress.trouble);
    wins_pace(writing, &progress);
    return progress;
}

static void writing_run(void *context)
{
    struct order_writing *writing = context;
    const struct board *board = writing->config.inventory->board;
    struct order_writer_progress progress = { 0 };
    enum order_writer_state told = ORDER_WRITER_IDLE;
    metrics_thread_enter();
    thread_rank_set(THREAD_BACKGROUND);
    while (!atomic_load(&writing->stop)) {
        const uint64_t now_ms = clock_now_ms();
        const uint64_t until_ms = selling_rest_until(&writing->rest, now_ms,
            atomic_load_explicit(&board->durable_lsn, memory_order_relaxed),
            is_behind(writing, progress.lag), is_filled(progress.records));
        if (until_ms > now_ms) {
            wake_wait(&writing->wake, (uint32_t)(until_ms - now_ms));
            continue;
        }
        progress = turn_make(writing, now_ms);
        written_news_turn(&writing->written, &progress);
        if (progress.records > 0 || progress.state != told || atomic_load(&writing->last))
            wake_signal(writing->config.wake);
        told = progress.state;
        if (progress.wait_ms > 0)
            wake_wait(&writing->wake,
                progress.wait_ms < ORDER_BATCH_WAIT_MS ? progress.wait_ms : ORDER_BATCH_WAIT_MS);
    }
}

/* ---- the worker ---- */

/* What is known after one or more turns of the writer. */
static void progress_take(
    struct order_writing *writing, const struct order_writer_progress *progress, uint64_t now_ms)
{
    alarm_checks_writer(writing->config.alarms, progress, now_ms);
    writing->records = progress->records;
    writing->lag = progress->lag;
    writing->state = progress->state;
    if (progress->records > 0)
        unpaid_orders_look(writing->config.unpaid);
}

static void written_take(struct order_writing *writing, uint64_t now_ms)
{
    struct order_news *news = writing->config.news;
    if (!written_news_take(&writing->written))
        return;
    const struct written_block *taken = writing->written.taken;
    for (uint32_t i = 0; i < taken->note_count; i++)
        order_news_heard(news, taken->notes[i].ticket, taken->notes[i].user);
    if (taken->many)
        order_news_many(news);
    progress_take(writing, &taken->progress, now_ms);
}

void order_writing_heard(struct order_writing *writing, uint64_t ticket, uint64_t user)
{
    if (ticket != 0)
        written_news_note(&writing->written, ticket, user);
    else
        written_news_many(&writing->written);
}

void order_writing_heard_end(struct order_writing *writing)
{
    const struct order_writer_progress progress = { .records = 1 };
    written_news_turn(&writing->written, &progress);
    wake_signal(writing->config.wake);
}

/* Other processes write: how that goes is asked for. */
static void health_look(struct order_writing *writing, uint64_t now_ms)
{
    struct worker_health health = { 0 };
    link_health_asks(writing->config.link, now_ms);
    writing->config.health(writing->config.health_context, &health);
    link_health_set(writing->config.link, &health);
    const struct order_writer_progress progress = { .state = health.away ? ORDER_WRITER_AWAY
                                                                         : ORDER_WRITER_IDLE };
    if (now_ms >= writing->letters_ms) { /* others may have made some */
        writing->letters_ms = now_ms + LETTERS_LOOK_MS;
        alarm_checks_letters_changed(writing->config.alarms);
    }
    alarm_checks_writer(writing->config.alarms, &progress, now_ms);
}

static uint64_t writing_turn(void *self, uint64_t now_ms)
{
    struct order_writing *writing = self;
    if (writing->writer == NULL) {
        written_take(writing, now_ms);
        health_look(writing, now_ms);
        return now_ms + HEALTH_LOOK_MS;
    }
    if (writing->own != NULL) {
        written_take(writing, now_ms);
        return TASK_IDLE; /* it listens */
    }
    const struct order_writer_progress progress = turn_make(writing, now_ms);
    progress_take(writing, &progress, now_ms);
    return now_ms + (progress.wait_ms < ORDER_BATCH_WAIT_MS ? progress.wait_ms : ORDER_BATCH_WAIT_MS);
}

static void writing_stop(struct order_writing *writing)
{
    if (!writing->thread.started)
        return;
    atomic_store(&writing->stop, true);
    wake_signal(&writing->wake);
    if (!order_writing_is_done(writing)) /* the next start goes on with what is cut short */
        writing->own->ops->interrupt(writing->own);
    thread_join(&writing->thread);
}

/* The last notes are told. */
static void writing_end(void *self, uint64_t now_ms)
{
    struct order_writing *writing = self;
    writing_stop(writing);
    if (writing->own != NULL || writing->writer == NULL)
        written_take(writing, now_ms);
}

static void writing_close(void *self)
{
    struct order_writing *writing = self;
    writing_stop(writing); /* of a server that did not come to run */
    if (writing->own != NULL)
        writing->own->ops->close(writing->own);
    wake_close(&writing->wake); /* accepts one that was never opened */
    written_news_close(&writing->written);
}

size_t order_writing_bytes(void)
{
    return order_writer_bytes(0) + written_news_bytes();
}

static void changed(void *context, ticket_number ticket, user_id user)
{
    struct order_writing *writing = context;
    if (writing->own != NULL)
        written_news_note(&writing->written, ticket, user);
    else
        order_news_tell(writing->config.news, ticket, user);
}

static void wrote(void *context, const struct queue_record *record)
{
    const struct order_writing *writing = context;
    const uint64_t now_ms = clock_now_ms(), then_ms = record->command.time_ms;
    trace_wrote(writing->config.traces, record);
    histogram_note(&order_times, now_ms > then_ms ? (now_ms - then_ms) * 1000 : 0);
}

enum status order_writing_start(struct order_writing *writing)
{
    struct order_store *store = writing->config.store;
    if (!writing->config.beside || writing->writer == NULL)
        return STATUS_OK;
    enum status status = store->ops->writer_open(store, &writing->own);
    if (status != STATUS_OK || writing->own == NULL)
        return status; /* NULL: the database has one connection that writes */
    order_writer_use(writing->writer, writing->own);
    writing->task->rests = false; /* it only takes what is handed over */
    status = wake_open(&writing->wake);
    if (status == STATUS_OK)
        status = thread_start(&writing->thread, "orders", writing_run, writing);
    return status;
}

enum status order_writing_open(struct order_writing **out, struct arena *arena,
    const struct order_writing_config *config, struct task *task)
{
    struct order_writing *writing = arena_take(arena, 1, sizeof *writing);
    *out = writing;
    writing->config = *config;
    writing->task = task;
    writing->wake.fd = -1;
    written_news_open(&writing->written, arena);
    *task = (struct task){ .name = "orders",
        .self = writing,
        .turn = writing_turn,
        .end = writing_end,
        .close = writing_close,
        .listens = true,
        .rests = config->queue != NULL };
    if (config->queue == NULL)
        return STATUS_OK;
    writing->writer = order_writer_create(arena,
        &(struct order_writer_config){ .queue = config->queue,
            .store = config->store,
            .changed = changed,
            .changed_context = writing,
            .wrote = wrote });
    return order_writer_start(writing->writer);
}
