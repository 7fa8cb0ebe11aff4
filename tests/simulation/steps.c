/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler: which thread runs next, what breaks next, and how time goes by. */
#include "tests/simulation/sim_vfs.h"
#include "tests/simulation/world.h"

#include <inttypes.h>
#include <string.h>

/* After a turn the board shows exactly what is durable: no flag stays, none comes early. */
static void check_board(const struct world *world)
{
    const struct board *board = embedded_board(world->embedded);
    if (atomic_load(&board->durable_lsn) != world->model.lsn)
        violation("board", "shows position %" PRIu64 ", durable is %" PRIu64,
            atomic_load(&board->durable_lsn), world->model.lsn);
    for (item_id id = 1; id <= world->item_count; id++) {
        const struct model_item *item = &world->model.items[id];
        struct board_update shown;
        const bool there = board_read(board, id, &shown);
        if (there != (item->sale != 0))
            violation("board", "item %u is shown wrongly", id);
        if (!there)
            continue;
        const struct model_sale *sale = &world->model.sales[item->sale];
        const enum gate gate = sale->ended ? GATE_ENDED
            : sale->paused                 ? GATE_PAUSED
            : sale->opened                 ? GATE_OPENED
                                           : GATE_SCHEDULED;
        if (memcmp(shown.counts.channel_free, item->free, sizeof item->free) != 0)
            violation("I3 the sold-out flag follows the stock",
                "item %u: the board shows %u free, the log has %u", id,
                shown.counts.channel_free[0], item->free[0]);
        if (shown.counts.held != item->held || shown.counts.sold != item->sold
            || shown.counts.given != item->given || shown.unit_price != item->price
            || shown.gate != gate || shown.end_ms != sale->end_ms)
            violation("board", "item %u is shown with other counts, price or gate than the log has", id);
    }
}

void world_turn(struct world *world)
{
    if (world->now_ms > world->engine_ms)
        world->engine_ms = world->now_ms;
    while (embedded_turn(world->embedded, world->now_ms)) {
    }
    if (!embedded_failed(world->embedded))
        check_board(world);
}

/* The journal broke: whatever was answered before may still be read, nothing may come after. */
static void after_fault(struct world *world)
{
    for (uint32_t i = 0; i < CLIENT_PORTS; i++)
        client_collect(world, i);
    world->gave_up_waiting = true;
    for (uint32_t i = 0; i < 3; i++) {
        client_act(world);
        for (uint32_t port = 0; port < CLIENT_PORTS; port++)
            world->ports[port]->ops->flush(world->ports[port]);
        world_turn(world);
        (void)embedded_write(world->embedded);
        for (uint32_t port = 0; port < CLIENT_PORTS; port++)
            client_collect(world, port);
    }
    world_crash(world);
}

void world_write(struct world *world)
{
    const uint32_t faults = world->disk.faults;
    const uint64_t luck = world_below(world, world->bursts ? 50 : 200);
    if (luck < 6) {
        world->disk.plan = luck < 4 ? SIM_FAULT_CRASH : luck < 5 ? SIM_FAULT_WRITE : SIM_FAULT_SYNC;
        world->disk.plan_in = (uint32_t)world_below(world, luck < 4 ? 4 : 2);
    }
    if (!embedded_write(world->embedded)) {
        world->disk.plan = SIM_FAULT_NONE;
        return;
    }
    world->disk.plan = SIM_FAULT_NONE;
    trace_step("write", journal_durable(embedded_journal(world->embedded)), world->disk.dead,
        world->disk.faults - faults);
    if (world->disk.dead) {
        world_crash(world);
        return;
    }
    const bool failed = embedded_failed(world->embedded);
    if (world->disk.faults != faults && !failed)
        violation("I14 fail-stop", "the disk failed while the journal was written, and it goes on");
    if (failed && world->disk.faults == faults)
        violation("journal", "failed although the disk did not");
    if (failed)
        after_fault(world);
    else
        world_follow(world);
}

static void step_housekeep(struct world *world)
{
    const uint32_t faults = world->disk.faults;
    if (world_chance(world, 9)) {
        world->disk.plan = (enum sim_fault)(SIM_FAULT_WRITE + world_below(world, 3));
        world->disk.plan_in = (uint32_t)world_below(world, 12);
    }
    const enum status status = embedded_housekeep(world->embedded);
    world->disk.plan = SIM_FAULT_NONE;
    if (status != STATUS_OK)
        trace_step("housekeep", status, world->disk.dead, world->disk.faults - faults);
    if (world->disk.dead)
        world_crash(world);
    else if (status != STATUS_OK && !world->disk.full && world->disk.faults == faults)
        violation("I15 replay", "no snapshot or segment could be made, but the disk is fine: %s",
            status_name(status));
    else if (embedded_failed(world->embedded))
        violation("journal", "failed because of housekeeping");
}

