/* wiring/verify_snapshots.c: every snapshot in the folder against the replayed state at its
 * position (I15). Loading one particular snapshot goes through a disk that shows only that file. */
#include "inventory/snapshot.h"
#include "wiring/verify_parts.h"

#include <inttypes.h>
#include <stdio.h>

struct one_file_disk {
    struct disk disk;
    struct disk *real;
    const char *name;
};

static struct one_file_disk *one_of(struct disk *disk)
{
    return (struct one_file_disk *)disk;
}

static enum status one_open(struct disk *disk, const char *name, enum disk_mode mode, disk_file *file)
{
    return one_of(disk)->real->ops->open(one_of(disk)->real, name, mode, file);
}

static void one_close(struct disk *disk, disk_file file)
{
    one_of(disk)->real->ops->close(one_of(disk)->real, file);
}

static enum status one_read(
    struct disk *disk, disk_file file, uint64_t offset, void *data, size_t bytes, size_t *got)
{
    return one_of(disk)->real->ops->read(one_of(disk)->real, file, offset, data, bytes, got);
}

static enum status one_list(struct disk *disk, const char *prefix,
    void (*each)(void *context, const char *name), void *context)
{
    if (span_starts_with(span_from_string(one_of(disk)->name), span_from_string(prefix)))
        each(context, one_of(disk)->name);
    return STATUS_OK;
}

static const struct disk_ops one_file_ops = {
    .open = one_open,
    .close = one_close,
    .read = one_read,
    .list = one_list,
};

static void snapshot_found(void *context, const char *name)
{
    struct verify *verify = context;
    const struct span prefix = SPAN("snapshot-");
    uint64_t lsn;
    if (strlen(name) != prefix.size + 16 || span_to_hex64(span_of(name + prefix.size, 16), &lsn) != STATUS_OK
        || verify->snapshot_count == VERIFY_SNAPSHOTS_MAX)
        return;
    uint32_t at = verify->snapshot_count++;
    for (; at > 0 && verify->snapshots[at - 1].lsn > lsn; at--)
        verify->snapshots[at] = verify->snapshots[at - 1];
    verify->snapshots[at].lsn = lsn;
    snprintf(verify->snapshots[at].name, sizeof verify->snapshots[at].name, "%s", name);
}

enum status verify_snapshots_list(struct verify *verify)
{
    struct disk *disk = verify->folder.journal;
    return disk->ops->list(disk, "snapshot-", snapshot_found, verify);
}

enum status verify_snapshot_load(const struct verify *verify,
    const struct verify_snapshot *snapshot, struct engine *engine, struct journal_position *position)
{
    struct one_file_disk one = { { &one_file_ops }, verify->folder.journal, snapshot->name };
    enum status status = engine_open(engine, &verify->config);
    if (status != STATUS_OK)
        return status;
    status = snapshot_load_latest(&one.disk, engine, &verify->config, verify->folder.data_id, position);
    if (status == STATUS_OK && position->lsn == 0)
        status = STATUS_CORRUPT; /* a damaged one is passed over */
    return status;
}

static bool item_differs(const struct engine_item *a, const struct engine_item *b)
{
    return memcmp(a, b, sizeof *a) != 0;
}

/* The digests differ: in what? */
static void difference_tell(
    struct verify *verify, const struct verify_snapshot *snapshot, const struct engine *other)
{
    const struct engine *engine = &verify->engine;
    for (item_id id = 1; id < verify->config.items_max; id++) {
        if (!item_differs(&engine->items[id], &other->items[id]))
            continue;
        const struct engine_item *here = &engine->items[id], *there = &other->items[id];
        verify_fail(verify, CHECK_SNAPSHOTS,
            "%s: item %u differs from the replay "
            "(given %u/%u, held %u/%u, sold %u/%u, safety %u/%u)",
            snapshot->name, id, there->given, here->given, there->held, here->held, there->sold,
            here->sold, there->safety, here->safety);
        return;
    }
    verify_fail(verify, CHECK_SNAPSHOTS,
        "%s differs from the replay: %" PRIu64 " tickets and %" PRIu64
        " buyers, replay has %" PRIu64 " and %" PRIu64,
        snapshot->name, other->tickets.count, other->buyers.count, engine->tickets.count,
        engine->buyers.count);
}

static void loaded_compare(struct verify *verify, const struct verify_snapshot *snapshot,
    const struct engine *other, const struct journal_position *position)
{
    struct journal_recovery recovery;
    if (position->lsn != snapshot->lsn) {
        verify_fail(verify, CHECK_SNAPSHOTS, "%s says it was taken at position %" PRIu64,
            snapshot->name, position->lsn);
        return;
    }
    if (engine_digest(other) != engine_digest(&verify->engine)) {
        difference_tell(verify, snapshot, other);
        return;
    }
    /* That the batch it was taken after is the one in this log: walks one segment. */
    if (snapshot->lsn > verify->start
        && journal_scan_until(&verify->journal, position, snapshot->lsn, NULL, NULL, &recovery) != STATUS_OK)
        verify_fail(verify, CHECK_SNAPSHOTS, "%s: %s", snapshot->name, recovery.damage.what);
}

void verify_snapshot_compare(struct verify *verify, const struct verify_snapshot *snapshot)
{
    struct engine other = { 0 };
    struct journal_position position = { 0 };
    const enum status status = verify_snapshot_load(verify, snapshot, &other, &position);
    if (status == STATUS_NOT_FOUND && verify->running) {
        engine_close(&other); /* the server has put a newer one in its place */
        return;
    }
    verify->checks[CHECK_SNAPSHOTS].looked++;
    if (status == STATUS_OK)
        loaded_compare(verify, snapshot, &other, &position);
    else if (status == STATUS_CONFLICT)
        verify_fail(verify, CHECK_SNAPSHOTS, "%s belongs to another data folder", snapshot->name);
    else
        verify_fail(verify, CHECK_SNAPSHOTS, "%s: %s", snapshot->name,
            status == STATUS_CORRUPT ? "is damaged" : status_name(status));
    engine_close(&other);
}
