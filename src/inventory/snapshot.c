/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/snapshot.c: what a snapshot holds, written and read. Which files there are is
 * inventory/snapshot_files.c's; bytes and their checksum are inventory/snapshot_stream.c's. */
#include "inventory/snapshot.h"

#include "base/bytes.h"
#include "base/log.h"
#include "inventory/engine_apply.h"
#include "inventory/snapshot_files.h"
#include "inventory/snapshot_stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEADER_BYTES = 136,
    FIRST_HEADER_BYTES = 104,  /* version 1: without the keys */
    SECOND_HEADER_BYTES = 112, /* version 2: without what reclaiming needs */
    VERSION_AT = 8,
    SALE_BYTES = 57,
    FIRST_SALE_BYTES = 29, /* version 1: without the terms of returns */
    ITEM_BYTES = 84 + 16 * CHANNELS_MAX,
    FIRST_ITEM_BYTES = 84, /* version 1: without return draws */
    ROOM_BYTES = 17,
};
static const char magic[8] = { 'S', 'T', 'M', 'P', 'S', 'N', 'P', '1' };
static const char temporary[] = "snapshot.tmp";

/* Header: magic 8, version u32, sales u32, items u32, rooms u32, data id u64, lsn u64, time u64,
 * batch hash 32, rows of tickets u64, rows of buyers u64, places u64, keys ever noted u64 (from version 2
 * on), last ticket number u64, first free row of tickets u64, first free row of buyers u64 (from version 3
 * on; plus one, 0: none). Free rows are written like the others. */

static void put_sale(struct snapshot_stream *stream, sale_id id, const struct engine_sale *sale)
{
    uint8_t bytes[SALE_BYTES];
    bytes_put_u32(bytes, id);
    bytes_put_u64(bytes + 4, sale->start_ms);
    bytes_put_u64(bytes + 12, sale->end_ms);
    bytes_put_u32(bytes + 20, sale->limit_per_user);
    bytes[24] = sale->eligible_only;
    bytes[25] = sale->opened;
    bytes[26] = sale->paused;
    bytes[27] = sale->ended;
    bytes[28] = sale->one_open_order;
    bytes_put_u32(bytes + 29, sale->cooldown_s);
    bytes_put_u32(bytes + 33, sale->return_draw_ms);
    bytes_put_u32(bytes + 37, sale->start_draw_ms);
    bytes_put_u64(bytes + 41, sale->draw_seed);
    bytes_put_u64(bytes + 49, sale->opened_ms);
    snapshot_stream_put(stream, bytes, sizeof bytes);
}

static void put_item(struct snapshot_stream *stream, item_id id, const struct engine_item *item)
{
    uint8_t bytes[ITEM_BYTES];
    const uint32_t numbers[] = { id, item->sale, item->limit_per_user, item->pay_window_ms, item->total,
        item->locked, item->given, item->held, item->sold, item->safety, item->written_off };
    memcpy(bytes, numbers, sizeof numbers);
    memcpy(bytes + sizeof numbers, item->free, sizeof item->free);
    uint8_t *rest = bytes + sizeof numbers + sizeof item->free;
    bytes_put_u64(rest, item->unit_price);
    memcpy(rest + 8, item->draw_until_ms, sizeof item->draw_until_ms);
    memcpy(rest + 8 + sizeof item->draw_until_ms, item->draw_seed, sizeof item->draw_seed);
    static_assert(sizeof numbers + sizeof item->free + 8 + sizeof item->draw_until_ms + sizeof item->draw_seed
            == ITEM_BYTES,
        "item layout");
    snapshot_stream_put(stream, bytes, sizeof bytes);
}

static bool room_is_used(const struct engine_sale *sale)
{
    return sale->arrived > 0 || sale->draw_done;
}

static void put_room(struct snapshot_stream *stream, sale_id id, const struct engine_sale *sale)
{
    uint8_t bytes[ROOM_BYTES];
    bytes_put_u32(bytes, id);
    bytes_put_u32(bytes + 4, sale->arrived);
    bytes_put_u32(bytes + 8, sale->drawn);
    bytes_put_u32(bytes + 12, sale->head);
    bytes[16] = sale->draw_done;
    snapshot_stream_put(stream, bytes, sizeof bytes);
}

