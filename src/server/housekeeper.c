/* SPDX-License-Identifier: Apache-2.0 */
#include "server/housekeeper.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "contract/inventory.h"
#include "funnel/limits.h"
#include "server/host.h"
#include "server/server_metrics.h"

#include <inttypes.h>

GAUGE(tables_ready, "stampede_tables_ready",
    "1 once the tables that a crowd looks up have their memory; 0 while nothing is to be sold.");

enum {
    ROUND_MS = 100,
    WALL_DRIFT_MS = 1000,
    BUSY_RECORDS_PER_S = 2000, /* of the log; below this nobody feels what upkeep does */
    BUSY_STAYS_MS = 3000,      /* more may come after a moment */
};

static void clock_watch(bool *warned)
{
    const uint64_t wall = clock_wall_ms(), ours = clock_now_ms();
    const uint64_t apart = wall > ours ? wall - ours : ours - wall;
    if (apart > WALL_DRIFT_MS && !*warned)
        log_warn("server",
            "the wall clock is %" PRIu64 " ms from the server's clock, which goes on as it was", apart);
    *warned = apart > WALL_DRIFT_MS;
}

static void housekeep_run(void *context)
{
    struct housekeeper *housekeeper = context;
    bool warned = false;
    metrics_thread_enter();
    thread_rank_set(THREAD_BACKGROUND);
    while (!atomic_load(&housekeeper->stop)) {
        if (host_prepare(housekeeper->host) == STATUS_OK)
            clock_watch(&warned);
        server_metrics_update(housekeeper->host->inventory->board, housekeeper->link);
        wake_wait(&housekeeper->wake, ROUND_MS);
    }
}

/* Something is on sale, or will be: prepared, and not over. */
static bool will_sell(const struct board *board, uint64_t now_ms)
{
    struct board_update item;
    for (item_id id = 1; id < board->item_count; id++)
        if (board_read(board, id, &item) && item.end_ms > now_ms)
            return true;
    return false;
}

/* A page that is touched for the first time costs its purchase as much as all the rest. So tables that are
 * looked up here and there have all their pages before the crowd comes; a server that sells nothing takes
 * none. */
static void tables_touch(struct housekeeper *housekeeper)
{
    const struct board *board = housekeeper->host->inventory->board;
    const lsn_t durable = atomic_load_explicit(&board->durable_lsn, memory_order_relaxed);
    if (housekeeper->touched || (housekeeper->looked && durable == housekeeper->seen))
        return;
    housekeeper->looked = true;
    housekeeper->seen = durable;
    if (!will_sell(board, clock_now_ms()))
        return;
    limits_touch(housekeeper->limits);
    host_touch(housekeeper->host);
    housekeeper->touched = true;
    metric_set(&tables_ready, 1);
}

bool housekeeper_many_come(struct housekeeper *housekeeper, lsn_t end, uint64_t now_ms)
{
    const uint64_t records = end - housekeeper->round_end, took_ms = now_ms - housekeeper->round_ms;
    housekeeper->round_end = end;
    housekeeper->round_ms = now_ms;
    if (records * 1000 > took_ms * BUSY_RECORDS_PER_S)
        housekeeper->busy_until_ms = now_ms + BUSY_STAYS_MS;
    return now_ms < housekeeper->busy_until_ms;
}

static void upkeep_run(void *context)
{
    struct housekeeper *housekeeper = context;
    metrics_thread_enter();
    thread_rank_set(THREAD_BACKGROUND);
    while (!atomic_load(&housekeeper->stop)) {
        const struct board *board = housekeeper->host->inventory->board;
        const lsn_t end = atomic_load_explicit(&board->durable_lsn, memory_order_relaxed);
        const bool busy = housekeeper_many_come(housekeeper, end, clock_now_ms());
        tables_touch(housekeeper);
        (void)!host_keep(housekeeper->host, busy); /* it is logged, and tried again */
        wake_wait(&housekeeper->upkeep_wake, ROUND_MS);
    }
}

enum status housekeeper_start(struct housekeeper *housekeeper, struct host *host,
    const struct link *link, struct limits *limits)
{
    housekeeper->host = host;
    housekeeper->link = link;
    housekeeper->limits = limits;
    enum status status = wake_open(&housekeeper->wake);
    if (status == STATUS_OK)
        status = wake_open(&housekeeper->upkeep_wake);
    if (status == STATUS_OK)
        status = thread_start(&housekeeper->thread, "housekeeper", housekeep_run, housekeeper);
    if (status == STATUS_OK)
        status = thread_start(&housekeeper->upkeep, "upkeep", upkeep_run, housekeeper);
    return status;
}

static void thread_stop(struct thread *thread, struct wake *wake)
{
    if (thread->started)
        wake_signal(wake);
    thread_join(thread);
    if (wake->fd > 0)
        wake_close(wake);
}

void housekeeper_stop(struct housekeeper *housekeeper)
{
    atomic_store(&housekeeper->stop, true);
    thread_stop(&housekeeper->thread, &housekeeper->wake);
    thread_stop(&housekeeper->upkeep, &housekeeper->upkeep_wake);
}
