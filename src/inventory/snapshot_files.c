/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/snapshot_files.c: a snapshot is named after its position in the log. */
#include "inventory/snapshot_files.h"

#include "base/span.h"
#include "inventory/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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