static void put_header(struct snapshot_stream *stream, const struct engine *engine,
    uint64_t data_id, const struct journal_position *position)
{
    uint8_t header[HEADER_BYTES] = { 0 };
    uint32_t sales = 0, items = 0, rooms = 0;
    for (sale_id id = 1; id < engine->config.sales_max; id++) {
        sales += engine->sales[id].defined;
        rooms += room_is_used(&engine->sales[id]);
    }
    for (item_id id = 1; id < engine->config.items_max; id++)
        items += engine->items[id].sale != 0;
    memcpy(header, magic, sizeof magic);
    bytes_put_u32(header + VERSION_AT, SNAPSHOT_VERSION);
    bytes_put_u32(header + 12, sales);
    bytes_put_u32(header + 16, items);
    bytes_put_u32(header + 20, rooms);
    bytes_put_u64(header + 24, data_id);
    bytes_put_u64(header + 32, position->lsn);
    bytes_put_u64(header + 40, position->time_ms);
    memcpy(header + 48, position->hash, sizeof position->hash);
    bytes_put_u64(header + 80, engine->tickets.rows_end);
    bytes_put_u64(header + 88, engine->buyers.rows_end);
    bytes_put_u64(header + 96, engine->places.count - engine->places.begin);
    bytes_put_u64(header + 104, engine->keys.count);
    bytes_put_u64(header + 112, engine->tickets.last);
    bytes_put_u64(header + 120, engine->tickets.free_head);
    bytes_put_u64(header + 128, engine->buyers.rows_end == 0 ? 0 : engine->buyers.free_head);
    snapshot_stream_put(stream, header, sizeof header);
}

/* A row and what stands beside it: its number (from version 3 on; 0: a free one), the end of the cool-down
 * (from version 2 on). */
static void put_ticket(
    struct snapshot_stream *stream, const struct tickets *tickets, const struct ticket_row *row)
{
    struct ticket_row plain = *row;
    uint8_t number[4];
    plain.used = plain.moved = 0;
    bytes_put_u32(number, (uint32_t)tickets_number(tickets, row));
    snapshot_stream_put(stream, &plain, sizeof plain);
    snapshot_stream_put(stream, number, sizeof number);
}

static void put_buyer(
    struct snapshot_stream *stream, const struct buyers *buyers, const struct buyer_row *row)
{
    uint8_t cool_until_s[4];
    bytes_put_u32(cool_until_s, buyers_cool_until_s(buyers, row));
    snapshot_stream_put(stream, row, sizeof *row);
    snapshot_stream_put(stream, cool_until_s, sizeof cool_until_s);
}

static void put_state(struct snapshot_stream *stream, const struct engine *engine)
{
    for (sale_id id = 1; id < engine->config.sales_max; id++)
        if (engine->sales[id].defined)
            put_sale(stream, id, &engine->sales[id]);
    for (item_id id = 1; id < engine->config.items_max; id++)
        if (engine->items[id].sale != 0)
            put_item(stream, id, &engine->items[id]);
    for (uint64_t i = 0; i < engine->tickets.rows_end; i++)
        put_ticket(stream, &engine->tickets, &engine->tickets.rows[i]);
    for (uint64_t i = 0; i < engine->buyers.rows_end; i++)
        put_buyer(stream, &engine->buyers, &engine->buyers.rows[i]);
    for (sale_id id = 1; id < engine->config.sales_max; id++)
        if (room_is_used(&engine->sales[id]))
            put_room(stream, id, &engine->sales[id]);
    for (uint64_t i = engine->places.begin; i < engine->places.count; i++)
        snapshot_stream_put(stream, places_at(&engine->places, i), sizeof(struct place_row));
    for (uint64_t i = 0; i < engine_keys_kept(engine->keys.count); i++)
        snapshot_stream_put(stream, &engine->keys.rows[i], sizeof engine->keys.rows[i]);
}

enum status snapshot_write(struct disk *disk, const struct engine *engine, uint64_t data_id,
    const struct journal_position *position)
{
    struct snapshot_stream stream = { .disk = disk, .file = -1, .buffer = malloc(SNAPSHOT_BUFFER_BYTES) };
    char name[DISK_NAME_MAX];
    enum status status = disk->ops->remove(disk, temporary);
    if (stream.buffer == NULL)
        return STATUS_FULL;
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        status = disk->ops->open(disk, temporary, DISK_CREATE, &stream.file);
    if (status != STATUS_OK)
        goto done;
    static const struct engine_transfers none;
    invariant(memcmp(&engine->transfers, &none, sizeof none) == 0); /* one machine has no shards */
    put_header(&stream, engine, data_id, position);
    put_state(&stream, engine);
    snapshot_stream_end(&stream);
    status = stream.status;
    if (status == STATUS_OK)
        status = disk->ops->sync(disk, stream.file);
    disk->ops->close(disk, stream.file);
    snapshot_name(name, position->lsn);
    if (status == STATUS_OK)
        status = disk->ops->rename(disk, temporary, name);
    if (status == STATUS_OK)
        status = disk->ops->sync_folder(disk);
    if (status == STATUS_OK)
        status = snapshots_remove_old(disk);
done:
    free(stream.buffer);
    return status;
}

