/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/journal_fuzz.c: bytes from a damaged or hostile disk.
 *
 * Input: one byte chooses.
 *   even  record_decode: one byte type, the rest is the payload. What decodes must encode to the
 *         same bytes.
 *   odd   a segment: pieces of (flags, u16 size, bytes), each put on the next page. The flags ask
 *         for fields of a batch header to be made right (checksum and hash last), so that the
 *         fuzzer gets behind them. The segment is scanned, opened (which may cut its tail), read,
 *         appended to and scanned again: each must agree with the scan before it.
 *   3, 7, 11 … the same with a packed segment: each piece follows the one before, nothing may be written,
 *         and nothing is torn. */
#include "contract/record.h"
#include "journal/format.h"
#include "journal/segment.h"
#include "tests/support/journal_put.h"

#include <string.h>

enum { PAGES = 8, BATCH_PAGES = 3, IMAGE = PAGES * JOURNAL_PAGE };
enum piece_flag {
    PIECE_MAGIC = 1,
    PIECE_BYTES = 2,
    PIECE_LSN = 4,
    PIECE_DATA_ID = 8,
    PIECE_TIME = 16,
    PIECE_HASH = 32,
    PIECE_CRC = 64,
    PIECE_SKIP_PAGE = 128,
};
#define DATA_ID UINT64_C(0x1122334455667788)
#define NAME SEGMENT_PREFIX "0000000000000001"

/* A disk with one file. */
static uint8_t image[IMAGE];
static uint64_t image_bytes;
static bool packed;

static enum status one_open(struct disk *disk, const char *name, enum disk_mode mode, disk_file *file)
{
    (void)disk;
    *file = 0;
    if (strcmp(name, NAME) != 0)
        return STATUS_NOT_FOUND;
    return mode == DISK_CREATE ? STATUS_CONFLICT : STATUS_OK;
}
static void one_close(struct disk *disk, disk_file file)
{
    (void)disk;
    invariant(file == 0);
}
static enum status one_read(
    struct disk *disk, disk_file file, uint64_t offset, void *data, size_t bytes, size_t *got)
{
    (void)disk;
    (void)file;
    *got = offset >= image_bytes ? 0 : image_bytes - offset < bytes ? image_bytes - offset : bytes;
    memcpy(data, image + (*got == 0 ? 0 : offset), *got);
    return STATUS_OK;
}
static enum status one_write(
    struct disk *disk, disk_file file, uint64_t offset, const void *data, size_t bytes)
{
    (void)disk;
    (void)file;
    /* Never outside, never over the header page. */
    invariant(offset >= JOURNAL_PAGE && offset + bytes <= IMAGE && !packed);
    memcpy(image + offset, data, bytes);
    return STATUS_OK;
}
static enum status one_sync(struct disk *disk, disk_file file)
{
    (void)disk;
    (void)file;
    return STATUS_OK;
}
static enum status one_size(struct disk *disk, disk_file file, uint64_t *bytes)
{
    (void)disk;
    (void)file;
    *bytes = image_bytes;
    return STATUS_OK;
}
static enum status one_truncate(struct disk *disk, disk_file file, uint64_t bytes)
{
    (void)disk;
    (void)file;
    (void)bytes;
    return STATUS_IO;
}
static enum status one_rename(struct disk *disk, const char *from, const char *to)
{
    (void)disk;
    (void)from;
    (void)to;
    return STATUS_IO;
}
static enum status one_remove(struct disk *disk, const char *name)
{
    (void)disk;
    (void)name;
    return STATUS_NOT_FOUND;
}
static enum status one_sync_folder(struct disk *disk)
{
    (void)disk;
    return STATUS_OK;
}
static enum status one_list(
    struct disk *disk, const char *prefix, void (*each)(void *, const char *), void *context)
{
    (void)disk;
    (void)prefix;
    each(context, NAME);
    return STATUS_OK;
}
static const struct disk_ops one_ops = { one_open, one_close, one_read, one_write, one_sync,
    one_size, one_truncate, one_rename, one_remove, one_sync_folder, one_list };
static struct disk one_disk = { &one_ops };

static const struct journal_config config = {
    .disk = &one_disk, .data_id = DATA_ID, .segment_bytes = IMAGE, .batch_bytes = BATCH_PAGES * JOURNAL_PAGE
};

static enum status sum(void *context, const struct journal_record *record, uint64_t batch_time_ms)
{
    uint64_t *total = context;
    for (size_t i = 0; i < record->payload.size; i++)
        *total = *total * 31 + (uint8_t)record->payload.data[i];
    *total += record->lsn * 7 + record->type + batch_time_ms;
    return STATUS_OK;
}

