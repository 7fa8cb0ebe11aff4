/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/embedded_open.c: opening with recovery, snapshots, closing. */
#include "base/log.h"
#include "inventory/embedded_parts.h"
#include "inventory/replay.h"
#include "inventory/snapshot.h"
#include "inventory/snapshot_files.h"

#include <stdio.h>
#include <stdlib.h>

static void board_fill(struct embedded *embedded)
{
    for (item_id item = 1; item < embedded->config.engine.items_max; item++) {
        struct board_update view;
        if (!engine_item_view(&embedded->engine, item, &view))
            continue;
        board_publish(&embedded->board, &view);
        board_note_sold_out(&embedded->board, &view, 0);
    }
    for (sale_id sale = 1; sale < embedded->config.engine.sales_max; sale++) {
        const struct board_room_update room = engine_room_view(&embedded->engine, sale);
        board_publish_room(&embedded->board, &room);
    }
    atomic_store(&embedded->board.places_durable, embedded->engine.places.count);
    atomic_store(&embedded->board.places_freed, embedded->engine.places.begin);
    const struct tickets *tickets = &embedded->engine.tickets;
    for (uint64_t i = 0; i < tickets->rows_end; i++)
        if (tickets->rows[i].used)
            board_add_buyer(&embedded->board, tickets->rows[i].item, tickets->rows[i].user);
    embedded_show_tables(embedded);
}

enum status embedded_snapshot_now(struct embedded *embedded)
{
    struct journal_position end;
    if (journal_failed(embedded->journal))
        return STATUS_IO;
    invariant(embedded_idle(embedded));
    journal_end(embedded->journal, &end);
    if (end.lsn == 0)
        return STATUS_OK; /* nothing to keep */
    return snapshot_write(
        embedded->config.journal.disk, &embedded->engine, embedded->config.journal.data_id, &end);
}

/* What makes a snapshot large. */
static uint64_t rows_count(const struct engine *engine)
{
    return engine->tickets.rows_end + engine->buyers.rows_end + engine->places.count
        - engine->places.begin;
}

static enum status snapshot_build(struct embedded *embedded, uint64_t until)
{
    struct engine engine;
    struct journal_recovery recovery;
    struct journal_position from;
    enum status status = engine_open(&engine, &embedded->config.engine);
    if (status != STATUS_OK)
        return status;
    struct replay replay = { .engine = &engine };
    struct disk *disk = embedded->config.journal.disk;
    const uint64_t data_id = embedded->config.journal.data_id;
    status = snapshot_load_latest(disk, &engine, &embedded->config.engine, data_id, &from);
    if (status == STATUS_OK && from.lsn < until) {
        status = journal_scan_until(
            &embedded->config.journal, &from, until, replay_record, &replay, &recovery);
        if (status == STATUS_OK)
            status = snapshot_write(disk, &engine, data_id, &recovery.end);
        if (status == STATUS_OK) {
            embedded->snapshot_lsn = recovery.end.lsn;
            embedded->snapshot_rows = rows_count(&engine);
        }
    }
    if (status != STATUS_OK)
        log_error("inventory", "no snapshot could be written (%s%s%s); replay after a crash takes longer",
            status_name(status), replay.what[0] != 0 ? ": " : "", replay.what);
    engine_close(&engine);
    return status;
}

/* On a full disk, too: it gives room back. But the next segment is prepared first: wins need that one. */
static enum status segment_pack(struct embedded *embedded, uint64_t begun, bool busy, enum status before)
{
    embedded->pack.wanted |= begun != embedded->segments_closed;
    embedded->segments_closed = begun;
    const bool prepared = !journal_wants_segment(embedded->journal) && !busy;
    if (!embedded->pack.wanted || !(before == STATUS_FULL || (before == STATUS_OK && prepared)))
        return before;
    const enum status status = journal_pack_next(
        &embedded->pack, &embedded->config.journal, journal_segment_start(embedded->journal));
    return before != STATUS_OK ? before : status;
}

enum status embedded_prepare(struct embedded *embedded)
{
    if (journal_failed(embedded->journal))
        return STATUS_IO;
    if (!journal_wants_segment(embedded->journal))
        return STATUS_OK;
    const enum status status = journal_prepare(embedded->journal);
    if (status == STATUS_FULL)
        log_error("inventory", "the disk is full: no space for another journal segment");
    atomic_store(&embedded->no_segment, status != STATUS_OK);
    if (embedded->ports.host != NULL)
        wake_signal(embedded->ports.host); /* wins may go on, or need not wait for it any more */
    return status;
}