struct header {
    uint32_t sales, items, rooms;
    uint64_t data_id, tickets, buyers, places, keys;
    uint64_t last_ticket, free_ticket, free_buyer;
    struct journal_position position;
    uint32_t version;
};

/* Older versions wrote shorter rows, and rows with 16 bits for an id. */
enum { WITH_TERMS = 2, WITH_NUMBERS = 3, WITH_LONG_IDS = 4 };
static_assert((int)WITH_LONG_IDS == (int)SNAPSHOT_VERSION, "the last one");

static enum status take_header(struct snapshot_stream *stream, struct header *header)
{
    uint8_t bytes[HEADER_BYTES];
    memset(bytes, 0, sizeof bytes);
    if (!snapshot_stream_take(stream, bytes, FIRST_HEADER_BYTES))
        return stream->status;
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return STATUS_CORRUPT;
    const uint32_t version = bytes_get_u32(bytes + VERSION_AT);
    if (version == 0 || version > SNAPSHOT_VERSION)
        return STATUS_BAD_INPUT;
    const size_t size = version < WITH_TERMS ? FIRST_HEADER_BYTES
        : version < WITH_NUMBERS             ? SECOND_HEADER_BYTES
                                             : HEADER_BYTES;
    if (!snapshot_stream_take(stream, bytes + FIRST_HEADER_BYTES, size - FIRST_HEADER_BYTES))
        return stream->status;
    *header = (struct header){ .sales = bytes_get_u32(bytes + 12),
        .items = bytes_get_u32(bytes + 16),
        .rooms = bytes_get_u32(bytes + 20),
        .data_id = bytes_get_u64(bytes + 24),
        .tickets = bytes_get_u64(bytes + 80),
        .buyers = bytes_get_u64(bytes + 88),
        .places = bytes_get_u64(bytes + 96),
        .keys = bytes_get_u64(bytes + 104),
        .last_ticket = /* of old versions: as many as rows */
        bytes_get_u64(bytes + (version < WITH_NUMBERS ? 80 : 112)),
        .free_ticket = bytes_get_u64(bytes + 120),
        .free_buyer = bytes_get_u64(bytes + 128),
        .version = version };
    header->position.lsn = bytes_get_u64(bytes + 32);
    header->position.time_ms = bytes_get_u64(bytes + 40);
    memcpy(header->position.hash, bytes + 48, sizeof header->position.hash);
    return STATUS_OK;
}

static enum status take_sale(struct snapshot_stream *stream, struct engine *engine, uint32_t version)
{
    uint8_t bytes[SALE_BYTES];
    memset(bytes, 0, sizeof bytes);
    if (!snapshot_stream_take(stream, bytes, version < WITH_TERMS ? FIRST_SALE_BYTES : SALE_BYTES))
        return stream->status;
    const sale_id id = bytes_get_u32(bytes);
    if (id == 0)
        return STATUS_CORRUPT;
    if (id >= engine->config.sales_max)
        return STATUS_FULL;
    struct engine_sale *sale = &engine->sales[id];
    sale->defined = true;
    sale->start_ms = bytes_get_u64(bytes + 4);
    sale->end_ms = bytes_get_u64(bytes + 12);
    sale->limit_per_user = bytes_get_u32(bytes + 20);
    sale->eligible_only = bytes[24];
    sale->opened = bytes[25];
    sale->paused = bytes[26];
    sale->ended = bytes[27];
    sale->one_open_order = bytes[28];
    sale->cooldown_s = bytes_get_u32(bytes + 29);
    sale->return_draw_ms = bytes_get_u32(bytes + 33);
    sale->start_draw_ms = bytes_get_u32(bytes + 37);
    sale->draw_seed = bytes_get_u64(bytes + 41);
    sale->opened_ms = bytes_get_u64(bytes + 49);
    return STATUS_OK;
}

