/* SPDX-License-Identifier: Apache-2.0 */
/* journal/reader.c: reading after the writer.
 *
 * DESIGN
 * The caller's `limit` (the durable end) is what makes reading safe: everything up to it lies
 * complete on the disk, so whatever is not there is damage, never "not yet". Bytes that were
 * read before the limit grew may be stale; they are read again for the first LSN that was not
 * covered then. */
#include "base/log.h"
#include "journal/format.h"
#include "journal/scan.h"

struct journal_reader {
    struct scan scan;
    struct arena arena;
    uint64_t *first_lsns; /* room for seek */
    bool sought;
    uint64_t after;       /* records up to here are not given */
    uint64_t fresh_up_to; /* the limit when the window was read */
    struct batch batch;
    uint32_t taken, cursor; /* of the batch */
};

enum status journal_reader_open(struct journal_reader **opened, const struct journal_config *config)
{
    struct arena arena;
    *opened = NULL;
    enum status status = arena_open(&arena,
        SCAN_ARENA_BYTES + SEGMENTS_MAX * sizeof(uint64_t) + sizeof(struct journal_reader) + JOURNAL_PAGE);
    if (status != STATUS_OK)
        return status;
    struct journal_reader *reader = arena_take(&arena, 1, sizeof *reader);
    scan_start(&reader->scan, config, &arena, SCAN_FOLLOW_BYTES);
    reader->first_lsns = arena_take(&arena, SEGMENTS_MAX, sizeof *reader->first_lsns);
    reader->arena = arena;
    *opened = reader;
    return STATUS_OK;
}

void journal_reader_close(struct journal_reader *reader)
{
    if (reader == NULL)
        return;
    scan_stop(&reader->scan);
    struct arena arena = reader->arena; /* holds the reader itself */
    arena_close(&arena);
}

/* Enters a segment of which nothing before is known. */
static enum status enter_cold(struct journal_reader *reader, uint64_t first_lsn)
{
    reader->scan.end = (struct journal_position){ .lsn = first_lsn - 1 };
    reader->scan.hash_known = first_lsn == 1;
    reader->batch = (struct batch){ 0 };
    reader->taken = 0;
    reader->fresh_up_to = 0;
    return scan_enter(&reader->scan, first_lsn);
}

enum status journal_reader_seek(struct journal_reader *reader, uint64_t after)
{
    uint32_t count, index = 0;
    reader->sought = false;
    enum status status = segment_list(reader->scan.disk, reader->first_lsns, SEGMENTS_MAX, &count);
    if (status != STATUS_OK)
        return status;
    if (count == 0 || reader->first_lsns[0] - 1 > after)
        return STATUS_NOT_FOUND;
    while (index + 1 < count && reader->first_lsns[index + 1] - 1 <= after)
        index++;
    status = enter_cold(reader, reader->first_lsns[index]);
    reader->after = after;
    reader->sought = status == STATUS_OK;
    return status;
}

static enum status report(const struct journal_reader *reader, enum status status)
{
    const struct journal_damage *damage = &reader->scan.damage;
    if (status == STATUS_CORRUPT || status == STATUS_CONFLICT)
        log_error("journal", "can't read: segment=%s offset=%llu %s", damage->segment,
            (unsigned long long)damage->offset, damage->what);
    return status;
}

/* The batch that holds LSN `expected`, which is durable, in this segment or the next. */
static enum status next_batch(struct journal_reader *reader, uint64_t expected, uint64_t limit)
{
    struct scan *scan = &reader->scan;
    enum status status = STATUS_OK;
    if (expected > reader->fresh_up_to) {
        scan_forget(scan);
        reader->fresh_up_to = limit;
    }
    /* No segment is open if entering one failed the last time. */
    enum scan_found found = SCAN_NOTHING;
    if (scan->segment.is_open)
        found = scan_next(scan, &reader->batch, &status);
    if (!scan->segment.is_open || (found == SCAN_NOTHING && scan->segment.first_lsn != expected)) {
        status = scan_enter(scan, expected);
        if (status == STATUS_NOT_FOUND)
            return damage_set(&scan->damage, STATUS_CORRUPT, expected, 0, "segment is missing");
        if (status != STATUS_OK)
            return status;
        found = scan_next(scan, &reader->batch, &status);
    }
    switch (found) {
    case SCAN_BATCH:
        reader->taken = 0;
        reader->cursor = BATCH_HEADER_BYTES;
        return STATUS_OK;
    case SCAN_NOTHING:
        return damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn, scan->offset,
            "no batch, but LSN %llu was durable", (unsigned long long)expected);
    case SCAN_BROKEN:
        return STATUS_CORRUPT;
    case SCAN_FAULT:
        break;
    }
    return status;
}

enum status journal_reader_next(struct journal_reader *reader, uint64_t limit,
    struct journal_record *record, uint64_t *batch_time_ms)
{
    invariant(reader->sought);
    for (;;) {
        uint64_t expected = reader->batch.records > reader->taken
            ? reader->batch.first_lsn + reader->taken
            : reader->scan.end.lsn + 1;
        if (expected > limit)
            return STATUS_NOT_FOUND;
        if (reader->taken == reader->batch.records) {
            reader->batch = (struct batch){ 0 };
            reader->taken = 0;
            enum status status = next_batch(reader, expected, limit);
            if (status != STATUS_OK) {
                reader->batch = (struct batch){ 0 };
                return report(reader, status);
            }
        }
        batch_take(&reader->batch, &reader->cursor, record);
        record->lsn = expected;
        reader->taken++;
        if (expected <= reader->after)
            continue;
        *batch_time_ms = reader->batch.time_ms;
        return STATUS_OK;
    }
}

const struct journal_damage *journal_reader_damage(const struct journal_reader *reader)
{
    return &reader->scan.damage;
}

struct oldest {
    uint64_t first_lsn;
};

static void oldest_see(void *context, const char *name)
{
    struct oldest *oldest = context;
    uint64_t first_lsn;
    if (segment_name_parse(name, &first_lsn) && (oldest->first_lsn == 0 || first_lsn < oldest->first_lsn))
        oldest->first_lsn = first_lsn;
}

enum status journal_oldest(struct disk *disk, uint64_t *before_first)
{
    struct oldest oldest = { 0 };
    enum status status = disk->ops->list(disk, SEGMENT_PREFIX, oldest_see, &oldest);
    *before_first = oldest.first_lsn == 0 ? 0 : oldest.first_lsn - 1;
    return status;
}