static void step_writer(struct world *world)
{
    if (world->store_kind == WORLD_STORE_SQLITE && world_chance(world, 3))
        sim_vfs_crash_in((uint32_t)world_below(world, 12));
    const enum status status = order_writer_turn(world->writer, world->now_ms, &world->writer_progress);
    sim_vfs_crash_not();
    trace_step("orders", world->writer_progress.position.seq, world->writer_progress.state,
        world->writer_progress.dead);
    if (world->store_kind == WORLD_STORE_SQLITE && sim_vfs_dead())
        world_crash(world);
    else if (status == STATUS_CORRUPT)
        violation("orders", "the order writer stopped: %s", world->writer_progress.trouble);
    else
        world_check_pool(world);
}

static void step_pump(struct world *world)
{
    const enum status status = stock_pump_turn(world->pump, world->now_ms, &world->pump_progress);
    if (status != STATUS_OK && !world->sim_store.away)
        violation("orders", "the pump can't read the store: %s", status_name(status));
    if (status == STATUS_OK && world->pump_progress.refused > 0)
        violation("I10 every unit returned once", "the inventory refuses a stock event");
    world_serve(world);
    rooms_run(world, 1 + (uint32_t)world_below(world, SIM_PLACES));
}

static void step_time(struct world *world)
{
    const uint64_t start_ms = world->sale_wish[1].start_ms;
    if (world->now_ms < start_ms && world_chance(world, 25))
        world->now_ms = start_ms - (world->now_ms < start_ms - 1);
    else
        world->now_ms += world_below(world, world_chance(world, 10) ? 400 : 12);
}

static void step_trouble(struct world *world)
{
    switch (world_below(world, 6)) {
    case 0:
        world->disk.full = !world->disk.full && world_chance(world, 30);
        break;
    case 1:
        world->sim_store.away = !world->sim_store.away && world_chance(world, 50);
        break;
    case 2:
        world->sim_queue.late = !world->sim_queue.late;
        break;
    case 3:
        world->sim_queue.away = !world->sim_queue.away && world_chance(world, 50);
        break;
    case 4:
        sim_vfs_full(world_chance(world, 40)); /* SQLite's disk */
        break;
    default:
        embedded_wins_until(world->embedded, world_chance(world, 20) ? world->model.lsn : UINT64_MAX);
        break;
    }
    trace_step("trouble", world->disk.full, world->sim_store.away, world->sim_queue.late);
}

enum { PAY_PERCENT = 25, GROUP_PERCENT = 25, POLICY_PERCENT = 12, POOL_PERCENT = 1 };

static bool setup_missing(const struct world *world)
{
    for (item_id id = 1; id <= world->item_count; id++)
        if (world->model.items[id].sale == 0)
            return true;
    return false;
}

void world_step(struct world *world)
{
    if (world_chance(world, PAY_PERCENT))
        world_pay(world);
    world_backup(world);
    if (world_chance(world, POLICY_PERCENT))
        world_presale(world);
    if (world_chance(world, POOL_PERCENT))
        world_pools(world);
    const uint64_t what = world_below(world, 1000);
    const bool first = world->just_opened;
    world->just_opened = false;
    if (world->bursts && world_chance(world, first ? 50 : 1)) {
        client_burst(world); /* right after a crash too: a large batch where a small one was torn */
    } else if (what < 360) {
        client_act(world);
        if (setup_missing(world) && world_chance(world, 50))
            client_setup(world);
    } else if (what < 460) {
        struct inventory_port *port = world->ports[world_below(world, CLIENT_PORTS)];
        port->ops->flush(port);
    } else if (what < 620) {
        world_turn(world);
    } else if (what < 740) {
        world_write(world);
    } else if (what < 820) {
        client_collect(world, (uint32_t)world_below(world, CLIENT_PORTS));
    } else if (what < 855) {
        step_housekeep(world);
    } else if (what < 882) {
        if (world_chance(world, GROUP_PERCENT))
            world_group(world);
        else
            world_move(world);
    } else if (what < 885) {
        world_wait(world);
    } else if (what < 920) {
        step_writer(world);
    } else if (what < 940) {
        step_pump(world);
    } else if (what < 980) {
        step_time(world);
    } else if (what < 997) {
        step_trouble(world);
    } else if (what < 999) {
        world_crash(world);
    } else {
        world_stop(world);
    }
}
