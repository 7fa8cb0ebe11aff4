/* SPDX-License-Identifier: Apache-2.0 */
#include "server/server_metrics.h"

#include "base/clock.h"
#include "base/metrics.h"

GAUGE(durable, "stampede_journal_durable_position", "Last log position that is durable.");
GAUGE(stopped, "stampede_wins_stopped",
    "0: wins are taken; else why not: 1 disk, 2 order lag, 3 full, 4 failed, 5 follower away.");
GAUGE(ready, "stampede_ready", "1 when wins are taken and the database is there.");

void server_metrics_update(const struct board *board, const struct link *link)
{
    const uint32_t reason = atomic_load_explicit(&board->wins_stopped, memory_order_relaxed);
    struct worker_health health;
    link_health(link, clock_now_ms(), &health);
    metric_set(&durable, atomic_load_explicit(&board->durable_lsn, memory_order_relaxed));
    metric_set(&stopped, reason);
    metric_set(&ready, reason == WINS_RUNNING && !health.away && !health.stopped && health.reason == NULL);
}
