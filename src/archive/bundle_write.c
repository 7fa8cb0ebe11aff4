/* SPDX-License-Identifier: Apache-2.0 */
/* archive/bundle_write.c: writing a bundle. The log is read once from its first kept record on: which
 * sale an item is of is known from its PREHEAT, which comes before everything else about it; items whose
 * PREHEAT is not kept are looked up in the store. */
#include "archive/bundle.h"
#include "base/clock.h"
#include "base/text.h"
#include "contract/archive.h"
#include "contract/cluster_store.h"
#include "contract/command.h"
#include "contract/fulfilment.h"
#include "contract/payment.h"
#include "contract/record.h"
#include "contract/ticket_number.h"
#include "journal/batch.h"
#include "journal/scan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LINE_BYTES = 2 * JOURNAL_BATCH_LIMIT + 64, ORDERS_PER_READ = 256, ITEMS_PER_READ = 256 };

struct writing {
    gzFile file;
    struct hash_stream *hash;
    char *line;
    uint64_t lines;
    bool failed;
    const struct bundle_source *source;
    struct order_store *store; /* of it */
    sale_id sale;
    struct bundle_made *made;
    uint32_t *sale_of_item;
    uint64_t sums[ITEMS_LIMIT][ORDER_STATES][3];
};

static bool goes_on(const struct writing *writing)
{
    return writing->source->pace->go_on(writing->source->pace->context);
}

struct journal_config bundle_journal(const struct bundle_source *source)
{
    return (struct journal_config){ .disk = source->journal,
        .data_id = source->data_id,
        .segment_bytes = 2 * JOURNAL_BATCH_LIMIT,
        .batch_bytes = JOURNAL_BATCH_MAX };
}

void bundle_name(sale_id sale, char name[BUNDLE_NAME_MAX])
{
    snprintf(name, BUNDLE_NAME_MAX, ARCHIVE_NAME, sale);
}

sale_id archive_record_sale(
    const struct command *command, const struct outcome *outcome, const uint32_t *sale_of_item)
{
    item_id item = 0;
    switch (command->type) {
    case COMMAND_SALE:
        return command->sale.sale;
    case COMMAND_PREHEAT:
        return command->preheat.sale;
    case COMMAND_GATE:
        return command->gate.sale;
    case COMMAND_USERS:
        return command->users.sale;
    case COMMAND_ARRIVE:
    case COMMAND_ADMIT:
        return command_room(command);
    case COMMAND_ARCHIVE:
        return command->archive.sale;
    case COMMAND_ADJUST:
        item = command->adjust.item;
        break;
    case COMMAND_MOVE:
        item = command->move.item;
        break;
    case COMMAND_RESERVE:
        item = command->reserve.item;
        break;
    case COMMAND_SETTLE:
        item = outcome->item;
        break;
    default: /* of no sale, or of many machines */
        break;
    }
    return item < ITEMS_LIMIT ? sale_of_item[item] : 0;
}

/* ---- lines ---- */

static void bytes_put(struct writing *writing, const char *bytes, size_t size, bool hashed)
{
    if (size > 0 && gzwrite(writing->file, bytes, (unsigned)size) != (int)size)
        writing->failed = true;
    if (hashed)
        hash_stream_add(writing->hash, bytes, size);
}

__attribute__((format(printf, 2, 3))) static void line_put(
    struct writing *writing, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(writing->line, LINE_BYTES, format, arguments);
    va_end(arguments);
    invariant(size > 0 && size < LINE_BYTES);
    bytes_put(writing, writing->line, (size_t)size, true);
    writing->lines++;
}

