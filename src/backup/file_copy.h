/* SPDX-License-Identifier: Apache-2.0 */
/* backup/file_copy.h: copies a file as it is, synced in parts, and leaves the disk to others in between.
 * Thread: any. Errors: those of the disk; STATUS_CONFLICT: it is there already. */
#ifndef STAMPEDE_BACKUP_FILE_COPY_H
#define STAMPEDE_BACKUP_FILE_COPY_H

#include "base/disk.h"

MUST_CHECK enum status file_copy(struct disk *from, struct disk *to, const char *name);
/* So long as it has taken, a pause: at most half of the disk's time is ours. Fits the callbacks `pace`;
 * `context` is a struct file_pace. */
struct file_pace {
    uint64_t last_ns; /* 0: not begun */
    uint64_t bytes;   /* so far */
};
void file_pace_wait(void *context, uint64_t bytes);

#endif
