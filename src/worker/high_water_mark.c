/* SPDX-License-Identifier: Apache-2.0 */
/* worker/high_water_mark.c: keeps the file `high-water` up with the database (config/high_water.h). */
#include "base/log.h"
#include "config/high_water.h"
#include "worker/worker_parts.h"

enum { LOOK_MS = 50, WRITE_MS = 5000 };

static void mark_write(struct desk *desk, bool blocks)
{
    high_water_reserve(desk->config.high_water, blocks);
    const enum status status = high_water_write(desk->config.folder, desk->config.high_water);
    if (status != STATUS_OK && !desk->high_water.failed)
        log_error("desk",
            "the file high-water can't be written (%s): an older database would not be"
            " recognized",
            status_name(status));
    desk->high_water.failed = status != STATUS_OK;
    desk->high_water.write_ms = desk->now_ms + WRITE_MS;
    desk->high_water.changed = false;
}

void desk_high_water_turn(struct desk *desk, bool at_once)
{
    bool changed = false, ahead = false;
    if (desk->config.high_water == NULL || (!at_once && desk->now_ms < desk->high_water.look_ms))
        return;
    desk->high_water.look_ms = desk->now_ms + LOOK_MS;
    if (high_water_look(desk->config.high_water, desk->config.store, &changed, &ahead) != STATUS_OK)
        return; /* away: nothing is given */
    desk->high_water.changed |= changed;
    if (ahead || (desk->high_water.changed && desk->now_ms >= desk->high_water.write_ms))
        mark_write(desk, true);
}

void desk_high_water_end(struct desk *desk)
{
    bool changed = false, ahead = false;
    if (desk->config.high_water != NULL
        && high_water_look(desk->config.high_water, desk->config.store, &changed, &ahead) == STATUS_OK)
        mark_write(desk, false);
}
