/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/catalog_updates.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "base/arena.h"
#include "base/log.h"
#include "contract/limits.h"
#include "worker/page_export.h"
#include "worker/task.h"

struct catalog_updates {
    struct catalog_updates_config config;
    struct task *task;
    bool stale;
};

void catalog_updates_show(struct catalog_updates *updates)
{
    struct catalog *catalog = NULL;
    if (!updates->stale)
        return;
    const enum status status = catalog_build(&catalog, updates->config.store);
    if (status != STATUS_OK) {
        log_warn("worker", "the catalog can't be read now (%s); the previous one stays in use",
            status_name(status));
        return;
    }
    updates->stale = false;
    /* First: an item that is in the catalog is sold by the rules of its sale. */
    catalog_rules_show(catalog, updates->config.rules, updates->config.items_max);
    handover_put(updates->config.shown, updates->config.turns, catalog);
    page_export_wanted(updates->config.pages);
}

/* Catalogs that were replaced are freed when no edge reads them any more: looked at in each round. */
static uint64_t updates_turn(void *self, uint64_t now_ms)
{
    struct catalog_updates *updates = self;
    handover_collect(updates->config.shown, updates->config.turns);
    catalog_updates_show(updates);
    return updates->stale ? now_ms + ORDER_BATCH_WAIT_MS : TASK_IDLE;
}

struct catalog_updates *catalog_updates_open(
    struct arena *arena, const struct catalog_updates_config *config, struct task *task)
{
    struct catalog_updates *updates = arena_take(arena, 1, sizeof *updates);
    *updates = (struct catalog_updates){ .config = *config, .task = task, .stale = true };
    *task = (struct task){
        .name = "catalog", .self = updates, .turn = updates_turn, .listens = true, .rests = true
    };
    return updates;
}

void catalog_updates_changed(struct catalog_updates *updates)
{
    updates->stale = true;
    task_wake(updates->task);
}

bool catalog_updates_are_due(const struct catalog_updates *updates)
{
    return updates->stale;
}
