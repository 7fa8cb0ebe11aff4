/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/world.h"

#include "base/log.h"
#include "inventory/snapshot.h"
#include "queue/journal_queue.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"
#include "tests/simulation/model_store.h"
#include "tests/simulation/sim_server.h"
#include "tests/simulation/sim_vfs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLLOW_RECORDS = 64, OPEN_TRIES_MAX = 200, SOON_OVER_MS = 800, SIM_LOT_ORDERS = 5 };

void world_create(struct world *world)
{
    static const char master[FUNNEL_MASTER_BYTES] = "the simulator has no secrets!!!";
    const struct span names[] = { SPAN("web"), SPAN("app"), SPAN("partner") };
    const struct engine_config config = {
        .items_max = SIM_ITEMS, .sales_max = SIM_SALES, .tickets_max = SIM_TICKETS, .places_max = SIM_PLACES
    };
    struct sim_page *pool = malloc(SIM_POOL_PAGES * sizeof *pool);
    invariant(pool != NULL);
    memset(world, 0, sizeof *world);
    sim_disk_create(&world->disk, pool);
    enum status status = engine_open(&world->shadow, &config);
    invariant(status == STATUS_OK);
    status = funnel_keys_derive(&world->keys, master, sizeof master);
    invariant(status == STATUS_OK);
    status = door_channels_set(&world->channels, names, 3);
    invariant(status == STATUS_OK);
    sim_vfs_register();
    log_level_set((enum log_level)(LOG_ERROR + 1)); /* faults are the daily business here */
}

/* ---- what the log says ---- */

static void shadow_reset(struct world *world)
{
    struct engine *shadow = &world->shadow;
    memset(shadow->arena.base, 0, shadow->arena.used);
    struct tickets *tickets = &shadow->tickets;
    tickets->moved = tickets->rows_end = tickets->free_count = tickets->free_head = tickets->last = 0;
    shadow->buyers.rows_end = shadow->buyers.free_count = shadow->buyers.free_head = 0;
    shadow->places.count = 0;
    shadow->keys.count = 0;
    shadow->tickets.capacity = world->model.tickets_max;
    shadow->buyers.capacity = world->model.buyers_max;
}

static void shadow_apply(struct world *world, const struct queue_record *record)
{
    struct outcome outcome;
    engine_apply(&world->shadow, &record->command, true, &outcome);
    if (outcome.answer != record->outcome.answer || outcome.ticket != record->outcome.ticket
        || outcome.number != record->outcome.number || outcome.applied != record->outcome.applied)
        violation("I15 replay",
            "record %" PRIu64 " comes to another outcome from the beginning of the log", record->at.seq);
}

void world_follow(struct world *world)
{
    struct queue_record records[FOLLOW_RECORDS];
    struct ticket_queue *queue = world->log_queue;
    uint32_t count = 0;
    do {
        const enum status status = queue->ops->poll(queue, records, FOLLOW_RECORDS, &count);
        if (status != STATUS_OK)
            violation("queue", "poll answers %s behind position %" PRIu64, status_name(status),
                world->model.lsn);
        for (uint32_t i = 0; i < count; i++) {
            if (records[i].at.seq <= world->model.lsn) {
                model_record_again(&world->model, &records[i]);
                continue;
            }
            model_record(&world->model, &records[i], world->engine_ms);
            shadow_apply(world, &records[i]);
            trace_step("log", records[i].at.seq, records[i].command.type, records[i].outcome.ticket);
        }
    } while (count > 0);
}

static void check_counts(const struct world *world, item_id id, const char *when)
{
    const struct model_item *item = &world->model.items[id];
    struct item_counts counts;
    if (item->sale == 0)
        return;
    engine_item_counts(embedded_engine(world->embedded), id, &counts);
    if (counts.given != item->given || counts.held != item->held || counts.sold != item->sold
        || counts.safety != item->safety || counts.written_off != item->written_off
        || memcmp(counts.channel_free, item->free, sizeof item->free) != 0)
        violation("I1 conservation", "%s: item %u has other counts than the log gives it", when, id);
}

