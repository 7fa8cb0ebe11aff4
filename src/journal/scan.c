/* SPDX-License-Identifier: Apache-2.0 */
/* journal/scan.c: reading batches, and judging what follows the last good one.
 *
 * DESIGN
 * A place in a segment holds a good batch, nothing, or something broken. Broken is what a power
 * cut may leave: wrong magic, impossible length, wrong CRC. What passes the CRC was written by
 * us as it stands, so everything that is wrong behind the CRC (other LSN, other previous hash,
 * time running backwards, records that don't add up, bytes in the padding) is damage or
 * tampering at once, wherever it stands.
 *
 * A torn batch lies within batch_bytes of the last good one (one write in flight), its pages in
 * any mixture of new and zero, and no complete batch follows it. scan_tail checks these, on
 * every page to the end of the segment.
 *
 * A packed segment was whole and durable before it got its name. So no place in it is torn or empty: batches
 * follow each other up to the end of the file, and whatever else is there is damage. */
#include "journal/scan.h"

#include "journal/format.h"

#include <stdio.h>

void scan_start(
    struct scan *scan, const struct journal_config *config, struct arena *arena, size_t read_bytes)
{
    *scan = (struct scan){ .disk = config->disk, .data_id = config->data_id, .read_bytes = read_bytes };
    scan->buffer = arena_take(arena, 1, JOURNAL_BATCH_LIMIT);
    invariant(read_bytes >= JOURNAL_PAGE && read_bytes <= JOURNAL_BATCH_LIMIT);
}

void scan_stop(struct scan *scan)
{
    if (scan->disk != NULL)
        segment_close(scan->disk, &scan->segment);
}

void scan_forget(struct scan *scan)
{
    scan->window_bytes = 0;
}

enum status scan_enter(struct scan *scan, uint64_t first_lsn)
{
    segment_close(scan->disk, &scan->segment);
    scan_forget(scan);
    scan->offset = JOURNAL_PAGE;
    return segment_open(scan->disk, scan->data_id, first_lsn, DISK_READ, &scan->segment, &scan->damage);
}

enum status scan_enter_part(struct scan *scan, uint64_t first_lsn)
{
    segment_close(scan->disk, &scan->segment);
    scan_forget(scan);
    scan->offset = JOURNAL_PAGE;
    return segment_open_part(scan->disk, scan->data_id, first_lsn, &scan->segment, &scan->damage);
}

const uint8_t *scan_bytes(struct scan *scan, uint64_t offset, size_t bytes, enum status *fault)
{
    invariant(bytes <= JOURNAL_BATCH_LIMIT && offset + bytes <= scan->segment.bytes);
    if (offset < scan->window_offset || offset + bytes > scan->window_offset + scan->window_bytes) {
        size_t want = bytes > scan->read_bytes ? bytes : scan->read_bytes, got = 0;
        if (want > scan->segment.bytes - offset)
            want = (size_t)(scan->segment.bytes - offset);
        scan_forget(scan);
        *fault = scan->disk->ops->read(scan->disk, scan->segment.file, offset, scan->buffer, want, &got);
        if (*fault == STATUS_OK && got < want)
            *fault = damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn,
                offset + got, "file is cut short");
        if (*fault != STATUS_OK)
            return NULL;
        scan->window_offset = offset;
        scan->window_bytes = want;
    }
    return scan->buffer + (offset - scan->window_offset);
}

static bool all_zero(const uint8_t *data, size_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0);
}

/* A page from `offset` on; less at the end of a packed segment. */
static const uint8_t *head_bytes(struct scan *scan, uint64_t offset, size_t *bytes, enum status *fault)
{
    const uint64_t rest = scan->segment.bytes - offset;
    *bytes = rest < JOURNAL_PAGE ? (size_t)rest : JOURNAL_PAGE;
    return scan_bytes(scan, offset, *bytes, fault);
}

/* The whole batch at `offset`, padding included, if magic, length and CRC are right; else NULL
 * and `why`. */
