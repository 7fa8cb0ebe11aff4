/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/copy.c: the backup of a database that is in use.
 *
 * A read transaction of this connection holds one moment of the write-ahead log, so the copy does not begin
 * again when somebody writes (which SQLite's backup does without one), and takes parts of it with pauses in
 * between. The writer goes on; it only can't fold its log back beyond that moment until the copy is
 * made. */
#include "store/sqlite/connection.h"
#include "store/sqlite/sqlite.h"

#include <stdio.h>

enum { PART_PAGES = 256, PAGE_BYTES = 4096 };

static int part_sync(sqlite3 *copy)
{
    sqlite3_file *file = NULL;
    const int result = sqlite3_file_control(copy, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    return result != SQLITE_OK || file->pMethods == NULL
        ? result
        : file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
}

static int parts_copy(sqlite3 *from, sqlite3 *to, void (*pace)(void *context, uint64_t bytes), void *context)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (backup == NULL)
        return sqlite3_errcode(to);
    int result = SQLITE_OK, synced = SQLITE_OK;
    while (result == SQLITE_OK && synced == SQLITE_OK) {
        result = sqlite3_backup_step(backup, PART_PAGES);
        if (result == SQLITE_OK) {
            synced = part_sync(to);
            if (pace != NULL)
                pace(context, (uint64_t)PART_PAGES * PAGE_BYTES);
        }
    }
    result = sqlite3_backup_finish(backup); /* repeats the step's error */
    return synced != SQLITE_OK ? synced : result;
}

enum status sqlite_store_copy(const char *path, const char *to,
    void (*pace)(void *context, uint64_t bytes), void *context, char *error, size_t error_bytes)
{
    sqlite3 *source = NULL, *copy = NULL;
    sqlite_library_start();
    int result = sqlite3_open_v2(path, &source, SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(source,
            "PRAGMA wal_autocheckpoint = 0; PRAGMA query_only = ON; BEGIN;"
            " SELECT count(*) FROM sqlite_master",
            NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_open_v2(
            to, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXRESCODE, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_exec(copy, "PRAGMA synchronous = FULL", NULL, NULL, NULL);
    if (result == SQLITE_OK)
        result = parts_copy(source, copy, pace, context);
    if (result != SQLITE_OK)
        snprintf(error, error_bytes, "the database %.100s can't be copied: %s", path,
            sqlite3_errmsg(copy != NULL && sqlite3_errcode(copy) != SQLITE_OK ? copy : source));
    (void)sqlite3_close(copy);
    (void)sqlite3_close(source);
    return sqlite_status(result);
}