static enum status refunds_put(struct writing *writing, uint64_t payment)
{
    struct refund refunds[1 + REFUND_PARTS_MAX];
    uint32_t count = 0;
    const enum status status = writing->store->ops->payment->refunds_of_payment(
        writing->store, payment, refunds, 1 + REFUND_PARTS_MAX, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        line_put(writing, "%s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %" PRIu64 "\n",
            refunds[i].why == REFUND_OF_PART ? "part" : "refund", refunds[i].id, refunds[i].payment,
            refunds[i].ticket, refunds[i].amount, refunds[i].state, refunds[i].done_ms);
    return status;
}

static enum status payments_put(struct writing *writing, ticket_number ticket)
{
    struct payment payments[PAYMENTS_PER_ORDER];
    uint32_t count = 0;
    const struct payment_store_ops *ops = writing->store->ops->payment;
    enum status status = ops->of_order(writing->store, ticket, payments, PAYMENTS_PER_ORDER, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct payment *payment = &payments[i];
        line_put(writing,
            "payment %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u %" PRIu64
            " %s %s\n",
            payment->id, payment->ticket, payment->paid_ticket, payment->amount, payment->captured,
            payment->state, payment->use, payment->captured_ms, payment->provider, payment->reference);
        status = refunds_put(writing, payment->id);
    }
    return status;
}

/* Which goods went out, and when. By whom and under which number stays out, as addresses do. */
static enum status shipment_put(struct writing *writing, ticket_number ticket)
{
    struct shipment shipment;
    const enum status status = writing->store->ops->fulfil->get(writing->store, ticket, &shipment);
    if (status == STATUS_OK)
        line_put(writing, "shipment %" PRIu64 " %u %" PRIu64 " %" PRIu64 "\n", ticket,
            shipment.state, shipment.shipped_ms, shipment.delivered_ms);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status order_put(struct writing *writing, const struct order *order)
{
    uint64_t *sums = writing->sums[order->item][order->state];
    line_put(writing,
        "order %" PRIu64 " %u %016" PRIx64 " %u %u %u %u %" PRIu64 " %" PRIu64 " %" PRIu64
        " %" PRIu64 " %" PRIu64 "\n",
        order->ticket, order->item, order->user, order->quantity, order->channel, order->state,
        order->reason, order->unit_price, order->amount, order->created_ms, order->pay_by_ms,
        order->version);
    sums[0]++;
    sums[1] += order->quantity;
    sums[2] += order->amount;
    writing->made->orders++;
    writing->made->versions += order->version;
    const enum status status = payments_put(writing, order->ticket);
    return status == STATUS_OK ? shipment_put(writing, order->ticket) : status;
}

static enum status orders_put(struct writing *writing)
{
    struct order_store *store = writing->store;
    struct order *orders = calloc(ORDERS_PER_READ, sizeof *orders);
    struct order_filter filter = { .sale = writing->sale, .by_ticket = true };
    enum status status = orders == NULL ? STATUS_FULL : STATUS_OK;
    uint32_t count;
    while (status == STATUS_OK) {
        if (!goes_on(writing)) {
            status = STATUS_BUSY;
            break;
        }
        status =
            store->ops->orders_list(store, &filter, orders, ORDERS_PER_READ, &count, &filter.before);
        for (uint32_t i = 0; status == STATUS_OK && i < count; i++)
            status = order_put(writing, &orders[i]);
        if (filter.before <= 1)
            break;
    }
    free(orders);
    return status;
}

static enum status items_read(struct writing *writing, bool put)
{
    struct order_store *store = writing->store;
    struct item *items = calloc(ITEMS_PER_READ, sizeof *items);
    enum status status = items == NULL ? STATUS_FULL : STATUS_OK;
    uint32_t count = ITEMS_PER_READ;
    item_id after = 0;
    while (status == STATUS_OK && count == ITEMS_PER_READ) {
        status = store->ops->items(store, put ? writing->sale : 0, after, items, ITEMS_PER_READ, &count);
        for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
            const struct item *item = &items[i];
            after = item->id;
            writing->sale_of_item[item->id] = item->sale;
            if (put)
                line_put(writing, "item %u %" PRIu64 " %u %u %u %u\n", item->id, item->flash_price,
                    item->limit_per_user, item->total, item->locked, item->sold);
        }
    }
    free(items);
    return status;
}

static void sums_put(struct writing *writing)
{
    for (item_id item = 1; item < ITEMS_LIMIT; item++)
        for (uint32_t state = 0; state < ORDER_STATES; state++) {
            const uint64_t *sums = writing->sums[item][state];
            if (sums[0] > 0)
                line_put(writing, "sum %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", item, state,
                    sums[0], sums[1], sums[2]);
        }
}

/* ---- the log ---- */

static uint32_t batch_records(struct writing *writing, const struct batch *batch)
{
    uint32_t cursor = BATCH_RECORDS_AT, found = 0;
    for (uint32_t i = 0; i < batch->records; i++) {
        struct journal_record record;
        struct command command;
        struct outcome outcome;
        batch_take(batch, &cursor, &record);
        if (record_decode(record.type, record.payload, &command, &outcome) != STATUS_OK)
            continue; /* recovery would have refused it */
        if (command.type == COMMAND_PREHEAT && command.preheat.item < ITEMS_LIMIT)
            writing->sale_of_item[command.preheat.item] = command.preheat.sale;
        found += archive_record_sale(&command, &outcome, writing->sale_of_item) == writing->sale;
    }
    return found;
}

static void hex_put(struct writing *writing, const char *before, const void *bytes, size_t size)
{
    struct text line = text_in(writing->line, LINE_BYTES);
    text_format(&line, "%s ", before);
    text_hex(&line, span_of(bytes, size));
    text_literal(&line, "\n");
    invariant(!line.overflow);
    bytes_put(writing, line.data, line.size, true);
    writing->lines++;
}

static enum status log_put(
    struct writing *writing, struct scan *scan, const uint64_t *first_lsns, uint32_t segments)
{
    enum status status = STATUS_OK;
    scan->end.lsn = first_lsns[0] - 1;
    scan->hash_known = first_lsns[0] == 1;
    for (uint32_t i = 0; i < segments && status == STATUS_OK; i++) {
        if (first_lsns[i] != scan->end.lsn + 1)
            return STATUS_CORRUPT;
        status = scan_enter(scan, first_lsns[i]);
        /* Until the end: what is torn there was told to nobody. */
        for (enum scan_found found = SCAN_BATCH; status == STATUS_OK && found == SCAN_BATCH;) {
            struct batch batch;
            if (!goes_on(writing))
                return STATUS_BUSY;
            found = scan_next(scan, &batch, &status);
            if (found == SCAN_FAULT)
                return status;
            const uint32_t records = found == SCAN_BATCH ? batch_records(writing, &batch) : 0;
            if (records > 0)
                hex_put(writing, "batch", batch.data, batch.bytes);
            writing->made->records += records;
        }
    }
    return status;
}

static enum status journal_put(struct writing *writing)
{
    const struct journal_config journal = bundle_journal(writing->source);
    struct scan scan;
    struct arena arena = { 0 };
    uint32_t segments = 0;
    enum status status = arena_open(&arena, SCAN_ARENA_BYTES + SEGMENTS_MAX * sizeof(uint64_t));
    if (status != STATUS_OK)
        return status;
    scan_start(&scan, &journal, &arena, SCAN_READ_BYTES);
    uint64_t *first_lsns = arena_take(&arena, SEGMENTS_MAX, sizeof *first_lsns);
    status = segment_list(journal.disk, first_lsns, SEGMENTS_MAX, &segments);
    if (status == STATUS_OK && segments > 0)
        status = log_put(writing, &scan, first_lsns, segments);
    scan_stop(&scan);
    arena_close(&arena);
    return status;
}

/* The entries of a log up to where it was when it was begun; what comes later is noticed when the sale is
 * marked. */
static enum status part_put(struct writing *writing, const struct part_state *state, uint8_t *buffer)
{
    struct order_store *store = writing->store;
    struct journal_entry entry = { 0 };
    enum status status = STATUS_OK;
    line_put(writing, "log %u %" PRIu64 "\n", state->part, state->seq);
    writing->made->positions += state->seq;
    writing->made->records += state->seq;
    while (status == STATUS_OK) {
        char before[64];
        if (!goes_on(writing))
            return STATUS_BUSY;
        status = store->ops->cluster->journal_next(store, state->part, entry.first_seq, &entry, buffer);
        if (status != STATUS_OK || entry.first_seq > state->seq)
            break;
        snprintf(before, sizeof before, "entry %u %" PRIu64, entry.epoch, entry.first_seq);
        hex_put(writing, before, entry.bytes.data, entry.bytes.size);
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status parts_put(struct writing *writing)
{
    struct order_store *store = writing->store;
    struct part_state states[SHARDS_MAX];
    uint32_t count = 0;
    uint8_t *buffer = malloc(JOURNAL_ENTRY_BYTES_MAX);
    enum status status = buffer == NULL
        ? STATUS_FULL
        : store->ops->cluster->parts(store, part_of_sale(writing->sale, 0), states, SHARDS_MAX, &count);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        if (part_sale(states[i].part) == writing->sale)
            status = part_put(writing, &states[i], buffer);
    free(buffer);
    return status;
}

/* ---- the whole ---- */

static void end_put(struct writing *writing)
{
    uint8_t digest[HASH_SHA256_BYTES];
    char line[128];
    struct text text = text_in(line, sizeof line);
    hash_stream_end(writing->hash, digest);
    writing->hash = NULL;
    text_format(&text, "end %" PRIu64 " ", writing->lines);
    text_hex(&text, span_of(digest, sizeof digest));
    text_literal(&text, "\n");
    bytes_put(writing, text.data, text.size, false);
}

static enum status lines_put(struct writing *writing)
{
    struct sale sale;
    enum status status = writing->store->ops->sale_get(writing->store, writing->sale, &sale);
    if (status != STATUS_OK)
        return status;
    line_put(writing, "stampede-bundle 1\n");
    line_put(writing, "sale %u %016" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", sale.id,
        writing->source->data_id, clock_wall_ms(), sale.start_ms, sale.end_ms);
    status = items_read(writing, false);
    if (status == STATUS_OK)
        status = items_read(writing, true);
    if (status == STATUS_OK)
        status = orders_put(writing);
    sums_put(writing);
    if (status == STATUS_OK)
        status = writing->source->journal != NULL ? journal_put(writing) : parts_put(writing);
    end_put(writing);
    return status == STATUS_OK && writing->failed ? STATUS_IO : status;
}

/* Synced, and its size and hash. */
static enum status file_settle(struct disk *folder, const char *name, struct bundle_made *made)
{
    enum { PART = 1 << 16 };
    uint8_t part[PART];
    size_t got = PART;
    disk_file file = -1;
    enum status status = folder->ops->open(folder, name, DISK_WRITE, &file);
    if (status != STATUS_OK)
        return status;
    struct hash_stream *stream = hash_stream_open();
    status = folder->ops->sync(folder, file);
    while (status == STATUS_OK && got == PART) {
        status = folder->ops->read(folder, file, made->bytes, part, PART, &got);
        if (status == STATUS_OK)
            hash_stream_add(stream, part, got);
        made->bytes += status == STATUS_OK ? got : 0;
    }
    hash_stream_end(stream, made->hash);
    folder->ops->close(folder, file);
    return status;
}

static enum status file_write(struct writing *writing, const char *path)
{
    writing->hash = hash_stream_open();
    writing->file = gzopen(path, "wb6");
    enum status status = writing->file == NULL ? STATUS_IO : lines_put(writing);
    if (writing->file != NULL && gzclose(writing->file) != Z_OK && status == STATUS_OK)
        status = STATUS_IO;
    if (writing->hash != NULL) {
        uint8_t unused[HASH_SHA256_BYTES];
        hash_stream_end(writing->hash, unused);
    }
    return status;
}

enum status bundle_write(const char *path, struct disk *folder, const struct bundle_source *source,
    sale_id sale, struct bundle_made *made, char error[BUNDLE_ERROR])
{
    struct writing *writing = calloc(1, sizeof *writing);
    char name[BUNDLE_NAME_MAX], part[BUNDLE_NAME_MAX + 8], part_path[4096];
    *made = (struct bundle_made){ 0 };
    invariant(writing != NULL);
    writing->source = source; /* one by one: the whole is too large for a stack */
    writing->store = source->store;
    writing->sale = sale;
    writing->made = made;
    writing->line = malloc(LINE_BYTES);
    writing->sale_of_item = calloc(ITEMS_LIMIT, sizeof *writing->sale_of_item);
    invariant(writing->line != NULL && writing->sale_of_item != NULL);
    bundle_name(sale, name);
    snprintf(part, sizeof part, "%s.part", name);
    snprintf(part_path, sizeof part_path, "%s/%s", path, part);
    enum status status = file_write(writing, part_path);
    if (status == STATUS_OK)
        status = file_settle(folder, part, made);
    if (status == STATUS_OK)
        status = folder->ops->rename(folder, part, name);
    if (status == STATUS_OK)
        status = folder->ops->sync_folder(folder);
    if (status != STATUS_OK) {
        snprintf(error, BUNDLE_ERROR, "the bundle %s can't be written: %s", name, status_name(status));
        (void)!folder->ops->remove(folder, part); /* a full disk needs its bytes */
    }
    free(writing->line);
    free(writing->sale_of_item);
    free(writing);
    return status;
}
