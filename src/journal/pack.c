/* SPDX-License-Identifier: Apache-2.0 */
/* journal/pack.c: closed segments lose their padding.
 *
 * DESIGN One segment a call, after those that are packed:
 *   measure   by the lengths of its batches; a segment that stays larger than half is left alone
 *   write     every batch, checked by the one scanner, into packed-segment.part; synced in slices
 *   reread    the new file with the same scanner: it must end with the same LSN and the same hash
 *   replace   rename over the segment's name, sync the folder
 * Up to the rename the log is what it was, and the rename is atomic: a crash leaves the old file or the new
 * one, each whole and durable. A file that was not renamed is removed, at the next start after a crash.
 *
 * Old segments are removed by another thread (archive/prune.c). A rename after that would bring one back,
 * perhaps with a gap after it. So removing and replacing exclude each other, and a segment that is gone is
 * not replaced. */
#include "journal/pack.h"

#include "base/log.h"
#include "base/thread.h"
#include "journal/format.h"
#include "journal/scan.h"

#include <pthread.h>

enum {
    WRITE_BYTES = 64 * 1024,
    SYNC_BYTES = 512 * 1024, /* so that the sync of a batch waits for little (docs/performance.md, stalls) */
    LOOKS_MAX = 4096, /* at segments that are packed, in one call */
    PAYS_TIMES = 2,   /* packed if the segment becomes so many times smaller */
};

static pthread_mutex_t replacing = PTHREAD_MUTEX_INITIALIZER; /* names of segments of this process */

struct packing {
    struct disk *disk;
    struct scan scan;
    struct arena arena;
    uint64_t first_lsn, next_lsn; /* of the segment, and of the one after it */
    uint64_t bytes;               /* of the packed file */
    disk_file file;
    bool is_open;
    uint8_t *buffer;
    uint32_t buffered;
    uint64_t written, unsynced;
};

/* ---- measure ---- */

/* What the packed file will have, as the headers of the batches say; nothing is checked here. 0: it does not
 * pay. */
static enum status measure(struct packing *packing)
{
    struct scan *scan = &packing->scan;
    const struct segment *segment = &scan->segment;
    const uint64_t most = segment->bytes / PAYS_TIMES;
    uint64_t bytes = JOURNAL_PAGE;
    packing->bytes = 0;
    for (uint64_t at = JOURNAL_PAGE; at < segment->bytes;) {
        enum status status = STATUS_OK;
        uint32_t batch_bytes;
        thread_give_way();
        const uint8_t *head = scan_bytes(scan, at, JOURNAL_PAGE, &status);
        if (head == NULL)
            return status;
        if (batch_head_wrong(head, segment->bytes - at, &batch_bytes) != NULL)
            break;
        bytes += format_aligned(batch_bytes, SEGMENT_PACKED_ALIGN);
        at += format_pages(batch_bytes);
        if (bytes > most)
            return STATUS_OK;
    }
    packing->bytes = bytes <= most ? bytes : 0;
    return STATUS_OK;
}

/* ---- write ---- */

static enum status buffer_write(struct packing *packing)
{
    struct disk *disk = packing->disk;
    enum status status =
        disk->ops->write(disk, packing->file, packing->written, packing->buffer, packing->buffered);
    if (status != STATUS_OK)
        return status;
    packing->written += packing->buffered;
    packing->unsynced += packing->buffered;
    packing->buffered = 0;
    if (packing->unsynced < SYNC_BYTES && packing->written < packing->bytes)
        return STATUS_OK;
    packing->unsynced = 0;
    return disk->ops->sync(disk, packing->file);
}

static enum status bytes_put(struct packing *packing, const uint8_t *data, size_t bytes)
{
    enum status status = STATUS_OK;
    while (bytes > 0 && status == STATUS_OK) {
        const size_t room = WRITE_BYTES - packing->buffered, part = bytes < room ? bytes : room;
        memcpy(packing->buffer + packing->buffered, data, part);
        packing->buffered += (uint32_t)part;
        data += part;
        bytes -= part;
        if (packing->buffered == WRITE_BYTES)
            status = buffer_write(packing);
    }
    return status;
}

