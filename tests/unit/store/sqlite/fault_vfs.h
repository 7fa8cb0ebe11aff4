/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/store/sqlite/fault_vfs.h: SQLite's disk, with the k-th write, sync or truncation failing. */
#ifndef STAMPEDE_TESTS_FAULT_VFS_H
#define STAMPEDE_TESTS_FAULT_VFS_H

#include <stdbool.h>
#include <stdint.h>

#define FAULT_VFS_NAME "stampede-fault"

struct fault_plan {
    uint32_t fail_at;                   /* 1: the next call; 0: none */
    bool stays;                         /* all later ones fail too */
    int result;                         /* SQLITE_FULL, SQLITE_IOERR_WRITE, … */
    bool half_written;                  /* a failing write still writes its first half */
    uint32_t calls;                     /* writes, syncs and truncations so far */
    uint32_t deletes, deletes_unsynced; /* files removed; of these without syncing the folder */
};
extern struct fault_plan fault_plan;
void fault_vfs_register(void);

#endif