static enum status snapshot_keep(struct embedded *embedded, uint64_t begun, bool busy)
{
    if (begun == embedded->segments_seen)
        return STATUS_OK;
    const uint64_t until = journal_segment_start(embedded->journal) - 1;
    const uint64_t records = until > embedded->snapshot_lsn ? until - embedded->snapshot_lsn : 0;
    const bool due = snapshot_is_due(records, embedded->snapshot_rows, busy);
    if (!due && busy)
        return STATUS_OK; /* it looks again when fewer come */
    embedded->segments_seen = begun;
    return due ? snapshot_build(embedded, until) : STATUS_OK;
}

enum status embedded_keep(struct embedded *embedded, bool busy)
{
    enum status status = atomic_load(&embedded->no_segment) ? STATUS_FULL : STATUS_OK;
    if (journal_failed(embedded->journal))
        return STATUS_IO;
    const uint64_t begun = journal_segments_begun(embedded->journal);
    if (status == STATUS_OK)
        status = snapshot_keep(embedded, begun, busy);
    return segment_pack(embedded, begun, busy, status);
}

enum status embedded_housekeep(struct embedded *embedded)
{
    const enum status prepared = embedded_prepare(embedded), kept = embedded_keep(embedded, false);
    return prepared != STATUS_OK ? prepared : kept;
}

static size_t arena_bytes(const struct embedded_config *config)
{
    return ports_bytes(config->ports, config->ring_slots) + config->ports * sizeof(struct port_wait)
        + 2 * ((size_t)config->ports * config->ring_slots + 1) * sizeof(struct parked)
        + config->engine.items_max
        * (sizeof(item_id) + sizeof(bool) + sizeof(struct board_update) + sizeof(lsn_t))
        + config->engine.sales_max
        * (sizeof(lsn_t) + sizeof(sale_id) + sizeof(bool) + sizeof(struct board_room_update))
        + board_rooms_bytes(config->engine.sales_max)
        + board_bytes(config->engine.items_max, config->engine.tickets_max) + 16384;
}

static void tables_create(struct embedded *embedded)
{
    const struct embedded_config *config = &embedded->config;
    struct arena *arena = &embedded->arena;
    ports_create(&embedded->ports, arena, config->ports, config->ring_slots, &embedded->board);
    uint64_t parked = 1;
    while (parked < (uint64_t)config->ports * config->ring_slots)
        parked *= 2;
    embedded->parked = arena_take(arena, parked, sizeof *embedded->parked);
    embedded->parked_mask = parked - 1;
    embedded->port_waits = arena_take(arena, config->ports, sizeof *embedded->port_waits);
    embedded->dirty = arena_take(arena, config->engine.items_max, sizeof *embedded->dirty);
    embedded->is_dirty = arena_take(arena, config->engine.items_max, sizeof *embedded->is_dirty);
    embedded->sealed = arena_take(arena, config->engine.items_max, sizeof *embedded->sealed);
    embedded->item_lsn = arena_take(arena, config->engine.items_max, sizeof *embedded->item_lsn);
    embedded->sale_lsn = arena_take(arena, config->engine.sales_max, sizeof *embedded->sale_lsn);
    embedded->room_dirty = arena_take(arena, config->engine.sales_max, sizeof *embedded->room_dirty);
    embedded->room_is_dirty =
        arena_take(arena, config->engine.sales_max, sizeof *embedded->room_is_dirty);
    embedded->room_sealed = arena_take(arena, config->engine.sales_max, sizeof *embedded->room_sealed);
    board_create(&embedded->board, arena, config->engine.items_max, config->engine.tickets_max);
    board_create_rooms(&embedded->board, arena, config->engine.sales_max);
    embedded->board.filter_key = config->filter_key;
}

