/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/snapshot.h: the engine's state in a file, to bound replay.
 *
 * File `snapshot-<lsn, 16 hex>` beside the segments: a header (magic, version, data id, journal
 * position, counts), the defined sales, the preheated items, all tickets, all buyer rows, rooms, places,
 * the keys of admin commands, and a CRC32C over everything before it. Numbers are little-endian.
 * Written to `snapshot.tmp`, synced, renamed, folder synced: there is a whole one or none.
 *
 * Thread: whoever owns the engine that is passed. Errors: writing answers what the disk said;
 * loading judges the checksum before anything else. It skips a snapshot that is damaged, can't be read
 * or was written by another version, in favour of an older one (the segments are still there), and says
 * so in the log. */
#ifndef STAMPEDE_INVENTORY_SNAPSHOT_H
#define STAMPEDE_INVENTORY_SNAPSHOT_H

#include "inventory/engine.h"
#include "journal/journal.h"

enum { SNAPSHOT_VERSION = 4, SNAPSHOTS_KEPT = 2 };

MUST_CHECK enum status snapshot_write(struct disk *disk, const struct engine *engine,
    uint64_t data_id, const struct journal_position *position);
/* The one at this position, into a fresh engine. STATUS_CORRUPT: damaged. STATUS_BAD_INPUT: whole, but
 * of another version. The rest as below. */
MUST_CHECK enum status snapshot_load(struct disk *disk, struct engine *engine, uint64_t lsn,
    uint64_t data_id, struct journal_position *position);
/* The engine must be fresh. Without a snapshot that can be used: STATUS_OK and position->lsn 0.
 * STATUS_FULL: the engine is configured too small for what is in a whole file. STATUS_CONFLICT: it
 * belongs to other data. */
MUST_CHECK enum status snapshot_load_latest(struct disk *disk, struct engine *engine,
    const struct engine_config *config, uint64_t data_id, struct journal_position *position);

#endif
