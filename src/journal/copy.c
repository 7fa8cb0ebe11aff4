/* SPDX-License-Identifier: Apache-2.0 */
/* journal/copy.c: batches are read with the one scanner (journal/scan.h) and written where they stood.
 * Files of the copy are as long as those of the log; what follows the last batch is zeros (a hole in the
 * file, unless it is dense). A packed segment of which only a part is copied ends with its last batch: its
 * header says so, and a journal that goes on begins the next segment. */
#include "journal/copy.h"

#include "journal/format.h"
#include "journal/scan.h"

enum { SYNC_BYTES = 4 * 1024 * 1024 }; /* so that the writer of the log waits for little */

struct copying {
    struct journal_copy *copy;
    struct scan scan;
    struct arena arena;
    uint64_t *first_lsns;
    uint32_t segments;
    disk_file file; /* of the segment in hand */
    uint64_t unsynced;
    uint64_t used; /* of the file: up to the end of its last batch */
    bool ended;    /* by the point that was asked for */
};

static enum status part_sync(struct copying *copying, bool at_once)
{
    struct journal_copy *copy = copying->copy;
    if (!at_once && copying->unsynced < SYNC_BYTES)
        return STATUS_OK;
    const enum status status = copy->to->ops->sync(copy->to, copying->file);
    if (status == STATUS_OK && copy->pace != NULL)
        copy->pace(copy->context, copying->unsynced);
    copying->unsynced = 0;
    return status;
}

static enum status pages_copy(struct copying *copying, uint64_t offset, size_t bytes)
{
    enum status status = STATUS_OK;
    struct disk *to = copying->copy->to;
    const uint8_t *data = scan_bytes(&copying->scan, offset, bytes, &status);
    if (data == NULL)
        return status;
    status = to->ops->write(to, copying->file, offset, data, bytes);
    copying->unsynced += bytes;
    return status == STATUS_OK ? part_sync(copying, false) : status;
}

/* A bad place ends the log if nothing but what a crash or a writer leaves follows it. */
static enum status end_judge(struct copying *copying, bool is_last)
{
    uint64_t torn = 0;
    struct scan *scan = &copying->scan;
    const enum status status = scan_tail(scan, &torn);
    if (status != STATUS_OK || torn == 0 || is_last)
        return status;
    return damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn, scan->offset,
        "bad batch, but a later segment exists: not a torn end");
}

static enum status batches_copy(struct copying *copying, bool is_last)
{
    struct scan *scan = &copying->scan;
    struct journal_copy *copy = copying->copy;
    enum status status = pages_copy(copying, 0, JOURNAL_PAGE);
    copying->used = JOURNAL_PAGE;
    while (status == STATUS_OK) {
        struct batch batch;
        const enum scan_found found = scan_next(scan, &batch, &status);
        if (found == SCAN_FAULT)
            return status;
        if (found != SCAN_BATCH)
            return end_judge(copying, is_last);
        if (batch.last_lsn > copy->until_lsn || batch.time_ms > copy->until_ms) {
            copying->ended = true;
            return STATUS_OK;
        }
        copy->end = scan->end;
        status = pages_copy(copying, batch.offset, format_aligned(batch.bytes, scan->segment.align));
        copying->used = scan->offset;
    }
    return status;
}

static enum status packed_end(struct copying *copying)
{
    const struct segment *segment = &copying->scan.segment;
    struct disk *to = copying->copy->to;
    uint8_t page[JOURNAL_PAGE];
    segment_packed_header_put(page, copying->copy->data_id, copying->used, segment->batch_bytes);
    const enum status status = to->ops->write(to, copying->file, 0, page, sizeof page);
    return status == STATUS_OK ? part_sync(copying, true) : status;
}

static enum status segment_end(struct copying *copying)
{
    struct journal_copy *copy = copying->copy;
    const uint64_t bytes = copying->scan.segment.bytes;
    if (segment_is_packed(&copying->scan.segment))
        return packed_end(copying);
    enum status status = copy->to->ops->truncate(copy->to, copying->file, bytes);
    if (status == STATUS_OK && copy->dense)
        status = segment_write_zeros(copy->to, copying->file, copying->used, bytes);
    return status == STATUS_OK ? part_sync(copying, true) : status;
}

static enum status segment_copy(struct copying *copying, uint64_t first_lsn, bool is_last)
{
    char name[JOURNAL_NAME_MAX];
    struct journal_copy *copy = copying->copy;
    segment_name(first_lsn, name);
    enum status status = scan_enter(&copying->scan, first_lsn);
    if (status == STATUS_OK)
        status = copy->to->ops->open(copy->to, name, DISK_CREATE, &copying->file);
    if (status != STATUS_OK)
        return status;
    status = batches_copy(copying, is_last);
    if (status == STATUS_OK)
        status = segment_end(copying);
    copy->to->ops->close(copy->to, copying->file);
    /* A packed segment has at least one batch. Without this one the copy ends with the segment before. */
    if (status == STATUS_OK && segment_is_packed(&copying->scan.segment) && copying->used == JOURNAL_PAGE)
        return copy->to->ops->remove(copy->to, name);
    copy->segments++;
    return status;
}

static enum status log_copy(struct copying *copying)
{
    struct scan *scan = &copying->scan;
    enum status status = STATUS_OK;
    scan->end.lsn = copying->first_lsns[0] - 1;
    scan->hash_known = copying->first_lsns[0] == 1;
    for (uint32_t i = 0; i < copying->segments && status == STATUS_OK && !copying->ended; i++) {
        const uint64_t expected = scan->end.lsn + 1;
        if (copying->first_lsns[i] != expected)
            return damage_set(&scan->damage, STATUS_CORRUPT, expected, 0,
                "segment is missing: the next one starts at LSN %llu",
                (unsigned long long)copying->first_lsns[i]);
        /* A segment that begins after the point has nothing to give. */
        if (i > 0 && expected > copying->copy->until_lsn)
            break;
        status = segment_copy(copying, copying->first_lsns[i], i + 1 == copying->segments);
    }
    return status;
}

enum status journal_copy(struct journal_copy *copy)
{
    struct copying copying = { .copy = copy };
    const struct journal_config config = { .disk = copy->from, .data_id = copy->data_id };
    enum status status = arena_open(&copying.arena, SCAN_ARENA_BYTES + SEGMENTS_MAX * sizeof(uint64_t));
    if (status != STATUS_OK)
        return status;
    scan_start(&copying.scan, &config, &copying.arena, SCAN_READ_BYTES);
    copying.first_lsns = arena_take(&copying.arena, SEGMENTS_MAX, sizeof(uint64_t));
    copy->end = (struct journal_position){ 0 };
    copy->before_first = copy->segments = 0;
    status = segment_list(copy->from, copying.first_lsns, SEGMENTS_MAX, &copying.segments);
    if (status == STATUS_OK && copying.segments > 0) {
        copy->before_first = copying.first_lsns[0] - 1;
        status = log_copy(&copying);
    }
    if (status == STATUS_OK)
        status = copy->to->ops->sync_folder(copy->to);
    copy->damage = copying.scan.damage;
    scan_stop(&copying.scan);
    arena_close(&copying.arena);
    return status;
}