static enum status state_recover(struct embedded *embedded, struct embedded_report *report)
{
    struct replay replay = { .engine = &embedded->engine };
    const struct embedded_config *config = &embedded->config;
    enum status status = snapshot_load_latest(config->journal.disk, &embedded->engine,
        &config->engine, config->journal.data_id, &report->snapshot);
    if (status != STATUS_OK) {
        snprintf(report->what, sizeof report->what, "snapshot: %s",
            status == STATUS_FULL
                ? "holds more than tickets_max, places_max, items_max or sales_max allow"
                : status == STATUS_CONFLICT ? "belongs to another data folder"
                                            : status_name(status));
        return status;
    }
    replay.last_time_ms = 0;
    status = journal_open(&embedded->journal, &config->journal, &report->snapshot, replay_record,
        &replay, &report->replay);
    if (status != STATUS_OK) {
        const struct journal_damage *damage = &report->replay.damage;
        if (replay.what[0] != 0)
            snprintf(report->what, sizeof report->what, "journal: %s", replay.what);
        else
            snprintf(report->what, sizeof report->what, "journal %s at byte %llu: %s",
                damage->segment, (unsigned long long)damage->offset,
                damage->what[0] != 0 ? damage->what : status_name(status));
        return status;
    }
    const uint64_t last = replay.last_time_ms;
    embedded->time_floor_ms = last > report->replay.end.time_ms ? last : report->replay.end.time_ms;
    return STATUS_OK;
}

enum status embedded_open(
    struct embedded **out, const struct embedded_config *config, struct embedded_report *report)
{
    struct embedded *embedded = calloc(1, sizeof *embedded);
    enum status status = STATUS_FULL;
    *out = NULL;
    *report = (struct embedded_report){ 0 };
    if (embedded == NULL)
        return STATUS_FULL;
    embedded->inventory = (struct inventory){ .ops = &embedded_ops, .board = &embedded->board };
    embedded->config = *config;
    atomic_init(&embedded->wins_until, UINT64_MAX);
    embedded->sync.fd = -1;
    if (arena_open(&embedded->arena, arena_bytes(config)) != STATUS_OK
        || engine_open(&embedded->engine, &config->engine) != STATUS_OK)
        goto fail;
    tables_create(embedded);
    status = wake_open(&embedded->sync);
    if (status == STATUS_OK)
        status = state_recover(embedded, report);
    if (status != STATUS_OK)
        goto fail;
    embedded->durable = journal_durable(embedded->journal);
    embedded->tickets_sealed = embedded->tickets_durable = embedded->engine.tickets.last;
    embedded->places_sealed = embedded->engine.places.count;
    embedded->last_time_ms = embedded->time_floor_ms;
    embedded->segments_seen = embedded->segments_closed = journal_segments_begun(embedded->journal);
    embedded->snapshot_lsn = report->snapshot.lsn;
    embedded->snapshot_rows = rows_count(&embedded->engine); /* at least as many as it has */
    embedded->pack.wanted = true; /* what a crash or an older program left */
    atomic_store(&embedded->board.durable_lsn, embedded->durable);
    board_fill(embedded);
    *out = embedded;
    return STATUS_OK;
fail:
    embedded_close(embedded);
    return status;
}

void embedded_close(struct embedded *embedded)
{
    if (embedded == NULL)
        return;
    journal_close(embedded->journal);
    if (embedded->sync.fd >= 0)
        wake_close(&embedded->sync);
    engine_close(&embedded->engine);
    arena_close(&embedded->arena);
    free(embedded);
}

struct inventory_port *embedded_port(struct embedded *embedded, uint32_t index, struct wake *client)
{
    return ports_port(&embedded->ports, index, client);
}

void embedded_host(struct embedded *embedded, struct wake *host)
{
    embedded->ports.host = host;
}

struct wake *embedded_sync_wake(struct embedded *embedded)
{
    return &embedded->sync;
}

const struct board *embedded_board(const struct embedded *embedded)
{
    return &embedded->board;
}

const struct journal *embedded_journal(const struct embedded *embedded)
{
    return embedded->journal;
}

bool embedded_failed(const struct embedded *embedded)
{
    return journal_failed(embedded->journal);
}

void embedded_wins_until(struct embedded *embedded, lsn_t last)
{
    atomic_store(&embedded->wins_until, last);
    if (atomic_load(&embedded->purchase_waits) && embedded->ports.host != NULL)
        wake_signal(embedded->ports.host);
}

void embedded_hold_follower(struct embedded *embedded, bool away)
{
    atomic_store_explicit(&embedded->follower_away, away, memory_order_relaxed);
}

uint64_t embedded_time_floor(const struct embedded *embedded)
{
    return embedded->time_floor_ms;
}

const struct engine *embedded_engine(const struct embedded *embedded)
{
    return &embedded->engine;
}
