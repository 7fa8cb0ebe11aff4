/* SPDX-License-Identifier: Apache-2.0 */
/* journal/recover.c: from a folder after a crash to a journal that can be written, or a refusal
 * that says where.
 *
 * DESIGN One write is in flight at a time, and a roll waits for the batch before it. So a crash
 * leaves, in the last segment only, at most one batch that is not whole. From that:
 *   - every segment but the last ends in zeros after its last batch, and the next one is named
 *     after the next LSN;
 *   - the last one may end in the remains of one torn batch: they are overwritten with zeros and synced;
 *   - everything else is damage: STATUS_CORRUPT, and nothing is written.
 * A damaged last batch can't be told from a torn one: it is cut. The order store's position
 * (the server compares it with the end of the log) still shows it if the batch had been delivered.
 *
 * What was read may be in the page cache only: after kill -9, or after a sync that failed (the
 * kernel may then call pages clean that never reached the disk). So before anything is built on
 * it, the last batch is written again as it stands and the space of one batch after it is
 * zeroed, then file and folder are synced. Writing the same bytes can't tear: old and new are
 * equal. A packed segment (it can be the last one of a copy up to a point) was synced before it got
 * its name, has no room after its last batch, and is not written to. */
#include "journal/recover.h"

#include "base/log.h"
#include "journal/format.h"
#include "journal/scan.h"

struct walk {
    struct scan scan;
    struct arena arena;
    uint64_t *first_lsns;
    uint32_t segments;
    const struct journal_position *from;
    uint64_t give_after; /* records up to here are not given */
    uint64_t until;      /* the walk ends with the batch that ends here; UINT64_MAX: with the log */
    bool position_verified; /* the batch that ends at `from` was seen and is the one */
    journal_each each;
    void *context;
    struct journal_recovery *recovery;
    uint64_t last_offset; /* of the last batch in the last segment; 0: it has none */
    uint32_t last_bytes;
};

void recover_check_config(const struct journal_config *config)
{
    invariant(config->disk != NULL);
    invariant(config->segment_bytes % JOURNAL_PAGE == 0 && config->segment_bytes >= 2 * JOURNAL_PAGE);
    invariant(config->batch_bytes % JOURNAL_PAGE == 0 && config->batch_bytes > 0);
    invariant(config->batch_bytes <= config->segment_bytes - JOURNAL_PAGE);
    invariant(config->batch_bytes <= JOURNAL_BATCH_LIMIT);
}

static enum status walk_open(struct walk *walk, const struct journal_config *config)
{
    const size_t list_bytes = SEGMENTS_MAX * sizeof *walk->first_lsns;
    enum status status = arena_open(&walk->arena, SCAN_ARENA_BYTES + list_bytes);
    if (status != STATUS_OK)
        return status;
    scan_start(&walk->scan, config, &walk->arena, SCAN_READ_BYTES);
    walk->first_lsns = arena_take(&walk->arena, SEGMENTS_MAX, sizeof *walk->first_lsns);
    return segment_list(config->disk, walk->first_lsns, SEGMENTS_MAX, &walk->segments);
}

static void walk_close(struct walk *walk)
{
    scan_stop(&walk->scan);
    arena_close(&walk->arena);
}

static enum status give(struct walk *walk, const struct batch *batch)
{
    uint32_t cursor = BATCH_HEADER_BYTES;
    walk->recovery->batches++;
    walk->recovery->bytes += format_aligned(batch->bytes, walk->scan.segment.align);
    for (uint32_t i = 0; i < batch->records; i++) {
        struct journal_record record;
        batch_take(batch, &cursor, &record);
        record.lsn = batch->first_lsn + i;
        walk->recovery->records++;
        enum status status =
            walk->each == NULL ? STATUS_OK : walk->each(walk->context, &record, batch->time_ms);
        if (status != STATUS_OK)
            return damage_set(&walk->scan.damage, status, walk->scan.segment.first_lsn, batch->offset,
                "record %llu was refused by its reader", (unsigned long long)record.lsn);
    }
    return STATUS_OK;
}

/* A snapshot is worth something only if this log is the one that it was taken of. */
static enum status verify_position(struct walk *walk, const struct batch *batch)
{
    const uint64_t lsn = walk->give_after;
    if (walk->position_verified || batch->last_lsn < lsn)
        return STATUS_OK;
    if (batch->last_lsn != lsn)
        return damage_set(&walk->scan.damage, STATUS_CORRUPT, walk->scan.segment.first_lsn,
            batch->offset, "no batch ends at the snapshot's LSN %llu", (unsigned long long)lsn);
    if (memcmp(walk->scan.end.hash, walk->from->hash, HASH_SHA256_BYTES) != 0)
        return damage_set(&walk->scan.damage, STATUS_CORRUPT, walk->scan.segment.first_lsn,
            batch->offset, "the batch that ends at LSN %llu is not the one the snapshot was taken after",
            (unsigned long long)lsn);
    walk->position_verified = true;
    return STATUS_OK;
}

