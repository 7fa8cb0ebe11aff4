/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/view_readers.h"

#include "api/handover.h"
#include "api/link.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "contract/order_cache.h"
#include "contract/order_store.h"
#include "worker/order_views.h"
#include "worker/task.h"
#include "worker/view_requests.h"

enum { IDLE_MS = 60 * 1000 };

/* Everything but `wake` and `stop` of the readers is the reader's own while its thread runs. */
struct reader {
    struct view_readers *readers;
    uint32_t index;
    struct order_store *store;
    struct order_views views;
    uint64_t entered; /* of the catalog */
    struct thread thread;
    struct wake wake;
    uint32_t first_edge; /* whose jobs are taken first: all in turn */
    uint32_t count;
    struct job *jobs[VIEW_BATCH];
};

struct view_readers {
    struct view_readers_config config;
    _Atomic bool stop;
    struct reader list[VIEW_READERS_MAX];
};

COUNTER(views_total, "stampede_order_views_total",
    "Order views and push texts that were read, on connections of their own.");
COUNTER(views_refused, "stampede_order_views_refused_total",
    "Order views and push texts that the database could not answer.");
COUNTER(views_shared, "stampede_order_views_shared_total",
    "Order views that were answered from Redis, without the database.");

/* One job of each edge, then the next of each. */
static void batch_take(struct reader *reader)
{
    struct link *link = reader->readers->config.link;
    const uint32_t edges = reader->readers->config.edges;
    uint32_t empty = 0;
    reader->count = 0;
    for (uint32_t i = reader->first_edge; empty < edges && reader->count < VIEW_BATCH; i++) {
        struct job *job = link_view_next(link, reader->index, i % edges);
        empty = job == NULL ? empty + 1 : 0;
        if (job != NULL)
            reader->jobs[reader->count++] = job;
        reader->first_edge = (i + 1) % edges;
    }
}

static void job_return(struct reader *reader, struct job *job, bool answered)
{
    metric_add(answered ? &views_total : &views_refused, 1);
    link_view_return(reader->readers->config.link, reader->index, job);
}

static bool job_share(struct reader *reader, struct job *job, uint64_t age_max_ms)
{
    if (!view_request_cached(&reader->views, job, age_max_ms))
        return false;
    metric_add(&views_shared, 1);
    job_return(reader, job, true);
    return true;
}

/* The database can't say it. */
static void job_refuse(struct reader *reader, struct job *job)
{
    if (job_share(reader, job, ORDER_CACHE_KEEP_MS))
        return;
    view_request_refuse(job);
    job_return(reader, job, false);
}

/* All that are there by now. */
static void waiting_refuse(struct reader *reader)
{
    const struct view_readers_config *config = &reader->readers->config;
    struct job *job;
    for (uint32_t edge = 0; edge < config->edges; edge++)
        for (uint32_t i = 0;
             i < VIEW_SLOTS && (job = link_view_next(config->link, reader->index, edge)) != NULL; i++)
            job_refuse(reader, job);
}

/* False: the database could not say, and the moment is over. */
static bool job_answer(struct reader *reader, struct job *job, bool *in_moment)
{
    struct order_store *store = reader->store;
    if (job_share(reader, job, VIEW_CACHED_MS))
        return true;
    if (!*in_moment)
        *in_moment = store->ops->moment_begin(store) == STATUS_OK;
    if (!*in_moment) {
        job_refuse(reader, job);
        return false;
    }
    *in_moment = view_request_answer(&reader->views, job);
    if (*in_moment) {
        job_return(reader, job, true);
        return true;
    }
    store->ops->moment_end(store);
    if (!job_share(reader, job, ORDER_CACHE_KEEP_MS))
        job_return(reader, job, false); /* it is refused already */
    return false;
}

static void batch_answer(struct reader *reader)
{
    struct order_store *store = reader->store;
    bool in_moment = false, given_up = false;
    for (uint32_t i = 0; i < reader->count; i++) {
        const uint64_t began_ns = clock_monotonic_ns();
        if (given_up)
            job_refuse(reader, reader->jobs[i]);
        else if (!job_answer(reader, reader->jobs[i], &in_moment))
            given_up = clock_monotonic_ns() - began_ns > (uint64_t)VIEW_UNANSWERED_MS * 1000000;
    }
    if (in_moment)
        store->ops->moment_end(store);
    if (given_up)
        waiting_refuse(reader);
}

static void reader_run(void *context)
{
    struct reader *reader = context;
    metrics_thread_enter();
    thread_rank_set(THREAD_SHOWS);
    while (!atomic_load(&reader->readers->stop)) {
        batch_take(reader);
        if (reader->count > 0)
            batch_answer(reader);
        else
            wake_wait(&reader->wake, IDLE_MS);
    }
}

enum status view_readers_start(struct view_readers *readers)
{
    const struct view_readers_config *config = &readers->config;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < config->count && status == STATUS_OK; i++) {
        struct reader *reader = &readers->list[i];
        reader->views = *config->views;
        reader->views.store = reader->store;
        reader->views.turns = config->turns;
        reader->views.reader = config->edges + i;
        reader->views.entered = &reader->entered;
        reader->views.cache = config->caches == NULL ? NULL : config->caches[i];
        status = thread_start(&reader->thread, "views", reader_run, reader);
    }
    return status;
}

static uint64_t readers_turn(void *self, uint64_t now_ms)
{
    (void)self;
    (void)now_ms;
    return TASK_IDLE;
}

/* No edge runs any more: nobody waits for what is cut short. */
static void readers_stop(struct view_readers *readers)
{
    atomic_store(&readers->stop, true);
    for (uint32_t i = 0; i < readers->config.count; i++) {
        struct reader *reader = &readers->list[i];
        if (!reader->thread.started)
            continue;
        reader->store->ops->interrupt(reader->store);
        wake_signal(&reader->wake);
    }
    for (uint32_t i = 0; i < readers->config.count; i++)
        thread_join(&readers->list[i].thread);
}

static void readers_end(void *self, uint64_t now_ms)
{
    (void)now_ms;
    readers_stop(self);
}

static void readers_close(void *self)
{
    struct view_readers *readers = self;
    readers_stop(readers); /* of a server that did not come to run */
    for (uint32_t i = 0; i < readers->config.count; i++) {
        wake_close(&readers->list[i].wake);
        if (readers->list[i].store != NULL)
            readers->list[i].store->ops->close(readers->list[i].store);
    }
}

enum status view_readers_open(struct view_readers **out, struct arena *arena,
    const struct view_readers_config *config, struct task *task)
{
    struct view_readers *readers = *out = arena_take(arena, 1, sizeof *readers);
    enum status status = STATUS_OK;
    readers->config = *config;
    for (uint32_t i = 0; i < config->count; i++)
        readers->list[i] = (struct reader){ .readers = readers, .index = i, .wake.fd = -1 };
    *task = (struct task){
        .name = "views", .self = readers, .turn = readers_turn, .end = readers_end, .close = readers_close
    };
    for (uint32_t i = 0; i < config->count && status == STATUS_OK; i++) {
        struct reader *reader = &readers->list[i];
        reader_left(config->turns, config->edges + i);
        status = config->store->ops->reader_open(config->store, &reader->store);
        if (status == STATUS_OK) {
            reader->store->ops->patience(reader->store, VIEW_PATIENCE_MS);
            status = wake_open(&reader->wake);
        }
        link_view_wake(config->link, i, &reader->wake);
    }
    return status;
}
