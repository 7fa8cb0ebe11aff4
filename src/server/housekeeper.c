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
        if (host_housekeep(housekeeper->host) == STATUS_OK)
            clock_watch(&warned);
        server_metrics_update(housekeeper->host->inventory->board, housekeeper->link);
        wake_wait(&housekeeper->wake, ROUND_MS);
    }
}

enum status housekeeper_start(struct housekeeper *housekeeper, struct host *host, const struct link *link)
{
    housekeeper->host = host;
    housekeeper->link = link;
    const enum status status = wake_open(&housekeeper->wake);
    return status == STATUS_OK
        ? thread_start(&housekeeper->thread, "housekeeper", housekeeper_run, housekeeper)
        : status;
}

void housekeeper_stop(struct housekeeper *housekeeper)
{
    atomic_store(&housekeeper->stop, true);
    if (housekeeper->thread.started)
        wake_signal(&housekeeper->wake);
    thread_join(&housekeeper->thread);
    if (housekeeper->wake.fd > 0)
        wake_close(&housekeeper->wake);
}
