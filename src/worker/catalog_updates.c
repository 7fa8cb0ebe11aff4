/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/catalog_updates.h"

#include "api/catalog.h"
#include "api/handover.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/thread.h"
#include "contract/limits.h"
#include "policy/limit_rules.h"
#include "worker/page_export.h"
#include "worker/task.h"

enum { CHANGES_MAX = 64 }; /* that wait, because the database is away; more: all is read */

struct catalog_updates {
    struct catalog_updates_config config;
    struct task *task;
    bool all;
    uint32_t change_count;
    struct catalog_change changes[CHANGES_MAX];
};

static bool is_stale(const struct catalog_updates *updates)
{
    return updates->all || updates->change_count > 0;
}

/* ---- limit groups: the board's, so that the inventory tells whoever buys ---- */

static void group_show(
    const struct catalog_updates_config *config, const struct catalog *catalog, item_id id)
{
    const struct catalog_item *item = catalog_item_find(catalog, id);
    const bool limited = item != NULL && limit_most(&item->limits, LIMIT_PERIOD) > 0;
    if (id < config->items_max)
        board_set_limit_group(config->board, id,
            limited ? limit_scope(&item->limits, item->product, LIMIT_PERIOD) : 0);
}

static void groups_show(const struct catalog_updates_config *config, const struct catalog *catalog)
{
    for (item_id id = 1; id < config->items_max; id++)
        group_show(config, catalog, id);
}

static void groups_change(const struct catalog_updates_config *config, const struct catalog *before,
    const struct catalog *after, const struct catalog_change *change)
{
    if (change->part == CATALOG_ITEM)
        group_show(config, after, (item_id)change->id);
    if (change->part != CATALOG_SALE)
        return;
    const struct catalog_sale *sale = catalog_sale_find(after, (sale_id)change->id);
    if (sale == NULL)
        sale = catalog_sale_find(before, (sale_id)change->id);
    for (uint32_t i = 0; sale != NULL && i < sale->item_count; i++)
        group_show(config, after, sale->items[i]);
}

/* ---- the catalog ---- */

static enum status all_show(struct catalog_updates *updates)
{
    const struct catalog_updates_config *config = &updates->config;
    struct catalog *catalog = NULL;
    thread_hurry(handover_get(config->shown) == NULL); /* nobody sells before there is one */
    const enum status status = catalog_build(&catalog, config->store);
    thread_hurry(false);
    if (status != STATUS_OK)
        return status;
    updates->all = false;
    updates->change_count = 0;
    /* First: an item that is in the catalog is sold by the rules of its sale. */
    groups_show(config, catalog);
    catalog_rules_show(catalog, config->rules, config->items_max);
    handover_put(config->shown, config->turns, catalog);
    return STATUS_OK;
}

static enum status change_show(struct catalog_updates *updates, const struct catalog_change *change)
{
    const struct catalog_updates_config *config = &updates->config;
    struct catalog *now = handover_get(config->shown), *next = now;
    const enum status status = catalog_change(now, config->store, change, &next);
    if (next == now)
        return status;
    groups_change(config, now, next, change);
    catalog_rules_change(now, next, change, config->rules, config->items_max); /* likewise */
    handover_put(config->shown, config->turns, next);
    return STATUS_OK;
}

void catalog_updates_show(struct catalog_updates *updates)
{
    enum status status = STATUS_OK;
    if (!is_stale(updates))
        return;
    if (updates->all)
        status = all_show(updates);
    while (updates->change_count > 0 && status == STATUS_OK) {
        status = change_show(updates, &updates->changes[updates->change_count - 1]);
        if (status == STATUS_OK)
            updates->change_count--;
    }
    if (status != STATUS_OK)
        log_warn("worker", "the catalog can't be read now (%s); the previous one stays in use",
            status_name(status));
    else
        page_export_wanted(updates->config.pages);
}

/* Catalogs that were replaced are freed when no edge reads them any more: looked at in each round. */
static uint64_t updates_turn(void *self, uint64_t now_ms)
{
    struct catalog_updates *updates = self;
    handover_collect(updates->config.shown, updates->config.turns);
    catalog_updates_show(updates);
    return is_stale(updates) ? now_ms + ORDER_BATCH_WAIT_MS : TASK_IDLE;
}

struct catalog_updates *catalog_updates_open(
    struct arena *arena, const struct catalog_updates_config *config, struct task *task)
{
    struct catalog_updates *updates = arena_take(arena, 1, sizeof *updates);
    *updates = (struct catalog_updates){ .config = *config, .task = task, .all = true };
    *task = (struct task){
        .name = "catalog", .self = updates, .turn = updates_turn, .listens = true, .rests = true
    };
    return updates;
}

void catalog_updates_part(struct catalog_updates *updates, const struct catalog_change *change)
{
    if (updates->change_count == CHANGES_MAX)
        updates->all = true;
    else
        updates->changes[updates->change_count++] = *change;
    task_wake(updates->task);
}

void catalog_updates_all(struct catalog_updates *updates)
{
    updates->all = true;
    task_wake(updates->task);
}

bool catalog_updates_are_due(const struct catalog_updates *updates)
{
    return is_stale(updates);
}
