/* SPDX-License-Identifier: Apache-2.0 */
/* journal/segment.c: segment files.
 *
 * DESIGN
 * A segment is a file of a fixed size, all zeros after its header page until batches are
 * written over the zeros, so that writing a batch changes no metadata, needs no room and can't
 * meet a full disk.
 *
 *   segment-<first LSN, 16 hex digits>   in use or complete
 *   next-segment                         the spare: prepared, empty
 *   next-segment.part                    being prepared; whatever is found at start is thrown away
 *   packed-segment.part                  a closed segment without its padding, on its way (pack.c); likewise
 *
 * Preparing: write .part full of zeros with its header page, sync, rename to next-segment, sync
 * the folder. Its first LSN is not known yet, so it is not in the header: it is the name, given
 * by a second rename when the writer rolls, and the first batch repeats it. The folder is synced
 * before the first batch is written: a batch is never durable in a file whose name is not.
 *
 * Header page (little-endian; the rest of the page is zero):
 *    0  u64  magic "SMPESEG1"
 *    8  u32  CRC32C of bytes 12..39
 *   12  u32  version
 *   16  u64  data id
 *   24  u64  segment bytes, header page included = the file's size
 *   32  u32  largest batch in this segment, padding included
 *   36  u32  batches begin at multiples of this: the page size, 4096
 * A packed segment has version 2 and 8 in the last field. Its batches follow each other up to the end of the
 * file: nothing comes after the last one, and nothing can be written to it. A program that knows no packed
 * segments names the version. */
#include "journal/segment.h"

#include "base/thread.h"
#include "journal/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ZERO_BYTES = 64 * 1024,
    /* Zeros are synced this often, so that preparing never puts a long queue before the sync of
     * a batch. */
    PREPARE_SYNC_BYTES = 512 * 1024,
    NAME_DIGITS = 16,
};

static const uint8_t zeros[ZERO_BYTES];

void segment_name(uint64_t first_lsn, char name[JOURNAL_NAME_MAX])
{
    int size = snprintf(name, JOURNAL_NAME_MAX, SEGMENT_PREFIX "%016llx", (unsigned long long)first_lsn);
    invariant(size > 0 && size < JOURNAL_NAME_MAX);
}