static enum status wrong(struct packing *packing, const char *what)
{
    return damage_set(&packing->scan.damage, STATUS_CORRUPT, packing->first_lsn,
        packing->scan.offset, "%s", what);
}

/* Walks all batches of the segment that was entered; each goes to the new file if `put`. It must end where
 * the next segment goes on. */
static enum status batches_walk(struct packing *packing, bool put)
{
    static const uint8_t padding[SEGMENT_PACKED_ALIGN];
    struct scan *scan = &packing->scan;
    enum status status = STATUS_OK;
    uint64_t torn = 0;
    scan->end = (struct journal_position){ .lsn = packing->first_lsn - 1 };
    scan->hash_known = packing->first_lsn == 1;
    for (;;) {
        struct batch batch;
        thread_give_way();
        const enum scan_found found = scan_next(scan, &batch, &status);
        if (found == SCAN_FAULT)
            return status;
        if (found == SCAN_BROKEN)
            return STATUS_CORRUPT;
        if (found == SCAN_NOTHING)
            break;
        if (!put)
            continue;
        const uint64_t padded = format_aligned(batch.bytes, SEGMENT_PACKED_ALIGN);
        status = bytes_put(packing, batch.data, batch.bytes);
        if (status == STATUS_OK)
            status = bytes_put(packing, padding, padded - batch.bytes);
        if (status != STATUS_OK)
            return status;
    }
    status = scan_tail(scan, &torn);
    if (status == STATUS_OK && (torn > 0 || scan->end.lsn + 1 != packing->next_lsn))
        status = wrong(packing, "the next segment does not go on where this one ends");
    return status;
}

static enum status part_write(struct packing *packing)
{
    struct disk *disk = packing->disk;
    uint8_t page[JOURNAL_PAGE];
    enum status status = segment_remove_file(disk, SEGMENT_PACKED_NAME);
    if (status == STATUS_OK)
        status = disk->ops->open(disk, SEGMENT_PACKED_NAME, DISK_CREATE, &packing->file);
    packing->is_open = status == STATUS_OK;
    if (status != STATUS_OK)
        return status;
    segment_packed_header_put(
        page, packing->scan.data_id, packing->bytes, packing->scan.segment.batch_bytes);
    status = bytes_put(packing, page, sizeof page);
    if (status == STATUS_OK)
        status = batches_walk(packing, true);
    if (status == STATUS_OK && packing->written + packing->buffered != packing->bytes)
        status = wrong(packing, "the lengths of its batches have changed");
    if (status == STATUS_OK && packing->buffered > 0)
        status = buffer_write(packing);
    return status;
}

/* ---- reread and replace ---- */

static enum status part_reread(struct packing *packing)
{
    const struct journal_position end = packing->scan.end;
    enum status status = scan_enter_part(&packing->scan, packing->first_lsn);
    if (status == STATUS_OK)
        status = batches_walk(packing, false);
    if (status == STATUS_OK && memcmp(end.hash, packing->scan.end.hash, sizeof end.hash) != 0)
        status = wrong(packing, "the packed file has another hash");
    return status;
}

static enum status replace(struct packing *packing)
{
    struct disk *disk = packing->disk;
    char name[JOURNAL_NAME_MAX];
    disk_file old;
    segment_name(packing->first_lsn, name);
    pthread_mutex_lock(&replacing);
    enum status status = disk->ops->open(disk, name, DISK_READ, &old);
    if (status == STATUS_OK) {
        disk->ops->close(disk, old);
        status = disk->ops->rename(disk, SEGMENT_PACKED_NAME, name);
    }
    pthread_mutex_unlock(&replacing);
    return status == STATUS_OK ? disk->ops->sync_folder(disk) : status;
}

enum status journal_segment_remove(struct disk *disk, uint64_t first_lsn)
{
    char name[JOURNAL_NAME_MAX];
    segment_name(first_lsn, name);
    pthread_mutex_lock(&replacing);
    const enum status status = disk->ops->remove(disk, name);
    pthread_mutex_unlock(&replacing);
    return status == STATUS_OK ? disk->ops->sync_folder(disk) : status;
}