static enum status take_item(struct snapshot_stream *stream, struct engine *engine, uint32_t version)
{
    uint8_t bytes[ITEM_BYTES];
    uint32_t numbers[11];
    memset(bytes, 0, sizeof bytes);
    if (!snapshot_stream_take(stream, bytes, version < WITH_TERMS ? FIRST_ITEM_BYTES : ITEM_BYTES))
        return stream->status;
    memcpy(numbers, bytes, sizeof numbers);
    const item_id id = numbers[0];
    const sale_id sale = numbers[1];
    if (id == 0 || sale == 0)
        return STATUS_CORRUPT;
    if (id >= engine->config.items_max || sale >= engine->config.sales_max)
        return STATUS_FULL;
    struct engine_item *item = &engine->items[id];
    *item = (struct engine_item){ .sale = sale,
        .limit_per_user = numbers[2],
        .pay_window_ms = numbers[3],
        .total = numbers[4],
        .locked = numbers[5],
        .given = numbers[6],
        .held = numbers[7],
        .sold = numbers[8],
        .safety = numbers[9],
        .written_off = numbers[10],
        .unit_price = bytes_get_u64(bytes + sizeof numbers + sizeof item->free) };
    const uint8_t *draws = bytes + sizeof numbers + sizeof item->free + 8;
    memcpy(item->free, bytes + sizeof numbers, sizeof item->free);
    memcpy(item->draw_until_ms, draws, sizeof item->draw_until_ms);
    memcpy(item->draw_seed, draws + sizeof item->draw_until_ms, sizeof item->draw_seed);
    engine->sales[sale].items++;
    return STATUS_OK;
}

static enum status take_room(struct snapshot_stream *stream, struct engine *engine)
{
    uint8_t bytes[ROOM_BYTES];
    if (!snapshot_stream_take(stream, bytes, sizeof bytes))
        return stream->status;
    struct engine_sale *sale = engine_sale_find(engine, bytes_get_u32(bytes));
    if (sale == NULL)
        return STATUS_CORRUPT;
    sale->arrived = bytes_get_u32(bytes + 4);
    sale->drawn = bytes_get_u32(bytes + 8);
    sale->head = bytes_get_u32(bytes + 12);
    sale->draw_done = bytes[16];
    return STATUS_OK;
}

static enum status take_places(struct snapshot_stream *stream, struct engine *engine, uint64_t count)
{
    if (count > engine->places.capacity)
        return STATUS_FULL;
    for (uint64_t i = 0; i < count; i++) {
        struct place_row row;
        if (!snapshot_stream_take(stream, &row, sizeof row))
            return stream->status;
        if (row.sale == 0 && row.user == 0 && row.number == 0) {
            places_add_free(&engine->places);
            continue;
        }
        if (row.sale == 0 || row.sale >= engine->config.sales_max
            || places_find(&engine->places, row.sale, row.user) != UINT64_MAX)
            return STATUS_CORRUPT;
        places_add(&engine->places, row.sale, row.user, row.number);
    }
    return STATUS_OK;
}

static enum status take_keys(struct snapshot_stream *stream, struct engine *engine, uint64_t noted)
{
    engine->keys.count = noted;
    for (uint64_t i = 0; i < engine_keys_kept(noted); i++)
        if (!snapshot_stream_take(stream, &engine->keys.rows[i], sizeof engine->keys.rows[i]))
            return stream->status;
    return STATUS_OK;
}

/* Up to version 3: u64 user, u64 key, 48 bits of pay by, 16 of the item, u16 quantity, the rest as today. */
static struct ticket_row ticket_of_old(struct ticket_row row)
{
    enum { TERMS_AT = 16, TIME_BITS = 48, QUANTITY_AT = 24 };
    uint8_t bytes[sizeof row];
    memcpy(bytes, &row, sizeof row);
    const uint64_t terms = bytes_get_u64(bytes + TERMS_AT);
    ticket_terms(&row, (item_id)(terms >> TIME_BITS), bytes_get_u16(bytes + QUANTITY_AT),
        terms & ((UINT64_C(1) << TIME_BITS) - 1));
    return row;
}

static struct buyer_row buyer_of_old(struct buyer_row row)
{
    enum { SALE = 1 << 16, ELIGIBLE = 1 << 17 };
    const uint32_t id = row.scope & (SALE - 1);
    row.scope = (row.scope & ELIGIBLE) != 0 ? buyers_scope_eligible(id)
        : (row.scope & SALE) != 0           ? buyers_scope_sale(id)
                                            : buyers_scope_item(id);
    return row;
}

static enum status take_tickets(
    struct snapshot_stream *stream, struct engine *engine, const struct header *header)
{
    struct tickets *tickets = &engine->tickets;
    for (uint64_t i = 0; i < header->tickets; i++) {
        struct ticket_row row;
        uint8_t number[4];
        bytes_put_u32(number, (uint32_t)(i + 1));
        if (!snapshot_stream_take(stream, &row, sizeof row)
            || (header->version >= WITH_NUMBERS && !snapshot_stream_take(stream, number, sizeof number)))
            return stream->status;
        if (header->version < WITH_LONG_IDS)
            row = ticket_of_old(row);
        if (!tickets_restore_row(tickets, &row, bytes_get_u32(number)))
            return STATUS_CORRUPT;
    }
    const bool whole = tickets_restore_end(tickets, header->last_ticket, header->free_ticket);
    return whole ? STATUS_OK : STATUS_CORRUPT;
}