static enum status walk_segment(struct walk *walk, uint64_t first_lsn, bool is_last)
{
    struct batch batch;
    enum status status = scan_enter(&walk->scan, first_lsn);
    if (status != STATUS_OK)
        return status;
    walk->last_offset = 0;
    while (walk->scan.end.lsn < walk->until) {
        enum scan_found found = scan_next(&walk->scan, &batch, &status);
        if (found == SCAN_FAULT)
            return status;
        if (found != SCAN_BATCH) {
            struct journal_damage broken = walk->scan.damage;
            status = scan_tail(&walk->scan, &walk->recovery->torn_bytes);
            if (status != STATUS_OK || is_last || walk->recovery->torn_bytes == 0)
                return status;
            walk->scan.damage = broken;
            return damage_set(&walk->scan.damage, STATUS_CORRUPT, first_lsn, walk->scan.offset,
                "bad batch, but a later segment exists: not a torn end");
        }
        walk->last_offset = batch.offset;
        walk->last_bytes = batch.bytes;
        status = verify_position(walk, &batch);
        if (status == STATUS_OK && batch.first_lsn > walk->give_after)
            status = give(walk, &batch);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* The segment to start in: the one that holds `from`, or the oldest. */
static enum status walk_first(struct walk *walk, uint32_t *first)
{
    const struct journal_position *from = walk->from;
    struct journal_damage *damage = &walk->scan.damage;
    *first = 0;
    walk->position_verified = from == NULL || from->lsn == 0;
    walk->give_after = from == NULL ? 0 : from->lsn;
    /* The hash before the first batch of all is known: zeros. */
    walk->scan.hash_known = walk->segments > 0 && walk->first_lsns[0] == 1;
    if (from == NULL)
        return STATUS_OK;
    if (from->lsn == 0)
        return walk->segments == 0 || walk->first_lsns[0] == 1
            ? STATUS_OK
            : damage_set(
                damage, STATUS_CORRUPT, 1, 0, "segment is missing: the log starts at a later one");
    if (walk->segments > 0 && walk->first_lsns[0] == from->lsn + 1) {
        /* The log goes on after the snapshot: its first batch must say so. */
        walk->scan.end = *from;
        walk->scan.hash_known = walk->position_verified = true;
        return STATUS_OK;
    }
    if (walk->segments == 0 || walk->first_lsns[0] > from->lsn)
        return damage_set(damage, STATUS_CORRUPT, from->lsn, 0,
            "no segment holds the snapshot's LSN %llu", (unsigned long long)from->lsn);
    while (*first + 1 < walk->segments && walk->first_lsns[*first + 1] <= from->lsn)
        ++*first;
    walk->scan.hash_known = walk->first_lsns[*first] == 1;
    return STATUS_OK;
}

static enum status walk_all(struct walk *walk)
{
    uint32_t first;
    enum status status = walk_first(walk, &first);
    if (status != STATUS_OK || walk->segments == 0)
        return status;
    walk->scan.end.lsn = walk->first_lsns[first] - 1;
    for (uint32_t i = first; i < walk->segments && walk->scan.end.lsn < walk->until; i++) {
        uint64_t expected = walk->scan.end.lsn + 1;
        if (walk->first_lsns[i] > expected)
            return damage_set(&walk->scan.damage, STATUS_CORRUPT, expected, 0,
                "segment is missing: the next one starts at LSN %llu",
                (unsigned long long)walk->first_lsns[i]);
        if (walk->first_lsns[i] < expected)
            return damage_set(&walk->scan.damage, STATUS_CORRUPT, walk->first_lsns[i], 0,
                "segment starts before the one before it ends (LSN %llu)",
                (unsigned long long)walk->scan.end.lsn);
        status = walk_segment(walk, walk->first_lsns[i], i + 1 == walk->segments);
        if (status != STATUS_OK)
            return status;
    }
    if (!walk->position_verified)
        return damage_set(&walk->scan.damage, STATUS_CORRUPT, walk->scan.segment.first_lsn,
            walk->scan.offset, "the log ends at LSN %llu, the snapshot was taken at %llu",
            (unsigned long long)walk->scan.end.lsn, (unsigned long long)walk->give_after);
    if (walk->until != UINT64_MAX && walk->scan.end.lsn != walk->until)
        return damage_set(&walk->scan.damage, STATUS_CORRUPT, walk->scan.segment.first_lsn,
            walk->scan.offset, "no batch ends at LSN %llu", (unsigned long long)walk->until);
    return STATUS_OK;
}

static enum status walk_run(struct walk *walk, const struct journal_config *config,
    const struct journal_position *from, uint64_t until, journal_each each, void *context,
    struct journal_recovery *recovery)
{
    recover_check_config(config);
    *recovery = (struct journal_recovery){ 0 };
    *walk = (struct walk){
        .from = from, .until = until, .each = each, .context = context, .recovery = recovery
    };
    enum status status = walk_open(walk, config);
    if (status == STATUS_OK)
        status = walk_all(walk);
    recovery->end = walk->scan.end;
    if (status != STATUS_OK)
        recovery->damage = walk->scan.damage;
    return status;
}

enum status journal_scan(const struct journal_config *config, const struct journal_position *from,
    journal_each each, void *context, struct journal_recovery *recovery)
{
    return journal_scan_until(config, from, UINT64_MAX, each, context, recovery);
}

enum status journal_scan_until(const struct journal_config *config, const struct journal_position *from,
    uint64_t until, journal_each each, void *context, struct journal_recovery *recovery)
{
    struct walk walk;
    enum status status = walk_run(&walk, config, from, until, each, context, recovery);
    walk_close(&walk);
    return status;
}

/* See DESIGN: the last batch as it stands, then zeros as far as a torn one can reach. */
static enum status settle_tail(struct walk *walk, const struct segment *present)
{
    struct disk *disk = walk->scan.disk;
    enum status status = STATUS_OK;
    uint64_t torn = walk->recovery->torn_bytes;
    uint64_t reach = present->bytes - walk->scan.offset;
    if (walk->last_offset != 0 && !segment_is_packed(present)) {
        uint64_t bytes = format_pages(walk->last_bytes);
        const uint8_t *batch = scan_bytes(&walk->scan, walk->last_offset, bytes, &status);
        if (batch == NULL)
            return status;
        status = disk->ops->write(disk, present->file, walk->last_offset, batch, bytes);
        if (status != STATUS_OK)
            return status;
    }
    if (reach > present->batch_bytes)
        reach = present->batch_bytes;
    invariant(torn <= reach);
    status = segment_write_zeros(disk, present->file, walk->scan.offset, walk->scan.offset + reach);
    if (status != STATUS_OK)
        return status;
    if (torn > 0)
        log_warn("journal",
            "cut a torn batch after lsn=%llu: %llu bytes at offset=%llu of segment=%016llx",
            (unsigned long long)walk->scan.end.lsn, (unsigned long long)torn,
            (unsigned long long)walk->scan.offset, (unsigned long long)present->first_lsn);
    status = disk->ops->sync(disk, present->file);
    return status == STATUS_OK ? disk->ops->sync_folder(disk) : status;
}

static enum status first_segment(const struct journal_config *config, struct recovered *recovered)
{
    enum status status = STATUS_OK;
    if (!recovered->spare.is_open)
        status = segment_make_spare(config, &recovered->spare);
    if (status == STATUS_OK)
        status = segment_place(config->disk, &recovered->spare, 1);
    if (status != STATUS_OK)
        return status;
    recovered->present = recovered->spare;
    recovered->spare = (struct segment){ 0 };
    recovered->offset = JOURNAL_PAGE;
    recovered->segments = 1;
    return STATUS_OK;
}

enum status journal_begin(const struct journal_config *config, uint64_t first_lsn)
{
    uint64_t first[2];
    uint32_t count = 0;
    struct segment spare = { 0 };
    recover_check_config(config);
    enum status status = segment_list(config->disk, first, 2, &count);
    if (status != STATUS_OK || count > 0)
        return status == STATUS_OK && first[0] != first_lsn ? STATUS_CONFLICT : status;
    status = segment_make_spare(config, &spare);
    if (status == STATUS_OK)
        status = segment_place(config->disk, &spare, first_lsn);
    segment_close(config->disk, &spare);
    return status;
}

enum status recover_journal(const struct journal_config *config, const struct journal_position *from,
    journal_each each, void *context, struct journal_recovery *recovery, struct recovered *recovered)
{
    struct walk walk;
    struct disk *disk = config->disk;
    *recovered = (struct recovered){ 0 };
    enum status status = walk_run(&walk, config, from, UINT64_MAX, each, context, recovery);
    if (status != STATUS_OK)
        goto done;
    recovered->segments = walk.segments;
    recovered->offset = walk.scan.offset;
    if (walk.segments > 0) {
        status = segment_open(disk, config->data_id, walk.scan.segment.first_lsn, DISK_WRITE,
            &recovered->present, &recovery->damage);
        if (status == STATUS_OK)
            status = settle_tail(&walk, &recovered->present);
        if (status != STATUS_OK)
            goto done;
    }
    status = segment_remove_file(disk, SEGMENT_PACKED_NAME); /* a crash may have left it */
    if (status != STATUS_OK)
        goto done;
    status = segment_find_spare(
        config, walk.scan.buffer, SCAN_READ_BYTES, &recovered->spare, &recovery->damage);
    if (status == STATUS_NOT_FOUND)
        status = STATUS_OK;
    if (status == STATUS_OK && walk.segments == 0)
        status = first_segment(config, recovered);
done:
    walk_close(&walk);
    if (status != STATUS_OK) {
        segment_close(disk, &recovered->present);
        segment_close(disk, &recovered->spare);
    }
    return status;
}
