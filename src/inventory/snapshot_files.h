/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/snapshot_files.h: which snapshots there are on the disk, by their names, and when one is due. */
#ifndef STAMPEDE_INVENTORY_SNAPSHOT_FILES_H
#define STAMPEDE_INVENTORY_SNAPSHOT_FILES_H

#include "base/disk.h"

enum { SNAPSHOTS_LISTED_MAX = 16 };

/* The newest LSNs for which there is a file, newest first. */
struct snapshot_list {
    uint64_t lsns[SNAPSHOTS_LISTED_MAX];
    uint32_t count;
};

void snapshot_name(char name[DISK_NAME_MAX], uint64_t lsn);
MUST_CHECK enum status snapshots_list(struct disk *disk, struct snapshot_list *list);
/* Whether one is due when the log has grown by so many records since the last one, which has so many rows.
 * A snapshot holds the whole state. One after each segment would cost ever more as a folder sells more. So it
 * is made when the log has grown by one record for every few rows: each record then costs the same, and a
 * start replays no more than that. It takes time of those that sell, so while many purchases come (`busy`) it
 * waits, until a start would replay for seconds. */
bool snapshot_is_due(uint64_t records, uint64_t rows, bool busy);
/* All but the newest SNAPSHOTS_KEPT. */
MUST_CHECK enum status snapshots_remove_old(struct disk *disk);

#endif