bool segment_name_parse(const char *name, uint64_t *first_lsn)
{
    const size_t prefix = sizeof SEGMENT_PREFIX - 1;
    if (strncmp(name, SEGMENT_PREFIX, prefix) != 0 || strlen(name) != prefix + NAME_DIGITS)
        return false;
    uint64_t value = 0;
    for (const char *at = name + prefix; *at != '\0'; at++) {
        if (*at >= '0' && *at <= '9')
            value = value << 4 | (uint64_t)(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            value = value << 4 | (uint64_t)(*at - 'a' + 10);
        else
            return false;
    }
    if (value == 0)
        return false;
    *first_lsn = value;
    return true;
}

struct listing {
    uint64_t *first_lsns;
    uint32_t capacity, count;
    bool overflow;
};

static void listing_add(void *context, const char *name)
{
    struct listing *listing = context;
    uint64_t first_lsn;
    if (!segment_name_parse(name, &first_lsn))
        return;
    if (listing->count == listing->capacity)
        listing->overflow = true;
    else
        listing->first_lsns[listing->count++] = first_lsn;
}

static int compare_lsn(const void *a, const void *b)
{
    uint64_t left = bytes_get_u64(a), right = bytes_get_u64(b);
    return left < right ? -1 : left > right;
}

enum status segment_list(struct disk *disk, uint64_t *first_lsns, uint32_t capacity, uint32_t *count)
{
    struct listing listing = { .first_lsns = first_lsns, .capacity = capacity };
    *count = 0;
    enum status status = disk->ops->list(disk, SEGMENT_PREFIX, listing_add, &listing);
    if (status != STATUS_OK)
        return status;
    if (listing.overflow)
        return STATUS_FULL;
    qsort(first_lsns, listing.count, sizeof *first_lsns, compare_lsn);
    *count = listing.count;
    return STATUS_OK;
}

enum status damage_set(struct journal_damage *damage, enum status status, uint64_t first_lsn,
    uint64_t offset, const char *format, ...)
{
    va_list list;
    if (first_lsn == 0)
        snprintf(damage->segment, sizeof damage->segment, "%s", SEGMENT_SPARE_NAME);
    else
        segment_name(first_lsn, damage->segment);
    damage->offset = offset;
    va_start(list, format);
    vsnprintf(damage->what, sizeof damage->what, format, list);
    va_end(list);
    return status;
}

static void header_put(
    uint8_t page[JOURNAL_PAGE], uint64_t data_id, uint64_t bytes, uint32_t batch_bytes, bool packed)
{
    memset(page, 0, JOURNAL_PAGE);
    bytes_put_u64(page + SEGMENT_AT_MAGIC, SEGMENT_MAGIC);
    bytes_put_u32(page + SEGMENT_AT_VERSION, packed ? JOURNAL_VERSION_PACKED : JOURNAL_VERSION);
    bytes_put_u64(page + SEGMENT_AT_DATA_ID, data_id);
    bytes_put_u64(page + SEGMENT_AT_SEGMENT_BYTES, bytes);
    bytes_put_u32(page + SEGMENT_AT_BATCH_BYTES, batch_bytes);
    bytes_put_u32(page + SEGMENT_AT_ALIGN, packed ? SEGMENT_PACKED_ALIGN : JOURNAL_PAGE);
    bytes_put_u32(page + SEGMENT_AT_CRC, format_segment_crc(page));
}

void segment_header_put(uint8_t page[JOURNAL_PAGE], const struct journal_config *config)
{
    header_put(page, config->data_id, config->segment_bytes, config->batch_bytes, false);
}

void segment_packed_header_put(
    uint8_t page[JOURNAL_PAGE], uint64_t data_id, uint64_t bytes, uint32_t batch_bytes)
{
    header_put(page, data_id, bytes, batch_bytes, true);
}

static bool all_zero(const uint8_t *data, size_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0);
}

/* Whether a file of the form that its version names can have these sizes. */
static bool sizes_fit(const struct segment *segment, bool packed)
{
    const uint32_t batch_bytes = segment->batch_bytes;
    if (segment->align != (packed ? SEGMENT_PACKED_ALIGN : JOURNAL_PAGE)
        || segment->bytes % segment->align != 0 || batch_bytes % JOURNAL_PAGE != 0
        || batch_bytes == 0 || batch_bytes > JOURNAL_BATCH_LIMIT)
        return false;
    return segment->bytes - JOURNAL_PAGE >= (packed ? BATCH_HEADER_BYTES : batch_bytes);
}

static enum status header_check(const uint8_t *page, uint64_t file_bytes, uint64_t data_id,
    struct segment *segment, struct journal_damage *damage)
{
    const uint64_t lsn = segment->first_lsn;
    if (bytes_get_u64(page + SEGMENT_AT_MAGIC) != SEGMENT_MAGIC)
        return damage_set(
            damage, STATUS_CORRUPT, lsn, SEGMENT_AT_MAGIC, "not a segment: wrong magic number");
    if (bytes_get_u32(page + SEGMENT_AT_CRC) != format_segment_crc(page))
        return damage_set(damage, STATUS_CORRUPT, lsn, SEGMENT_AT_CRC, "segment header: wrong checksum");
    uint32_t version = bytes_get_u32(page + SEGMENT_AT_VERSION);
    if (version != JOURNAL_VERSION && version != JOURNAL_VERSION_PACKED)
        return damage_set(damage, STATUS_CONFLICT, lsn, SEGMENT_AT_VERSION,
            "journal has version %u, this program reads versions %d and %d", version,
            JOURNAL_VERSION, JOURNAL_VERSION_PACKED);
    uint64_t found_id = bytes_get_u64(page + SEGMENT_AT_DATA_ID);
    if (found_id != data_id)
        return damage_set(damage, STATUS_CONFLICT, lsn, SEGMENT_AT_DATA_ID,
            "journal has data id %016llx, the database has %016llx", (unsigned long long)found_id,
            (unsigned long long)data_id);
    segment->bytes = bytes_get_u64(page + SEGMENT_AT_SEGMENT_BYTES);
    segment->batch_bytes = bytes_get_u32(page + SEGMENT_AT_BATCH_BYTES);
    segment->align = bytes_get_u32(page + SEGMENT_AT_ALIGN);
    if (segment->bytes != file_bytes)
        return damage_set(damage, STATUS_CORRUPT, lsn, SEGMENT_AT_SEGMENT_BYTES,
            "segment says %llu bytes, file has %llu", (unsigned long long)segment->bytes,
            (unsigned long long)file_bytes);
    if (!sizes_fit(segment, version == JOURNAL_VERSION_PACKED)
        || !all_zero(page + SEGMENT_HEADER_BYTES, JOURNAL_PAGE - SEGMENT_HEADER_BYTES))
        return damage_set(damage, STATUS_CORRUPT, lsn, SEGMENT_AT_SEGMENT_BYTES,
            "segment header: impossible sizes");
    return STATUS_OK;
}