void world_check_state(struct world *world, const char *when, bool slowly)
{
    const struct engine *engine = embedded_engine(world->embedded);
    for (item_id id = 1; id < SIM_ITEMS; id++)
        check_counts(world, id, when);
    const char *wrong = slowly ? engine_check(engine) : NULL;
    if (wrong != NULL)
        violation("engine_check", "%s: %s", when, wrong);
    if (engine_digest(engine) != engine_digest(&world->shadow))
        violation("I15 replay", "%s: the engine's state is not what its log gives", when);
}

/* ---- starting ---- */

static enum status process_open(struct world *world, struct embedded_report *report)
{
    enum status status = embedded_open(&world->embedded, &world->config, report);
    if (status != STATUS_OK)
        return status;
    status = journal_queue_open(
        &world->log_queue, &world->config.journal, embedded_journal(world->embedded), NULL);
    if (status == STATUS_OK)
        return STATUS_OK;
    embedded_close(world->embedded);
    world->embedded = NULL;
    return status;
}

static void inventory_open(struct world *world)
{
    struct embedded_report report;
    for (uint32_t tries = 0;; tries++) {
        const uint32_t faults = world->disk.faults;
        if (tries < 3 && world_chance(world, 12)) {
            world->disk.plan = world_chance(world, 60) ? SIM_FAULT_CRASH : SIM_FAULT_READ;
            world->disk.plan_in = (uint32_t)world_below(world, 14);
        }
        const enum status status = process_open(world, &report);
        world->disk.plan = SIM_FAULT_NONE;
        if (status == STATUS_OK)
            return;
        trace_step("open failed", status, world->disk.dead, world->disk.faults - faults);
        if (world->disk.dead)
            sim_disk_crash(&world->disk, (enum sim_crash)world_below(world, SIM_CRASHES));
        else if (status == STATUS_FULL && world->disk.full)
            world->disk.full = false;
        else if (world->disk.faults == faults || tries == OPEN_TRIES_MAX)
            violation("recovery", "the inventory does not start: %s (%s)", report.what,
                status_name(status));
    }
}

static struct inventory_request *pump_reserve(struct inventory_port *port)
{
    struct pump_port *pump = (struct pump_port *)port;
    return pump->inner->ops->reserve(pump->inner) == NULL ? NULL : &pump->request;
}

static struct world *pump_world; /* the port's ops have no room for it */

static void pump_commit(struct inventory_port *port)
{
    struct pump_port *pump = (struct pump_port *)port;
    struct inventory_request *slot = pump->inner->ops->reserve(pump->inner);
    const struct journal *journal = embedded_journal(pump_world->embedded);
    *slot = pump->request;
    slot->tag = model_asked(&pump_world->model, PUMP_PORT, &slot->command,
        journal_appended(journal), journal_durable(journal), pump_world->engine_ms);
    pump->tags[slot->tag] = pump->request.tag;
    presale_asked(pump_world, &slot->command);
    pump_world->commands++;
    trace_step("pump asks", slot->command.settle.ticket, slot->command.settle.step,
        slot->command.settle.to);
    pump->inner->ops->commit(pump->inner);
}

static void pump_flush(struct inventory_port *port)
{
    struct pump_port *pump = (struct pump_port *)port;
    pump->inner->ops->flush(pump->inner);
}

static const struct inventory_answer *pump_collect(struct inventory_port *port)
{
    struct pump_port *pump = (struct pump_port *)port;
    const struct inventory_answer *answer = pump->inner->ops->collect(pump->inner);
    if (answer == NULL)
        return NULL;
    model_told(&pump_world->model, PUMP_PORT, answer, pump_world->engine_ms);
    pump->answer = *answer;
    pump->answer.tag = pump->tags[answer->tag];
    return &pump->answer;
}

static const struct inventory_port_ops pump_ops = {
    .reserve = pump_reserve, .commit = pump_commit, .flush = pump_flush, .collect = pump_collect
};

