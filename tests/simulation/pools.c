/* SPDX-License-Identifier: Apache-2.0 */
/* Overlapping sales of one product: their items take their units from its stock before they are preheated,
 * and what they have not sold goes back after the end. At each commit of the database a unit is in the stock,
 * in one item, or gone. */
#include "policy/stock_share.h"
#include "tests/simulation/sim_vfs.h"
#include "tests/simulation/world.h"
#include "worker/sale_commands.h"

#include <inttypes.h>
#include <string.h>

enum { POOL_ITEMS = 2, UNITS_BELOW = 40 };

void pools_choose(struct world *world)
{
    memset(world->pooled, 0, sizeof world->pooled);
    world->pool_units = (uint32_t)world_below(world, UNITS_BELOW);
    world->pool_known = !world->bursts && world_chance(world, 40);
    for (item_id id = 1; world->pool_known && id <= POOL_ITEMS && id <= world->item_count; id++)
        world->pooled[id] = id != world->presale_item && id != world->deposit_item;
}

static void pool_failed(const struct world *world, enum status status)
{
    (void)world;
    if (status == STATUS_CORRUPT || status == STATUS_REFUSED || status == STATUS_NOT_FOUND)
        violation("the stock of a product", "the store fails: %s", status_name(status));
}

bool pools_draw(struct world *world, item_id id)
{
    struct item item = { .id = id };
    if (!world->pooled[id])
        return true;
    if (world->sim_store.away)
        return false;
    if (world->store_kind == WORLD_STORE_SQLITE && world_chance(world, 10))
        sim_vfs_crash_in((uint32_t)world_below(world, 12));
    const enum status status = world->store->ops->item_draw(world->store, &item);
    sim_vfs_crash_not();
    trace_step("draw", id, item.total, status);
    pool_failed(world, status);
    if (world->store_kind == WORLD_STORE_SQLITE && sim_vfs_dead()) {
        world_crash(world);
        return false;
    }
    if (status != STATUS_OK)
        return false;
    const struct command command = preheat_command(&item);
    world->item_wish[id] = command.preheat;
    memset(world->item_wish[id].currency, 0, sizeof world->item_wish[id].currency);
    world_check_pool(world);
    return true;
}

/* ---- what is not sold goes back ---- */

static bool somebody_waits(const struct world *world, item_id id)
{
    struct waitlist_line line;
    uint32_t count = 0;
    const enum status status =
        world->store->ops->waitlist->lines(world->store, id - 1, &line, 1, &count);
    return status != STATUS_OK || (count > 0 && line.item == id);
}

static void item_gives_back(struct world *world, item_id id)
{
    struct command commands[STOCK_BACK_MAX];
    struct board_update view;
    if (!board_read(embedded_board(world->embedded), id, &view) || somebody_waits(world, id))
        return;
    const uint32_t count = stock_back(id, &view.counts, commands);
    for (uint32_t i = 0; i < count; i++) /* the board may be old: twice is no more than once */
        (void)client_ask(world, 0, &commands[i]);
}

void world_pools(struct world *world)
{
    struct item items[SIM_ITEMS];
    uint32_t count = 0;
    if (!world->pool_known || world->sim_store.away)
        return;
    const enum status status =
        world->store->ops->items_pooled(world->store, 0, 0, world->now_ms, items, SIM_ITEMS, &count);
    pool_failed(world, status);
    trace_step("give back", count, status, 0);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        item_gives_back(world, items[i].id);
}

/* ---- accounts ---- */

/* What the log up to this position has taken from the item and from the shop. */
static uint64_t units_gone(const struct world *world, item_id id, lsn_t up_to)
{
    uint64_t gone = 0;
    for (lsn_t lsn = 1; lsn <= up_to; lsn++) {
        const struct queue_record *record = &world->model.log[lsn];
        if (record->command.type == COMMAND_ADJUST && record->command.adjust.item == id
            && record->command.adjust.gone && record->outcome.applied < 0)
            gone += (uint64_t)-record->outcome.applied;
    }
    return gone;
}

void world_check_pool(const struct world *world)
{
    static struct product product; /* large */
    struct position position = { 0 };
    uint64_t units = 0;
    if (!world->pool_known || world->sim_store.away)
        return;
    const struct order_store *store = world->store;
    if (store->ops->product_get(world->store, POOL_PRODUCT, &product) != STATUS_OK
        || store->ops->applied(world->store, 0, &position) != STATUS_OK)
        return; /* its machine is down */
    for (item_id id = 1; id <= world->item_count; id++) {
        struct item item;
        if (!world->pooled[id] || store->ops->item_get(world->store, id, &item) != STATUS_OK
            || !item.pooled)
            continue;
        units += item.total - world->item_wish[id].sold_before + units_gone(world, id, position.seq);
    }
    if (product.stock < 0 || (uint64_t)product.stock + units != world->pool_units)
        violation("I1 the stock of a product",
            "%" PRId64 " units are in its stock and %" PRIu64 " in items or gone, it had %u",
            product.stock, units, world->pool_units);
}

void world_check_units(const struct world *world)
{
    world_check_pool(world);
    for (item_id id = 1; id <= world->item_count; id++) {
        const struct model_item *model = &world->model.items[id];
        struct item item;
        if (model->sale == 0)
            continue;
        if (world->store->ops->item_get(world->store, id, &item) != STATUS_OK || item.total != model->total)
            violation("I16 the database is the log's fold",
                "item %u has %u units in the database, the log gives it %u", id, item.total,
                model->total);
    }
}
