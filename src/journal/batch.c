/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/batch.h"

#include "journal/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static_assert((int)BATCH_RECORDS_AT == (int)BATCH_HEADER_BYTES, "records follow the header");

/* ---- making ---- */

void batch_begin(struct batch_maker *maker, uint8_t *data, uint32_t size)
{
    maker->data = data;
    maker->size = size;
    maker->bytes = BATCH_HEADER_BYTES;
    maker->records = 0;
}

bool batch_append(struct batch_maker *maker, uint8_t type, const void *payload, uint32_t bytes)
{
    invariant(bytes <= JOURNAL_RECORD_MAX && type != 0);
    if (maker->size - maker->bytes < RECORD_HEADER_BYTES + bytes)
        return false;
    uint8_t *at = maker->data + maker->bytes;
    bytes_put_u32(at, bytes | (uint32_t)type << (8 * RECORD_AT_TYPE));
    memcpy(at + RECORD_HEADER_BYTES, payload, bytes);
    maker->bytes += RECORD_HEADER_BYTES + bytes;
    maker->records++;
    return true;
}

uint32_t batch_end(
    struct batch_maker *maker, uint64_t data_id, uint64_t time_ms, struct journal_position *end)
{
    invariant(maker->records > 0 && time_ms >= end->time_ms);
    batch_head_put(maker->data, maker->bytes, maker->records, end->lsn + 1, time_ms, data_id);
    batch_finish(maker->data, maker->bytes, end->hash, end->hash);
    end->lsn += maker->records;
    end->time_ms = time_ms;
    return maker->bytes;
}

void batch_head_put(uint8_t *data, uint32_t bytes, uint32_t records, uint64_t first_lsn,
    uint64_t time_ms, uint64_t data_id)
{
    bytes_put_u32(data + BATCH_AT_MAGIC, BATCH_MAGIC);
    bytes_put_u32(data + BATCH_AT_BYTES, bytes);
    bytes_put_u32(data + BATCH_AT_RECORDS, records);
    bytes_put_u64(data + BATCH_AT_FIRST_LSN, first_lsn);
    bytes_put_u64(data + BATCH_AT_TIME, time_ms);
    bytes_put_u64(data + BATCH_AT_DATA_ID, data_id);
}

void batch_finish(uint8_t *data, uint32_t bytes, const uint8_t previous[HASH_SHA256_BYTES],
    uint8_t digest[HASH_SHA256_BYTES])
{
    memcpy(data + BATCH_AT_PREVIOUS, previous, HASH_SHA256_BYTES);
    bytes_put_u32(data + BATCH_AT_CRC, format_batch_crc(data, bytes));
    hash_sha256(data, bytes, digest);
}

/* ---- reading ---- */

const char *batch_head_wrong(const uint8_t *data, uint64_t most, uint32_t *bytes)
{
    if (bytes_get_u32(data + BATCH_AT_MAGIC) != BATCH_MAGIC)
        return "wrong magic number";
    *bytes = bytes_get_u32(data + BATCH_AT_BYTES);
    return *bytes < BATCH_HEADER_BYTES || *bytes > most ? "impossible length" : NULL;
}

bool batch_is_whole(const uint8_t *data, uint32_t bytes)
{
    return bytes_get_u32(data + BATCH_AT_CRC) == format_batch_crc(data, bytes);
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

struct complaint {
    char *what;
    size_t what_bytes;
};

static enum status __attribute__((format(printf, 3, 4)))
wrong(struct complaint complaint, enum status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(complaint.what, complaint.what_bytes, format, arguments);
    va_end(arguments);
    return status;
}

static enum status differs(struct complaint complaint, const char *what, uint64_t found, uint64_t expected)
{
    return wrong(complaint, STATUS_CORRUPT, "%s: %llu, expected %llu", what,
        (unsigned long long)found, (unsigned long long)expected);
}

/* The checksum is right, so all of this was written on purpose: whatever does not fit is damage. */
static enum status continues(const struct batch *batch, uint64_t data_id, bool hash_known,
    const struct journal_position *end, struct complaint complaint)
{
    const uint64_t found = bytes_get_u64(batch->data + BATCH_AT_DATA_ID);
    if (found != data_id)
        return wrong(complaint, STATUS_CONFLICT, "batch has data id %016llx, the database has %016llx",
            (unsigned long long)found, (unsigned long long)data_id);
    if (batch->first_lsn != end->lsn + 1)
        return differs(complaint, "batch starts at the wrong LSN", batch->first_lsn, end->lsn + 1);
    if (hash_known && memcmp(batch->data + BATCH_AT_PREVIOUS, end->hash, HASH_SHA256_BYTES) != 0)
        return wrong(complaint, STATUS_CORRUPT, "batch does not carry the hash of the batch before it");
    if (batch->time_ms < end->time_ms)
        return differs(complaint, "time runs backwards", batch->time_ms, end->time_ms);
    if (!records_fit(batch) || batch->records > UINT64_MAX - batch->first_lsn)
        return wrong(complaint, STATUS_CORRUPT, "%u records do not add up to a batch of %u bytes",
            batch->records, batch->bytes);
    return STATUS_OK;
}

enum status batch_follow(const uint8_t *data, uint32_t bytes, uint64_t data_id, bool hash_known,
    struct journal_position *end, struct batch *batch, char *what, size_t what_bytes)
{
    *batch = (struct batch){ .data = data,
        .bytes = bytes,
        .records = bytes_get_u32(data + BATCH_AT_RECORDS),
        .first_lsn = bytes_get_u64(data + BATCH_AT_FIRST_LSN),
        .time_ms = bytes_get_u64(data + BATCH_AT_TIME) };
    const enum status status =
        continues(batch, data_id, hash_known, end, (struct complaint){ what, what_bytes });
    if (status != STATUS_OK)
        return status;
    batch->last_lsn = batch->first_lsn + batch->records - 1;
    end->lsn = batch->last_lsn;
    end->time_ms = batch->time_ms;
    hash_sha256(data, bytes, end->hash);
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
