/* SPDX-License-Identifier: Apache-2.0 */
/* base/disk.h: the one door to the disk for everything that must survive a crash (journal,
 * snapshots, keys). Tests put a disk behind it that loses what was not synced. Paths are relative
 * to the disk's root folder.
 * Errors: every call answers a status; on STATUS_IO errno tells.
 * STATUS_FULL for ENOSPC/EDQUOT, STATUS_NOT_FOUND, STATUS_CONFLICT (DISK_CREATE of what exists),
 * STATUS_BAD_INPUT for a name that is empty, has a '/' or is DISK_NAME_MAX or longer. sync answers
 * STATUS_IO for every fault: none of them may be tried again.
 * Thread: any; a file is used by one thread at a time unless said otherwise. */
#ifndef STAMPEDE_BASE_DISK_H
#define STAMPEDE_BASE_DISK_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DISK_NAME_MAX = 64,
    DISK_FILES_MAX = (1 << 18) + 8192, /* of a data folder: segments, snapshots, pictures */
};
enum disk_mode { DISK_READ, DISK_WRITE /* must exist */, DISK_CREATE /* must not exist */ };

typedef int disk_file; /* >= 0 */

struct disk {
    const struct disk_ops *ops;
};
struct disk_ops {
    enum status (*open)(struct disk *, const char *name, enum disk_mode, disk_file *);
    void (*close)(struct disk *, disk_file);
    /* Reads exactly up to the end of the file: *got < bytes only there. */
    enum status (*read)(struct disk *, disk_file, uint64_t offset, void *data, size_t bytes, size_t *got);
    /* All or a fault. */
    enum status (*write)(struct disk *, disk_file, uint64_t offset, const void *data, size_t bytes);
    /* Data and what is needed to read it (fdatasync). */
    enum status (*sync)(struct disk *, disk_file);
    enum status (*size)(struct disk *, disk_file, uint64_t *bytes);
    enum status (*truncate)(struct disk *, disk_file, uint64_t bytes);
    /* Atomic, replaces; not durable before sync_folder. */
    enum status (*rename)(struct disk *, const char *from, const char *to);
    enum status (*remove)(struct disk *, const char *name);
    enum status (*sync_folder)(struct disk *);
    /* Calls `each` with every name in the root folder that starts with `prefix`, in any order. */
    enum status (*list)(struct disk *, const char *prefix,
        void (*each)(void *context, const char *name), void *context);
};

/* A real folder, made (0700, with its parent synced) if it is missing. disk_folder_close frees. */
MUST_CHECK enum status disk_folder_open(const char *path, struct disk **disk);
void disk_folder_close(struct disk *disk);
/* A whole file, old or new after a power cut: written under `temporary`, synced, renamed, synced. */
MUST_CHECK enum status disk_replace(
    struct disk *disk, const char *temporary, const char *name, const void *data, size_t bytes);
/* Keeps other processes out of the folder while open: STATUS_BUSY if one holds it. */
MUST_CHECK enum status disk_folder_lock(struct disk *disk, const char *name);

bool disk_folder_is_free(const char *path); /* it is empty, or not there */

/* What a program may still write there. False: it can't be told; errno says why. */
bool disk_room(const char *folder, uint64_t *bytes);

#endif