static void store_open(struct world *world)
{
    char error[256] = "";
    if (world->store != NULL)
        return; /* the model store lives through everything */
    enum status status = STATUS_OK;
    if (world->store_kind == WORLD_STORE_MODEL) {
        const struct model_store_config config = { .orders = 64 };
        status = model_store_open(&world->store, &config);
    } else if (world->store_kind == WORLD_STORE_SERVER) {
        status = sim_server_open(&world->store, error, sizeof error);
    } else {
        status = sqlite_store_open(&world->store, "orders.db", SIM_VFS_NAME, error, sizeof error);
        if (status == STATUS_OK)
            store_lots_set(world->store, SIM_LOT_ORDERS);
    }
    if (status != STATUS_OK)
        violation("recovery", "the store does not open: %s (%s)", error, status_name(status));
    providers_store(world);
}

static void orders_open(struct world *world)
{
    const struct order_writer_config writer = {
        .queue = &world->sim_queue.queue, .store = &world->sim_store.store, .batch_max = SIM_BATCH
    };
    world->pump_port.port.ops = &pump_ops;
    world->pump_port.inner = world->ports[PUMP_PORT];
    const struct stock_pump_config pump = { .store = &world->sim_store.store,
        .port = &world->pump_port.port,
        .offer_window_ms = OFFER_WINDOW_MS,
        .flight_max = 8,
        .port_is_shared = true };
    enum status status =
        arena_open(&world->orders_arena, order_writer_bytes(SIM_BATCH) + stock_pump_bytes() + 4096);
    invariant(status == STATUS_OK);
    sim_queue_start(&world->sim_queue, &world->model, &world->random);
    sim_store_start(&world->sim_store, world->store, &world->random, world->seed, world->refusing);
    world->writer = order_writer_create(&world->orders_arena, &writer);
    world->pump = stock_pump_create(&world->orders_arena, &pump);
    waitlist_start(&world->waitlist,
        &(struct waitlist_config){ .store = world->store,
            .port = &world->pump_port.port,
            .board = embedded_board(world->embedded),
            .window_ms = OFFER_WINDOW_MS,
            .has_line = world->channel_count <= CHANNEL_LINE });
    providers_open(world);
    presale_open(world);
    rooms_start(world);
    world->writer_progress = (struct order_writer_progress){ 0 };
    world->pump_progress = (struct stock_pump_progress){ 0 };
    status = order_writer_start(world->writer);
    if (status != STATUS_OK)
        violation("I6 told is recovered", "the order side can't start behind this log: %s",
            status_name(status));
}

void world_open(struct world *world)
{
    world->lives++;
    inventory_open(world);
    pump_world = world;
    for (uint32_t i = 0; i < SIM_PORTS; i++)
        world->ports[i] = embedded_port(world->embedded, i, NULL);
    const lsn_t known = world->model.lsn;
    world_follow(world);
    if (journal_durable(embedded_journal(world->embedded)) != world->model.lsn)
        violation("I6 told is recovered", "the log ends at %" PRIu64 ", %" PRIu64 " was durable",
            journal_durable(embedded_journal(world->embedded)), world->model.lsn);
    model_forget_open(&world->model);
    const uint64_t floor_ms = embedded_time_floor(world->embedded);
    if (floor_ms < world->model.time_ms)
        violation("I11 time in the log", "starts at %" PRIu64 ", the log is at %" PRIu64, floor_ms,
            world->model.time_ms);
    world->engine_ms = floor_ms;
    /* The wall clock may have been set back; the program starts no earlier than its log, and the
     * inventory insists. */
    if (world_chance(world, 50) && world->now_ms < floor_ms)
        world->now_ms = floor_ms;
    world_check_state(world, "after recovery", world_chance(world, 25));
    store_open(world);
    orders_open(world);
    world->alive = world->just_opened = true;
    world->gave_up_waiting = false;
    trace_step("open", world->model.lsn, world->model.lsn - known, world->now_ms - 1000000);
}

/* ---- ending ---- */

static void process_close(struct world *world)
{
    world->log_queue->ops->close(world->log_queue);
    world->log_queue = NULL;
    embedded_close(world->embedded);
    world->embedded = NULL;
    arena_close(&world->orders_arena);
    world->alive = false;
}

void world_close(struct world *world)
{
    process_close(world);
    world->store->ops->close(world->store);
    world->store = NULL;
}