static void make_right(uint8_t *batch, uint32_t size, uint8_t flags, struct journal_position *end)
{
    if (flags & PIECE_MAGIC)
        bytes_put_u32(batch + BATCH_AT_MAGIC, BATCH_MAGIC);
    if (flags & PIECE_BYTES)
        bytes_put_u32(batch + BATCH_AT_BYTES, size);
    if (flags & PIECE_LSN)
        bytes_put_u64(batch + BATCH_AT_FIRST_LSN, end->lsn + 1);
    if (flags & PIECE_DATA_ID)
        bytes_put_u64(batch + BATCH_AT_DATA_ID, DATA_ID);
    if (flags & PIECE_TIME)
        bytes_put_u64(batch + BATCH_AT_TIME, end->time_ms);
    if (flags & PIECE_HASH)
        memcpy(batch + BATCH_AT_PREVIOUS, end->hash, HASH_SHA256_BYTES);
    uint32_t bytes = bytes_get_u32(batch + BATCH_AT_BYTES);
    if (bytes < BATCH_HEADER_BYTES || bytes > size)
        return;
    if (flags & PIECE_CRC)
        bytes_put_u32(batch + BATCH_AT_CRC, format_batch_crc(batch, bytes));
    end->lsn = bytes_get_u64(batch + BATCH_AT_FIRST_LSN) + bytes_get_u32(batch + BATCH_AT_RECORDS) - 1;
    end->time_ms = bytes_get_u64(batch + BATCH_AT_TIME);
    hash_sha256(batch, bytes, end->hash);
}

static void build(const uint8_t *data, size_t size)
{
    struct journal_position end = { 0 };
    uint64_t offset = JOURNAL_PAGE;
    const uint32_t align = packed ? SEGMENT_PACKED_ALIGN : JOURNAL_PAGE;
    memset(image, 0, sizeof image);
    while (size >= 3 && offset < IMAGE) {
        uint8_t flags = data[0];
        uint32_t bytes = bytes_get_u16(data + 1);
        data += 3;
        size -= 3;
        if (bytes > size)
            bytes = (uint32_t)size;
        if (bytes > IMAGE - offset)
            bytes = (uint32_t)(IMAGE - offset);
        memcpy(image + offset, data, bytes);
        data += bytes;
        size -= bytes;
        if (bytes >= BATCH_HEADER_BYTES)
            make_right(image + offset, bytes, flags, &end);
        offset += bytes == 0 ? align : format_aligned(bytes, align);
        if (flags & PIECE_SKIP_PAGE)
            offset += align;
    }
    image_bytes = packed && offset < IMAGE ? offset : IMAGE;
    if (packed)
        segment_packed_header_put(image, DATA_ID, image_bytes, config.batch_bytes);
    else
        segment_header_put(image, &config);
}

static void reader_agrees(const struct journal_recovery *recovery, uint64_t total)
{
    struct journal_reader *reader;
    struct journal_record record;
    uint64_t time_ms, count = 0, again = 0;
    enum status status = journal_reader_open(&reader, &config);
    invariant(status == STATUS_OK);
    status = journal_reader_seek(reader, 0);
    invariant(status == STATUS_OK);
    while ((status = journal_reader_next(reader, recovery->end.lsn, &record, &time_ms)) == STATUS_OK) {
        (void)sum(&again, &record, time_ms);
        count++;
    }
    invariant(status == STATUS_NOT_FOUND && count == recovery->records && again == total);
    journal_reader_close(reader);
}

static void fuzz_segment(const uint8_t *data, size_t size)
{
    static uint8_t before[IMAGE];
    const struct journal_position beginning = { 0 };
    struct journal_recovery scanned, opened, again;
    struct journal *journal;
    uint64_t total = 0, total_opened = 0, total_again = 0;
    build(data, size);
    memcpy(before, image, sizeof image);
    enum status status = journal_scan(&config, &beginning, sum, &total, &scanned);
    invariant(memcmp(before, image, sizeof image) == 0);
    enum status open_status = journal_open(&journal, &config, &beginning, sum, &total_opened, &opened);
    invariant(open_status == status && total == total_opened);
    if (status != STATUS_OK) {
        invariant(memcmp(before, image, sizeof image) == 0); /* a refusal writes nothing */
        invariant(scanned.damage.segment[0] != 0 && scanned.damage.what[0] != 0);
        return;
    }
    invariant(!packed || scanned.torn_bytes == 0);
    reader_agrees(&opened, total);
    bool more = journal_room(journal) > 0;
    invariant(!packed || !more); /* it is full */
    if (more) {
        journal_put(journal, 1, "x", 1);
        more = journal_seal(journal, 0);
        status = journal_write(journal);
        invariant(more && status == STATUS_OK);
    }
    journal_close(journal);
    status = journal_scan(&config, &beginning, sum, &total_again, &again);
    invariant(status == STATUS_OK && again.torn_bytes == 0 && again.records == opened.records + more);
}

static void fuzz_record(const uint8_t *data, size_t size)
{
    struct command command;
    struct outcome outcome;
    uint8_t again[RECORD_BYTES_MAX];
    if (size == 0 || record_decode(data[0], span_of(data + 1, size - 1), &command, &outcome) != STATUS_OK)
        return;
    uint32_t bytes = record_encode(&command, &outcome, again);
    invariant(bytes == size - 1 && memcmp(again, data + 1, bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] % 2 == 0)
        fuzz_record(data + 1, size - 1);
    packed = data[0] % 4 == 3;
    if (data[0] % 2 == 1)
        fuzz_segment(data + 1, size - 1);
    return 0;
}