/* ---- one segment ---- */

static enum status segment_pack(struct packing *packing, struct journal_pack *pack, bool *was_packed)
{
    struct disk *disk = packing->disk;
    enum status status = scan_enter(&packing->scan, packing->first_lsn);
    *was_packed = status == STATUS_OK && segment_is_packed(&packing->scan.segment);
    if (status != STATUS_OK)
        return status;
    pack->bytes_before = packing->scan.segment.bytes;
    if (*was_packed)
        return STATUS_OK;
    status = measure(packing);
    if (status != STATUS_OK || packing->bytes == 0)
        return status;
    status = part_write(packing);
    if (packing->is_open)
        disk->ops->close(disk, packing->file);
    if (status == STATUS_OK)
        status = part_reread(packing);
    if (status == STATUS_OK)
        status = replace(packing);
    if (status == STATUS_OK)
        pack->bytes_after = packing->bytes;
    else
        (void)!segment_remove_file(disk, SEGMENT_PACKED_NAME); /* its room is needed by others */
    return status;
}

/* The oldest closed segment after `after`; false: none. */
static bool segment_choose(struct packing *packing, const uint64_t *first_lsns, uint32_t count,
    uint64_t after, uint64_t live_lsn)
{
    for (uint32_t i = 0; i + 1 < count && first_lsns[i] < live_lsn; i++)
        if (first_lsns[i] > after) {
            packing->first_lsn = first_lsns[i];
            packing->next_lsn = first_lsns[i + 1];
            return true;
        }
    return false;
}

static void tell(const struct journal_pack *pack, enum status status)
{
    char name[JOURNAL_NAME_MAX];
    segment_name(pack->first_lsn, name);
    if (status == STATUS_OK && pack->bytes_after > 0)
        log_info("journal", "packed segment=%s bytes=%llu of %llu", name,
            (unsigned long long)pack->bytes_after, (unsigned long long)pack->bytes_before);
    else if (status == STATUS_CORRUPT || status == STATUS_CONFLICT)
        log_error("journal", "segment=%s is not packed: offset=%llu %s", name,
            (unsigned long long)pack->damage.offset, pack->damage.what);
    else if (status != STATUS_OK)
        log_warn("journal", "segment=%s is not packed (%s): it stays as large as it is", name,
            status_name(status));
}

enum status journal_pack_next(
    struct journal_pack *pack, const struct journal_config *config, uint64_t live_lsn)
{
    struct packing packing = { .disk = config->disk };
    uint32_t count = 0;
    enum status status = arena_open(&packing.arena,
        SCAN_ARENA_BYTES + SEGMENTS_MAX * sizeof(uint64_t) + WRITE_BYTES + JOURNAL_PAGE);
    if (status != STATUS_OK)
        return status;
    pack->first_lsn = pack->bytes_before = pack->bytes_after = 0;
    scan_start(&packing.scan, config, &packing.arena, SCAN_READ_BYTES);
    uint64_t *first_lsns = arena_take(&packing.arena, SEGMENTS_MAX, sizeof *first_lsns);
    packing.buffer = arena_take(&packing.arena, 1, WRITE_BYTES);
    status = segment_list(config->disk, first_lsns, SEGMENTS_MAX, &count);
    bool was_packed = true; /* after a start most are, and a look at them takes a moment */
    for (uint32_t i = 0; i < LOOKS_MAX && was_packed && status == STATUS_OK; i++) {
        pack->wanted = segment_choose(&packing, first_lsns, count, pack->after, live_lsn);
        if (!pack->wanted)
            break;
        pack->first_lsn = packing.first_lsn;
        status = segment_pack(&packing, pack, &was_packed);
        if (status == STATUS_NOT_FOUND)
            status = STATUS_OK; /* it was removed meanwhile */
        pack->damage = packing.scan.damage;
        if (status == STATUS_FULL)
            pack->wanted = false;
        else
            pack->after = packing.first_lsn;
        tell(pack, status);
    }
    scan_stop(&packing.scan);
    arena_close(&packing.arena);
    return status;
}