static void restart_later(struct world *world)
{
    world->now_ms += world_below(world, 500);
    if (world_chance(world, 30)) {
        world->now_ms += world_below(world, 2000);
        world->now_ms -= world_below(world, 3000);
    }
}

void world_crash(struct world *world)
{
    const enum sim_crash how = (enum sim_crash)world_below(world, SIM_CRASHES);
    trace_step("CRASH", how, world->model.lsn, journal_appended(embedded_journal(world->embedded)));
    world->crashes++;
    process_close(world);
    sim_disk_crash(&world->disk, how);
    if (world->store_kind == WORLD_STORE_MODEL) {
        model_store_crash(world->store);
    } else {
        if (world->store_kind == WORLD_STORE_SQLITE)
            sim_vfs_kill();
        world->store->ops->close(world->store);
        world->store = NULL;
        if (world->store_kind == WORLD_STORE_SQLITE)
            sim_vfs_restart(how);
    }
    restart_later(world);
    world_open(world);
}

void world_stop(struct world *world)
{
    world_rest(world);
    trace_step("stop", world->model.lsn, 0, 0);
    world_check_state(world, "before a stop", false);
    if (world_chance(world, 20)) {
        world->disk.plan = SIM_FAULT_CRASH; /* a stop can be cut short as well */
        world->disk.plan_in = (uint32_t)world_below(world, 8);
    }
    const enum status status = embedded_snapshot_now(world->embedded);
    world->disk.plan = SIM_FAULT_NONE;
    if (status != STATUS_OK && !world->disk.dead)
        violation("snapshot", "no snapshot at a clean stop: %s", status_name(status));
    world->stops++;
    if (world->disk.dead) {
        world_crash(world);
        return;
    }
    process_close(world);
    if (world->store_kind != WORLD_STORE_MODEL) {
        world->store->ops->close(world->store);
        world->store = NULL;
    }
    restart_later(world);
    world_open(world);
}

/* ---- one sale ---- */

static void journal_choose(struct world *world)
{
    const uint64_t pages = world->bursts ? 4 + world_below(world, 3) : 3 + world_below(world, 10);
    const uint64_t batch_pages =
        world->bursts ? 2 : 1 + world_below(world, pages - 1 < 3 ? pages - 1 : 3);
    const bool small = !world->bursts && world_chance(world, 3);
    world->data_id = 1 + world_below(world, UINT64_MAX - 1);
    world->config = (struct embedded_config){
        .journal = { .disk = &world->disk.disk,
            .data_id = world->data_id,
            .segment_bytes = pages * JOURNAL_PAGE,
            .batch_bytes = (uint32_t)(batch_pages * JOURNAL_PAGE) },
        .engine = { .items_max = SIM_ITEMS,
            .sales_max = SIM_SALES,
            .tickets_max = small ? 24 : SIM_TICKETS,
            .places_max = SIM_PLACES },
        .filter_key = { world->seed, 7 },
        .ports = SIM_PORTS,
        .ring_slots = world->bursts ? 64 : 8u << world_below(world, 2),
    };
}

static void item_choose(struct world *world, item_id id)
{
    static const uint32_t limits[] = { 1, 1, 1, 0, 2, 3, 4, 5 };
    struct command_preheat *wish = &world->item_wish[id];
    invariant(world->sale_count > 0);
    *wish = (struct command_preheat){ .item = id,
        .sale = (sale_id)(1 + (id - 1) % world->sale_count),
        .unit_price = 100 + world_below(world, 900),
        .limit_per_user = limits[world_below(world, 8)],
        .pay_window_ms = 1000 + (uint32_t)world_below(world, 100000),
        .locked = (uint32_t)world_below(world, 3),
        .sold_before = (uint32_t)world_below(world, 3),
        .safety = (uint32_t)world_below(world, 4) };
    if (world->bursts)
        wish->limit_per_user = 0;
    const struct command_sale *sale = &world->sale_wish[wish->sale];
    if (sale->end_ms < sale->start_ms + SOON_OVER_MS)
        wish->pay_window_ms = 1 + (uint32_t)world_below(world, 400);
    wish->total = wish->locked + wish->sold_before + wish->safety;
    for (uint32_t i = 0; i < world->channel_count; i++) {
        wish->channel_units[i] = (uint32_t)world_below(world, world->bursts ? 200 : 14);
        wish->total += wish->channel_units[i];
    }
}

