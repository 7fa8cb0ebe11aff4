/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/snapshot_files.h: which snapshots there are on the disk, by their names. */
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
/* All but the newest SNAPSHOTS_KEPT. */
MUST_CHECK enum status snapshots_remove_old(struct disk *disk);

#endif