static enum status open_named(struct disk *disk, uint64_t data_id, const char *name,
    enum disk_mode mode, struct segment *segment, struct journal_damage *damage)
{
    uint8_t page[JOURNAL_PAGE];
    uint64_t file_bytes = 0;
    size_t got = 0;
    disk_file reading;
    /* The header is read through a file of its own: one that is open for writing need not be
     * readable. */
    enum status status = disk->ops->open(disk, name, DISK_READ, &reading);
    if (status != STATUS_OK)
        return status;
    status = disk->ops->size(disk, reading, &file_bytes);
    if (status == STATUS_OK)
        status = disk->ops->read(disk, reading, 0, page, sizeof page, &got);
    if (status == STATUS_OK && got < sizeof page)
        status = damage_set(
            damage, STATUS_CORRUPT, segment->first_lsn, got, "file ends inside the header page");
    if (status == STATUS_OK)
        status = header_check(page, file_bytes, data_id, segment, damage);
    if (status == STATUS_OK && mode == DISK_READ) {
        segment->file = reading;
        segment->is_open = true;
        return STATUS_OK;
    }
    disk->ops->close(disk, reading);
    if (status != STATUS_OK)
        return status;
    status = disk->ops->open(disk, name, mode, &segment->file);
    segment->is_open = status == STATUS_OK;
    return status;
}

enum status segment_open(struct disk *disk, uint64_t data_id, uint64_t first_lsn,
    enum disk_mode mode, struct segment *segment, struct journal_damage *damage)
{
    char name[JOURNAL_NAME_MAX];
    invariant(first_lsn > 0);
    segment_name(first_lsn, name);
    *segment = (struct segment){ .first_lsn = first_lsn };
    return open_named(disk, data_id, name, mode, segment, damage);
}

enum status segment_open_part(struct disk *disk, uint64_t data_id, uint64_t first_lsn,
    struct segment *segment, struct journal_damage *damage)
{
    *segment = (struct segment){ .first_lsn = first_lsn };
    return open_named(disk, data_id, SEGMENT_PACKED_NAME, DISK_READ, segment, damage);
}

void segment_close(struct disk *disk, struct segment *segment)
{
    if (segment->is_open)
        disk->ops->close(disk, segment->file);
    segment->is_open = false;
}

enum status segment_write_zeros(struct disk *disk, disk_file file, uint64_t from, uint64_t to)
{
    uint64_t unsynced = 0;
    for (uint64_t at = from; at < to;) {
        uint64_t bytes = to - at < ZERO_BYTES ? to - at : ZERO_BYTES;
        thread_give_way();
        enum status status = disk->ops->write(disk, file, at, zeros, bytes);
        if (status != STATUS_OK)
            return status;
        at += bytes;
        unsynced += bytes;
        if (unsynced < PREPARE_SYNC_BYTES && at < to)
            continue;
        status = disk->ops->sync(disk, file);
        if (status != STATUS_OK)
            return status;
        unsynced = 0;
    }
    return STATUS_OK;
}