static void sale_choose(struct world *world)
{
    world->sale_count = 1 + (uint32_t)world_below(world, 2);
    world->item_count = world->sale_count + (uint32_t)world_below(world, 3);
    if (world->bursts)
        world->item_count = 3;
    world->channel_count = 1 + (uint32_t)world_below(world, 3);
    world->refusing = world_chance(world, 60) ? 6 + (uint32_t)world_below(world, 30) : 0;
    world->key_count = world->place_count = 0;
    memset(world->sale_wish, 0, sizeof world->sale_wish);
    memset(world->item_wish, 0, sizeof world->item_wish);
    for (sale_id id = 1; id <= world->sale_count; id++) {
        const uint64_t start_ms = world->now_ms + world_below(world, 600);
        world->sale_wish[id] = (struct command_sale){ .sale = id,
            .limit_per_user =
                !world->bursts && world_chance(world, 40) ? 1 + (uint32_t)world_below(world, 6) : 0,
            .start_ms = start_ms,
            .end_ms = start_ms + 100000 + world_below(world, 1000),
            .eligible_only = !world->bursts && world_chance(world, 20),
            .one_open_order = !world->bursts && world_chance(world, 20),
            .cooldown_s = world_chance(world, 50) ? (uint16_t)(1 + world_below(world, 2)) : 0,
            .return_draw_ms = world_chance(world, 50) ? (uint16_t)(1 + world_below(world, 300)) : 0,
            .start_draw_ms = world_chance(world, 50) ? (uint16_t)(1 + world_below(world, 300)) : 0 };
        if (id == 2 && world_chance(world, 40)) /* soon over: its returned tickets can be reclaimed */
            world->sale_wish[id].end_ms = start_ms + 1 + world_below(world, SOON_OVER_MS - 1);
    }
    for (item_id id = 1; id <= world->item_count; id++)
        item_choose(world, id);
    presale_choose(world);
    pools_choose(world);
    for (uint32_t i = 0; i < SIM_USERS; i++)
        world->users[i] = (world_below(world, UINT64_MAX) & ~(uint64_t)(SIM_USERS - 1)) | i | 1u << 20;
}

static void catalog_fill(struct world *world)
{
    static struct product product; /* large */
    static struct sale sale;
    struct order_store *store = world->store;
    enum status status = store->ops->identity_set(store, world->data_id);
    product = (struct product){ .name = "thing", .images = "[]", .currency = "CNY", .list_price = 5000 };
    for (uint32_t i = 0; i < POOL_PRODUCT && status == STATUS_OK; i++)
        status = store->ops->product_insert(store, &product);
    if (status == STATUS_OK && world->pool_known)
        status = store->ops->product_stock(store, POOL_PRODUCT, world->pool_units);
    for (sale_id id = 1; id <= world->sale_count && status == STATUS_OK; id++) {
        const struct command_sale *wish = &world->sale_wish[id];
        sale = (struct sale){ .title = "sale",
            .start_ms = wish->start_ms,
            .end_ms = wish->end_ms,
            .limit_per_user = wish->limit_per_user,
            .eligible_only = wish->eligible_only,
            .one_open_order = wish->one_open_order,
            .cooldown_s = wish->cooldown_s,
            .return_draw_ms = wish->return_draw_ms,
            .start_draw_ms = wish->start_draw_ms };
        status = store->ops->sale_insert(store, &sale);
        invariant(status != STATUS_OK || sale.id == id);
    }
    for (item_id id = 1; id <= world->item_count && status == STATUS_OK; id++) {
        const struct command_preheat *wish = &world->item_wish[id];
        struct item item = { .sale = wish->sale,
            .product = world->pooled[id] ? POOL_PRODUCT : 1,
            .flash_price = wish->unit_price,
            .limit_per_user = wish->limit_per_user,
            .pay_window_ms = wish->pay_window_ms,
            .total = wish->total,
            .locked = wish->locked,
            .sold = wish->sold_before,
            .safety = wish->safety };
        memcpy(item.channel_units, wish->channel_units, sizeof item.channel_units);
        status = store->ops->item_insert(store, &item);
        invariant(status != STATUS_OK || item.id == id);
    }
    if (status != STATUS_OK)
        violation("store", "the catalog can't be filled: %s", status_name(status));
    presale_catalog(world);
}

