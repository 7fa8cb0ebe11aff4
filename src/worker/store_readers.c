/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/store_readers.h"

#include "api/job_reply.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "contract/order_store.h"
#include "worker/job_line.h"
#include "worker/task.h"

enum {
    IDLE_MS = 60 * 1000,
};

/* `job` belongs to the worker while the state is FREE or ANSWERED, and to the reader while it is ASKED. */
enum reader_state { READER_FREE, READER_ASKED, READER_ANSWERED };

struct reader {
    struct store_readers *readers;
    struct order_store *store;
    struct thread thread;
    struct wake wake;
    _Atomic uint32_t state; /* enum reader_state */
    struct job *job;
};

struct store_readers {
    struct store_readers_config config;
    _Atomic bool stop;
    uint32_t count; /* of readers that run: the first ones */
    struct reader list[STORE_READERS_MAX];
    struct job_line line; /* those that wait for a reader */
};

COUNTER(reads_total, "stampede_store_reads_total",
    "Requests of operators that were read on a connection of their own.");

static void reader_run(void *context)
{
    struct reader *reader = context;
    const struct store_readers_config *config = &reader->readers->config;
    metrics_thread_enter();
    thread_rank_set(THREAD_LAST);
    while (!atomic_load(&reader->readers->stop)) {
        if (atomic_load_explicit(&reader->state, memory_order_acquire) != READER_ASKED) {
            wake_wait(&reader->wake, IDLE_MS);
            continue;
        }
        config->read(config->context, reader->store, reader->job);
        metric_add(&reads_total, 1);
        atomic_store_explicit(&reader->state, READER_ANSWERED, memory_order_release);
        wake_signal(config->wake);
    }
}

static bool reader_start(struct store_readers *readers, struct reader *reader)
{
    struct order_store *store = readers->config.store;
    *reader = (struct reader){ .readers = readers, .wake.fd = -1 };
    enum status status = store->ops->reader_open(store, &reader->store);
    if (status == STATUS_OK)
        status = wake_open(&reader->wake);
    if (status == STATUS_OK)
        status = thread_start(&reader->thread, "reader", reader_run, reader);
    if (status == STATUS_OK)
        return true;
    log_error("worker", "no connection that only reads: %s", status_name(status));
    wake_close(&reader->wake);
    if (reader->store != NULL)
        reader->store->ops->close(reader->store);
    return false;
}

void store_readers_start(struct store_readers *readers)
{
    const bool can = readers->config.store->ops->reader_open != NULL;
    while (can && readers->count < readers->config.count
        && reader_start(readers, &readers->list[readers->count]))
        readers->count++;
}

static void jobs_ask(struct store_readers *readers)
{
    for (uint32_t i = 0; i < readers->count && readers->line.first != NULL; i++) {
        struct reader *reader = &readers->list[i];
        if (atomic_load_explicit(&reader->state, memory_order_acquire) != READER_FREE)
            continue;
        reader->job = job_line_take(&readers->line);
        atomic_store_explicit(&reader->state, READER_ASKED, memory_order_release);
        wake_signal(&reader->wake);
    }
}

static void jobs_collect(struct store_readers *readers)
{
    const struct store_readers_config *config = &readers->config;
    for (uint32_t i = 0; i < readers->count; i++) {
        struct reader *reader = &readers->list[i];
        if (atomic_load_explicit(&reader->state, memory_order_acquire) != READER_ANSWERED)
            continue;
        config->done(config->context, reader->job);
        atomic_store_explicit(&reader->state, READER_FREE, memory_order_relaxed);
    }
}

void store_readers_add(struct store_readers *readers, struct job *job)
{
    const struct store_readers_config *config = &readers->config;
    if (readers->count == 0) {
        config->read(config->context, config->store, job);
        config->done(config->context, job);
        return;
    }
    job_line_add(&readers->line, job);
    jobs_ask(readers);
}

static uint64_t readers_turn(void *self, uint64_t now_ms)
{
    (void)now_ms;
    jobs_collect(self);
    jobs_ask(self);
    return TASK_IDLE;
}

/* What runs is cut short, what waits is refused: a stop does not wait for a report. */
static void readers_end(void *self, uint64_t now_ms)
{
    struct store_readers *readers = self;
    (void)now_ms;
    atomic_store(&readers->stop, true);
    for (uint32_t i = 0; i < readers->count; i++) {
        struct order_store *store = readers->list[i].store;
        store->ops->interrupt(store);
        wake_signal(&readers->list[i].wake);
    }
    for (uint32_t i = 0; i < readers->count; i++)
        thread_join(&readers->list[i].thread);
    for (uint32_t i = 0; i < readers->count; i++)
        if (atomic_load(&readers->list[i].state) == READER_ASKED) { /* it stopped before it looked */
            job_reply_status(readers->list[i].job, STATUS_AWAY);
            atomic_store(&readers->list[i].state, READER_ANSWERED);
        }
    jobs_collect(readers);
    struct job *job;
    while ((job = job_line_take(&readers->line)) != NULL) {
        job_reply_status(job, STATUS_AWAY);
        readers->config.done(readers->config.context, job);
    }
}

static void readers_close(void *self)
{
    struct store_readers *readers = self;
    for (uint32_t i = 0; i < readers->count; i++) {
        wake_close(&readers->list[i].wake);
        readers->list[i].store->ops->close(readers->list[i].store);
    }
}

struct store_readers *store_readers_open(
    struct arena *arena, const struct store_readers_config *config, struct task *task)
{
    struct store_readers *readers = arena_take(arena, 1, sizeof *readers);
    invariant(config->count <= STORE_READERS_MAX);
    readers->config = *config;
    *task = (struct task){ .name = "readers",
        .self = readers,
        .turn = readers_turn,
        .end = readers_end,
        .close = readers_close,
        .listens = true };
    return readers;
}
