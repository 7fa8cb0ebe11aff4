/* SPDX-License-Identifier: Apache-2.0 */
#include "server/housekeeper.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "contract/inventory.h"
#include "server/host.h"
#include "server/server_metrics.h"

#include <inttypes.h>

enum { ROUND_MS = 100, WALL_DRIFT_MS = 1000 };

static void clock_watch(bool *warned)
{
    const uint64_t wall = clock_wall_ms(), ours = clock_now_ms();
    const uint64_t apart = wall > ours ? wall - ours : ours - wall;
    if (apart > WALL_DRIFT_MS && !*warned)
        log_warn("server",
            "the wall clock is %" PRIu64 " ms from the server's clock, which goes on as it was", apart);
    *warned = apart > WALL_DRIFT_MS;
}

static void housekeeper_run(void *context)
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

static void keeper_run(void *context)
{
    struct housekeeper *housekeeper = context;
    metrics_thread_enter();
    thread_rank_set(THREAD_BACKGROUND);
    while (!atomic_load(&housekeeper->stop)) {
        (void)!host_keep(housekeeper->host); /* it is logged, and tried again */
        wake_wait(&housekeeper->keeper_wake, ROUND_MS);
    }
}

enum status housekeeper_start(struct housekeeper *housekeeper, struct host *host, const struct link *link)
{
    housekeeper->host = host;
    housekeeper->link = link;
    enum status status = wake_open(&housekeeper->wake);
    if (status == STATUS_OK)
        status = wake_open(&housekeeper->keeper_wake);
    if (status == STATUS_OK)
        status = thread_start(&housekeeper->thread, "housekeeper", housekeeper_run, housekeeper);
    if (status == STATUS_OK)
        status = thread_start(&housekeeper->keeper, "keeper", keeper_run, housekeeper);
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
    thread_stop(&housekeeper->keeper, &housekeeper->keeper_wake);
}