static void world_reset(struct world *world, uint64_t seed, enum world_store store)
{
    trace_start(seed,
        store == WORLD_STORE_MODEL        ? "model"
            : store == WORLD_STORE_SQLITE ? "sqlite"
                                          : "server");
    world->seed = seed;
    world->store_kind = store;
    random_seed(&world->random, seed);
    sim_disk_reset(&world->disk, seed ^ UINT64_C(0xd15c));
    if (store == WORLD_STORE_SQLITE)
        sim_vfs_reset(seed ^ UINT64_C(0x5f5));
    if (store == WORLD_STORE_SERVER)
        sim_server_reset();
    world->now_ms = 1000000 + world_below(world, 1000);
    world->engine_ms = 0;
    memset(world->moved, 0, sizeof world->moved);
    world->payment_count = 0;
    memset(world->draws, 0, sizeof world->draws);
    memset(world->by_hand, 0, sizeof world->by_hand);
    memset(world->told_booking, 0, sizeof world->told_booking);
    memset(world->dismissed, 0, sizeof world->dismissed);
    world->booking_last = 0;
    world->backup_there = false;
    world->place_id_last = 0;
    world->lives = world->commands = world->crashes = world->stops = world->door_refusals = 0;
    world->bursts = seed % BURSTS_ONE_IN == 0;
    journal_choose(world);
    model_reset(&world->model, (uint32_t)world->config.engine.tickets_max);
    shadow_reset(world);
    sale_choose(world);
    funnel_keys_turn(&world->keys, world->now_ms);
}

static uint64_t world_hash(const struct world *world)
{
    uint64_t hash = trace.hash ^ engine_digest(&world->shadow) ^ world->model.told_hash;
    for (item_id id = 1; id <= world->item_count; id++) {
        struct item item;
        if (world->store->ops->item_get(world->store, id, &item) == STATUS_OK)
            hash = (hash ^ item.sold ^ (uint64_t)item.total << 20) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return hash;
}

/* The window's end: the last moment sells, the end itself does not. */
static void world_end(struct world *world)
{
    const uint64_t end_ms = world->model.sales[1].end_ms;
    if (end_ms <= world->engine_ms + 1)
        return;
    for (uint64_t late = 0; late < 2; late++) {
        world->now_ms = end_ms - 1 + late;
        trace_step("end", world->now_ms - 1000000, 0, 0);
        for (uint32_t i = 0; i < 6; i++)
            client_act(world);
        for (uint32_t i = 0; i < CLIENT_PORTS; i++)
            world->ports[i]->ops->flush(world->ports[i]);
        world_turn(world);
        world_write(world);
        world_turn(world);
    }
    world_rest(world);
}

uint64_t world_run(struct world *world, uint64_t seed, enum world_store store)
{
    world_reset(world, seed, store);
    store_open(world);
    catalog_fill(world);
    world_open(world);
    while (world->commands < (world->bursts ? COMMANDS_BURSTS : COMMANDS_MIN))
        world_step(world);
    if (world->crashes == 0)
        world_crash(world);
    world_rest(world);
    world_check_rest(world);
    world_restore(world);
    world_check_rest(world);
    world_sweep(world);
    world_end(world);
    if (world_chance(world, 50))
        world_crash(world);
    else
        world_stop(world);
    world_rest(world);
    world_check_rest(world);
    world_pools(world);
    world_rest(world);
    world_check_rest(world);
    world_expire(world);
    const uint64_t hash = world_hash(world);
    process_close(world);
    world->store->ops->close(world->store);
    world->store = NULL;
    return hash;
}