static enum status take_buyers(
    struct snapshot_stream *stream, struct engine *engine, const struct header *header)
{
    for (uint64_t i = 0; i < header->buyers; i++) {
        struct buyer_row row;
        uint8_t cool_until_s[4] = { 0 };
        if (!snapshot_stream_take(stream, &row, sizeof row)
            || (header->version >= WITH_TERMS
                && !snapshot_stream_take(stream, cool_until_s, sizeof cool_until_s)))
            return stream->status;
        if (header->version < WITH_LONG_IDS)
            row = buyer_of_old(row);
        if (!buyers_restore_row(&engine->buyers, &row, bytes_get_u32(cool_until_s)))
            return STATUS_CORRUPT;
    }
    return buyers_restore_end(&engine->buyers, header->free_buyer) ? STATUS_OK : STATUS_CORRUPT;
}

static enum status take_state(
    struct snapshot_stream *stream, struct engine *engine, const struct header *header)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < header->sales && status == STATUS_OK; i++)
        status = take_sale(stream, engine, header->version);
    for (uint32_t i = 0; i < header->items && status == STATUS_OK; i++)
        status = take_item(stream, engine, header->version);
    if (status != STATUS_OK)
        return status;
    if (header->tickets > engine->tickets.capacity || header->buyers > engine->buyers.capacity)
        return STATUS_FULL;
    status = take_tickets(stream, engine, header);
    if (status == STATUS_OK)
        status = take_buyers(stream, engine, header);
    for (uint32_t i = 0; i < header->rooms && status == STATUS_OK; i++)
        status = take_room(stream, engine);
    if (status == STATUS_OK)
        status = take_places(stream, engine, header->places);
    return status == STATUS_OK ? take_keys(stream, engine, header->keys) : status;
}

static enum status load_one(struct disk *disk, struct engine *engine, uint64_t lsn, struct header *header)
{
    struct snapshot_stream stream = { .disk = disk, .file = -1, .buffer = malloc(SNAPSHOT_BUFFER_BYTES) };
    char name[DISK_NAME_MAX];
    snapshot_name(name, lsn);
    invariant(stream.buffer != NULL);
    enum status status = disk->ops->open(disk, name, DISK_READ, &stream.file);
    if (status == STATUS_OK) {
        status = snapshot_stream_judge(&stream);
        stream.offset = 0;
        if (status == STATUS_OK)
            status = take_header(&stream, header);
        if (status == STATUS_OK)
            status = take_state(&stream, engine, header);
        disk->ops->close(disk, stream.file);
    }
    free(stream.buffer);
    return status;
}

enum status snapshot_load(struct disk *disk, struct engine *engine, uint64_t lsn, uint64_t data_id,
    struct journal_position *position)
{
    struct header header = { 0 };
    const enum status status = load_one(disk, engine, lsn, &header);
    *position = header.position;
    return status == STATUS_OK && header.data_id != data_id ? STATUS_CONFLICT : status;
}

/* What a snapshot that can't be used is told about; NULL: it is not its own fault. */
static const char *trouble_text(enum status status)
{
    if (status == STATUS_CORRUPT)
        return "is damaged";
    if (status == STATUS_BAD_INPUT)
        return "was written by another version";
    return status == STATUS_IO || status == STATUS_NOT_FOUND ? "can't be read" : NULL;
}

enum status snapshot_load_latest(struct disk *disk, struct engine *engine,
    const struct engine_config *config, uint64_t data_id, struct journal_position *position)
{
    struct snapshot_list list;
    *position = (struct journal_position){ 0 };
    enum status status = snapshots_list(disk, &list);
    for (uint32_t i = 0; i < list.count && status == STATUS_OK; i++) {
        const enum status loaded = snapshot_load(disk, engine, list.lsns[i], data_id, position);
        const char *trouble = trouble_text(loaded);
        if (trouble == NULL)
            return loaded;
        *position = (struct journal_position){ 0 };
        log_warn("inventory",
            "snapshot at position %" PRIu64 " %s: using an older one and more of the log",
            list.lsns[i], trouble);
        engine_close(engine);
        status = engine_open(engine, config);
    }
    return status;
}
