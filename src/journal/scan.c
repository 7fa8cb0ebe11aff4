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
 * every page to the end of the segment. */
#include "journal/scan.h"

#include "journal/format.h"

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

/* The whole batch at `offset`, padding included, if magic, length and CRC are right; else NULL
 * and `why`. */
static const uint8_t *complete_batch(
    struct scan *scan, uint64_t offset, uint32_t *bytes, const char **why, enum status *fault)
{
    const uint8_t *data = scan_bytes(scan, offset, JOURNAL_PAGE, fault);
    if (data == NULL)
        return NULL;
    if (bytes_get_u32(data + BATCH_AT_MAGIC) != BATCH_MAGIC) {
        *why = "wrong magic number";
        return NULL;
    }
    *bytes = bytes_get_u32(data + BATCH_AT_BYTES);
    if (*bytes < BATCH_HEADER_BYTES || *bytes > scan->segment.batch_bytes
        || format_pages(*bytes) > scan->segment.bytes - offset) {
        *why = "impossible length";
        return NULL;
    }
    data = scan_bytes(scan, offset, format_pages(*bytes), fault);
    if (data == NULL)
        return NULL;
    if (bytes_get_u32(data + BATCH_AT_CRC) != format_batch_crc(data, *bytes)) {
        *why = "wrong checksum";
        return NULL;
    }
    return data;
}

static bool records_fit(const struct batch *batch)
{
    uint64_t at = BATCH_HEADER_BYTES;
    for (uint32_t i = 0; i < batch->records; i++) {
        if (batch->bytes - at < RECORD_HEADER_BYTES)
            return false;
        const uint8_t *header = batch->data + at;
        uint16_t bytes = bytes_get_u16(header + RECORD_AT_BYTES);
        if (bytes > JOURNAL_RECORD_MAX || header[RECORD_AT_TYPE] == 0
            || header[RECORD_AT_TYPE + 1] != 0 || batch->bytes - at - RECORD_HEADER_BYTES < bytes)
            return false;
        at += RECORD_HEADER_BYTES + (uint64_t)bytes;
    }
    return at == batch->bytes && batch->records > 0;
}

static enum status damaged(struct scan *scan, const char *what, uint64_t found, uint64_t expected)
{
    return damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn, scan->offset,
        "%s: %llu, expected %llu", what, (unsigned long long)found, (unsigned long long)expected);
}

/* The CRC is right, so all of this was written on purpose: whatever does not fit is damage. */
static enum status continues_the_log(struct scan *scan, const struct batch *batch)
{
    uint64_t data_id = bytes_get_u64(batch->data + BATCH_AT_DATA_ID);
    if (data_id != scan->data_id)
        return damage_set(&scan->damage, STATUS_CONFLICT, scan->segment.first_lsn, scan->offset,
            "batch has data id %016llx, the database has %016llx", (unsigned long long)data_id,
            (unsigned long long)scan->data_id);
    if (batch->first_lsn != scan->end.lsn + 1)
        return damaged(scan, "batch starts at the wrong LSN", batch->first_lsn, scan->end.lsn + 1);
    if (scan->hash_known
        && memcmp(batch->data + BATCH_AT_PREVIOUS, scan->end.hash, HASH_SHA256_BYTES) != 0)
        return damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn, scan->offset,
            "batch does not carry the hash of the batch before it");
    if (batch->time_ms < scan->end.time_ms)
        return damaged(scan, "time runs backwards", batch->time_ms, scan->end.time_ms);
    if (!records_fit(batch) || batch->records > UINT64_MAX - batch->first_lsn)
        return damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn, scan->offset,
            "%u records do not add up to a batch of %u bytes", batch->records, batch->bytes);
    if (!all_zero(batch->data + batch->bytes, format_pages(batch->bytes) - batch->bytes))
        return damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn, scan->offset,
            "padding of a batch is not zero");
    return STATUS_OK;
}

enum scan_found scan_next(struct scan *scan, struct batch *batch, enum status *fault)
{
    const char *why = NULL;
    uint32_t bytes = 0;
    *fault = STATUS_OK;
    invariant(scan->segment.is_open);
    if (scan->offset == scan->segment.bytes)
        return SCAN_NOTHING;
    const uint8_t *data = scan_bytes(scan, scan->offset, JOURNAL_PAGE, fault);
    if (data == NULL)
        return SCAN_FAULT;
    if (all_zero(data, JOURNAL_PAGE))
        return SCAN_NOTHING;
    data = complete_batch(scan, scan->offset, &bytes, &why, fault);
    if (data == NULL && *fault != STATUS_OK)
        return SCAN_FAULT;
    if (data == NULL) {
        damage_set(&scan->damage, STATUS_CORRUPT, scan->segment.first_lsn, scan->offset,
            "bad batch: %s", why);
        return SCAN_BROKEN;
    }
    *batch = (struct batch){ .data = data,
        .offset = scan->offset,
        .bytes = bytes,
        .records = bytes_get_u32(data + BATCH_AT_RECORDS),
        .first_lsn = bytes_get_u64(data + BATCH_AT_FIRST_LSN),
        .time_ms = bytes_get_u64(data + BATCH_AT_TIME) };
    *fault = continues_the_log(scan, batch);
    if (*fault != STATUS_OK)
        return SCAN_FAULT;
    batch->last_lsn = batch->first_lsn + batch->records - 1;
    scan->end.lsn = batch->last_lsn;
    scan->end.time_ms = batch->time_ms;
    hash_sha256(data, bytes, scan->end.hash);
    scan->hash_known = true;
    scan->offset += format_pages(bytes);
    return SCAN_BATCH;
}

enum status scan_tail(struct scan *scan, uint64_t *torn_bytes)
{
    const uint64_t start = scan->offset;
    uint64_t last = 0; /* the page after the last one with anything on it */
    enum status fault = STATUS_OK;
    const char *why = NULL;
    *torn_bytes = 0;
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

void batch_take(const struct batch *batch, uint32_t *cursor, struct journal_record *record)
{
    const uint8_t *header = batch->data + *cursor;
    uint16_t bytes = bytes_get_u16(header + RECORD_AT_BYTES);
    *record = (struct journal_record){ .type = header[RECORD_AT_TYPE],
        .payload = span_of(header + RECORD_HEADER_BYTES, bytes) };
    *cursor += RECORD_HEADER_BYTES + (uint32_t)bytes;
    invariant(*cursor <= batch->bytes);
}
