/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/mirrored_files.h: the database's files tell a mirror (contract/mirror.h) of their changes. A
 * sync of the write-ahead log, which ends a commit, waits until the mirror has it; if the mirror is away it
 * fails, and with it the commit (STATUS_UNKNOWN).
 * Thread: mirrored_files_start once, before the store is opened with the VFS that it answers; the files as
 * SQLite says. */
#ifndef STAMPEDE_STORE_SQLITE_MIRRORED_FILES_H
#define STAMPEDE_STORE_SQLITE_MIRRORED_FILES_H

#include "contract/mirror.h"

/* Answers the name of the VFS; NULL: it can't be registered. The mirror lives as long as the process uses
 * it. */
const char *mirrored_files_start(struct mirror *mirror);

#endif
