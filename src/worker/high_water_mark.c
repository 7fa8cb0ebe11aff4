/* SPDX-License-Identifier: Apache-2.0 */
/* worker/high_water_mark.c: keeps the file `high-water` up with the database (config/high_water.h). */
#include "base/log.h"
#include "config/high_water.h"
#include "worker/worker_parts.h"

enum { LOOK_MS = 50, WRITE_MS = 5000 };

static void mark_write(struct worker *worker, bool blocks)
{
    high_water_reserve(worker->config.high_water, blocks);
    const enum status status = high_water_write(worker->config.folder, worker->config.high_water);
    if (status != STATUS_OK && !worker->high_water.failed)
        log_error("worker",
            "the file high-water can't be written (%s): an older database would not be"
            " recognized",
            status_name(status));
    worker->high_water.failed = status != STATUS_OK;
    worker->high_water.write_ms = worker->now_ms + WRITE_MS;
    worker->high_water.changed = false;
}

void worker_high_water_turn(struct worker *worker, bool at_once)
{
    bool changed = false, ahead = false;
    if (worker->config.high_water == NULL || (!at_once && worker->now_ms < worker->high_water.look_ms))
        return;
    worker->high_water.look_ms = worker->now_ms + LOOK_MS;
    if (high_water_look(worker->config.high_water, worker->config.store, &changed, &ahead) != STATUS_OK)
        return; /* away: nothing is given */
    worker->high_water.changed |= changed;
    if (ahead || (worker->high_water.changed && worker->now_ms >= worker->high_water.write_ms))
        mark_write(worker, true);
}

void worker_high_water_end(struct worker *worker)
{
    bool changed = false, ahead = false;
    if (worker->config.high_water != NULL
        && high_water_look(worker->config.high_water, worker->config.store, &changed, &ahead) == STATUS_OK)
        mark_write(worker, false);
}