enum status segment_remove_file(struct disk *disk, const char *name)
{
    enum status status = disk->ops->remove(disk, name);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status segment_make_spare(const struct journal_config *config, struct segment *spare)
{
    struct disk *disk = config->disk;
    uint8_t page[JOURNAL_PAGE];
    *spare = (struct segment){
        .bytes = config->segment_bytes, .batch_bytes = config->batch_bytes, .align = JOURNAL_PAGE
    };
    enum status status = segment_remove_file(disk, SEGMENT_PART_NAME);
    if (status != STATUS_OK)
        return status;
    status = disk->ops->open(disk, SEGMENT_PART_NAME, DISK_CREATE, &spare->file);
    if (status != STATUS_OK)
        return status;
    spare->is_open = true;
    segment_header_put(page, config);
    status = disk->ops->write(disk, spare->file, 0, page, sizeof page);
    if (status == STATUS_OK)
        status = segment_write_zeros(disk, spare->file, JOURNAL_PAGE, config->segment_bytes);
    if (status == STATUS_OK)
        status = disk->ops->rename(disk, SEGMENT_PART_NAME, SEGMENT_SPARE_NAME);
    if (status != STATUS_OK)
        goto fail;
    status = disk->ops->sync_folder(disk);
    if (status == STATUS_OK)
        return STATUS_OK;
    /* Named, perhaps not for good. It goes, and the next try starts afresh. */
    (void)!segment_remove_file(disk, SEGMENT_SPARE_NAME);
fail:
    segment_close(disk, spare);
    (void)!segment_remove_file(disk, SEGMENT_PART_NAME); /* what it took of a full disk is needed by others */
    return status;
}

static enum status spare_is_empty(struct disk *disk, const struct segment *spare, uint8_t *buffer,
    size_t buffer_bytes, struct journal_damage *damage)
{
    disk_file reading;
    enum status status = disk->ops->open(disk, SEGMENT_SPARE_NAME, DISK_READ, &reading);
    if (status != STATUS_OK)
        return status;
    for (uint64_t at = JOURNAL_PAGE; status == STATUS_OK && at < spare->bytes;) {
        size_t want = spare->bytes - at < buffer_bytes ? (size_t)(spare->bytes - at) : buffer_bytes,
               got = 0;
        status = disk->ops->read(disk, reading, at, buffer, want, &got);
        if (status == STATUS_OK && (got != want || !all_zero(buffer, got)))
            status = damage_set(
                damage, STATUS_CORRUPT, 0, at, "a spare segment must be empty, this one is not");
        at += want;
    }
    disk->ops->close(disk, reading);
    return status;
}

enum status segment_find_spare(const struct journal_config *config, uint8_t *buffer,
    size_t buffer_bytes, struct segment *spare, struct journal_damage *damage)
{
    struct disk *disk = config->disk;
    *spare = (struct segment){ 0 };
    enum status status =
        open_named(disk, config->data_id, SEGMENT_SPARE_NAME, DISK_WRITE, spare, damage);
    if (status == STATUS_OK)
        status = spare_is_empty(disk, spare, buffer, buffer_bytes, damage);
    if (status != STATUS_OK) {
        segment_close(disk, spare);
        return status;
    }
    if (spare->bytes == config->segment_bytes && spare->batch_bytes == config->batch_bytes)
        return STATUS_OK;
    segment_close(disk, spare);
    status = segment_remove_file(disk, SEGMENT_SPARE_NAME);
    return status == STATUS_OK ? STATUS_NOT_FOUND : status;
}

enum status segment_place(struct disk *disk, struct segment *spare, uint64_t first_lsn)
{
    char name[JOURNAL_NAME_MAX];
    invariant(spare->is_open && spare->first_lsn == 0 && first_lsn > 0);
    segment_name(first_lsn, name);
    enum status status = disk->ops->rename(disk, SEGMENT_SPARE_NAME, name);
    if (status == STATUS_OK)
        status = disk->ops->sync_folder(disk);
    if (status == STATUS_OK)
        spare->first_lsn = first_lsn;
    return status;
}
