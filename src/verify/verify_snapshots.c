/* SPDX-License-Identifier: Apache-2.0 */
/* verify/verify_snapshots.c: every snapshot in the folder against the replayed state at its
 * position (I15). */
#include "inventory/snapshot.h"
#include "verify/verify_parts.h"

#include <inttypes.h>
#include <stdio.h>

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
    const enum status status = engine_open(engine, &verify->config);
    return status != STATUS_OK ? status
                               : snapshot_load(verify->folder.journal, engine, snapshot->lsn,
                                   verify->folder.data_id, position);
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
        snapshot->name, tickets_used(&other->tickets), other->buyers.rows_end,
        tickets_used(&engine->tickets), engine->buyers.rows_end);
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
    /* The server has put a newer one in its place; or another version wrote it, and it is not used. */
    if ((status == STATUS_NOT_FOUND && verify->running) || status == STATUS_BAD_INPUT) {
        engine_close(&other);
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
