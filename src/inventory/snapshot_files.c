/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/snapshot_files.c: a snapshot is named after its position in the log. */
#include "inventory/snapshot_files.h"

#include "base/span.h"
#include "inventory/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    ROWS_PER_RECORD = 4,
    BUSY_RECORDS = 4 * 1024 * 1024, /* a start replays them in two seconds */
    BUSY_RECORDS_PER_ROW = 4,
};

bool snapshot_is_due(uint64_t records, uint64_t rows, bool busy)
{
    if (busy)
        return records >= BUSY_RECORDS && records / BUSY_RECORDS_PER_ROW >= rows;
    return records > 0 && records >= rows / ROWS_PER_RECORD;
}

void snapshot_name(char name[DISK_NAME_MAX], uint64_t lsn)
{
    snprintf(name, DISK_NAME_MAX, "snapshot-%016" PRIx64, lsn);
}

static void list_add(void *context, const char *name)
{
    struct snapshot_list *list = context;
    uint64_t lsn;
    if (strlen(name) != 25 || span_to_hex64(span_of(name + 9, 16), &lsn) != STATUS_OK)
        return;
    if (list->count == SNAPSHOTS_LISTED_MAX && list->lsns[SNAPSHOTS_LISTED_MAX - 1] > lsn)
        return;
    uint32_t at = list->count < SNAPSHOTS_LISTED_MAX ? list->count++ : SNAPSHOTS_LISTED_MAX - 1;
    for (; at > 0 && list->lsns[at - 1] < lsn; at--)
        list->lsns[at] = list->lsns[at - 1];
    list->lsns[at] = lsn;
}

enum status snapshots_list(struct disk *disk, struct snapshot_list *list)
{
    *list = (struct snapshot_list){ 0 };
    return disk->ops->list(disk, "snapshot-", list_add, list);
}

enum status snapshots_remove_old(struct disk *disk)
{
    struct snapshot_list list;
    enum status status = snapshots_list(disk, &list);
    for (uint32_t i = SNAPSHOTS_KEPT; i < list.count && status == STATUS_OK; i++) {
        char name[DISK_NAME_MAX];
        snapshot_name(name, list.lsns[i]);
        status = disk->ops->remove(disk, name);
    }
    return status;
}