static const uint8_t *complete_batch(
    struct scan *scan, uint64_t offset, uint32_t *bytes, const char **why, enum status *fault)
{
    size_t head;
    const uint8_t *data = head_bytes(scan, offset, &head, fault);
    if (data == NULL)
        return NULL;
    const uint64_t rest = scan->segment.bytes - offset; /* padding of the last batch included */
    *why = head < BATCH_HEADER_BYTES
        ? "the file ends inside a batch"
        : batch_head_wrong(
            data, rest < scan->segment.batch_bytes ? rest : scan->segment.batch_bytes, bytes);
    if (*why != NULL)
        return NULL;
    data = scan_bytes(scan, offset, format_aligned(*bytes, scan->segment.align), fault);
    if (data == NULL)
        return NULL;
    if (!batch_is_whole(data, *bytes)) {
        *why = "wrong checksum";
        return NULL;
    }
    return data;
}

static enum status follow(struct scan *scan, const uint8_t *data, uint32_t bytes, struct batch *batch)
{
    char what[sizeof scan->damage.what];
    const uint64_t padded = format_aligned(bytes, scan->segment.align);
    struct journal_position end = scan->end;
    enum status status =
        batch_follow(data, bytes, scan->data_id, scan->hash_known, &end, batch, what, sizeof what);
    if (status == STATUS_OK && !all_zero(data + bytes, padded - bytes)) {
        status = STATUS_CORRUPT;
        snprintf(what, sizeof what, "padding of a batch is not zero");
    }
    if (status != STATUS_OK)
        return damage_set(&scan->damage, status, scan->segment.first_lsn, scan->offset, "%s", what);
    batch->offset = scan->offset;
    scan->end = end;
    scan->hash_known = true;
    scan->offset += padded;
    return STATUS_OK;
}

enum scan_found scan_next(struct scan *scan, struct batch *batch, enum status *fault)
{
    const char *why = NULL;
    uint32_t bytes = 0;
    size_t head;
    *fault = STATUS_OK;
    invariant(scan->segment.is_open);
    if (scan->offset == scan->segment.bytes)
        return SCAN_NOTHING;
    const uint8_t *data = head_bytes(scan, scan->offset, &head, fault);
    if (data == NULL)
        return SCAN_FAULT;
    if (!segment_is_packed(&scan->segment) && all_zero(data, head))
        return SCAN_NOTHING;
    data = complete_batch(scan, scan->offset, &bytes, &why, fault);
    if (data == NULL && *fault != STATUS_OK)
        return SCAN_FAULT;
    if (data == NULL) {
        damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn, scan->offset,
            "bad batch: %s", why);
        return SCAN_BROKEN;
    }
    *fault = follow(scan, data, bytes, batch);
    return *fault == STATUS_OK ? SCAN_BATCH : SCAN_FAULT;
}

enum status scan_tail(struct scan *scan, uint64_t *torn_bytes)
{
    const uint64_t start = scan->offset;
    uint64_t last = 0; /* the page after the last one with anything on it */
    enum status fault = STATUS_OK;
    const char *why = NULL;
    *torn_bytes = 0;
    if (segment_is_packed(&scan->segment) && start < scan->segment.bytes)
        return damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn, start,
            "bad batch in a packed segment: not a torn end");
    for (uint64_t at = start; at < scan->segment.bytes; at += JOURNAL_PAGE) {
        uint32_t bytes;
        const uint8_t *page = scan_bytes(scan, at, JOURNAL_PAGE, &fault);
        if (page == NULL)
            return fault;
        if (all_zero(page, JOURNAL_PAGE))
            continue;
        last = at + JOURNAL_PAGE;
        if (complete_batch(scan, at, &bytes, &why, &fault) != NULL)
            return damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn, start,
                "bad batch, but a good one follows it at %llu: not a torn end", (unsigned long long)at);
        if (fault != STATUS_OK)
            return fault;
        if (last > start + scan->segment.batch_bytes)
            return damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn, start,
                "bytes at %llu, farther from the last good batch than one batch reaches",
                (unsigned long long)at);
    }
    if (last == 0)
        return STATUS_OK;
    const uint8_t *page = scan_bytes(scan, last - JOURNAL_PAGE, JOURNAL_PAGE, &fault);
    if (page == NULL)
        return fault;
    uint64_t used = JOURNAL_PAGE;
    while (page[used - 1] == 0)
        used--;
    *torn_bytes = last - JOURNAL_PAGE + used - start;
    return STATUS_OK;
}
