/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/mirrored_files.c: a VFS around SQLite's own. Only writes, truncations, syncs and removals are
 * of interest; the rest is handed on. Temporary files belong to a process and are not mirrored. */
#include "store/sqlite/mirrored_files.h"

#include <assert.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

static const char vfs_name[] = "stampede-mirrored";
static struct mirror *told; /* who is told */
static sqlite3_vfs *inner;

struct mirrored_file {
    sqlite3_file file;
    const char *name;   /* within its folder, as long as the file is open; NULL: not ours */
    bool commits;       /* the write-ahead log: what is synced is told */
    uint64_t aligned[]; /* the inner file */
};
static_assert(offsetof(struct mirrored_file, aligned) % 8 == 0, "the inner file is aligned");

static struct mirrored_file *self_of(sqlite3_file *file)
{
    return (struct mirrored_file *)file;
}

static sqlite3_file *inner_of(sqlite3_file *file)
{
    return (sqlite3_file *)self_of(file)->aligned;
}

static uint64_t note(struct mirror_change change)
{
    change.part = MIRROR_ROOT;
    return told->ops->note(told, &change);
}

static int file_close(sqlite3_file *file)
{
    return inner_of(file)->pMethods->xClose(inner_of(file));
}

static int file_read(sqlite3_file *file, void *data, int bytes, sqlite3_int64 offset)
{
    return inner_of(file)->pMethods->xRead(inner_of(file), data, bytes, offset);
}

static int file_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
    const char *name = self_of(file)->name;
    if (name == NULL)
        return inner_of(file)->pMethods->xWrite(inner_of(file), data, bytes, offset);
    told->ops->enter(told, MIRROR_ROOT);
    const int result = inner_of(file)->pMethods->xWrite(inner_of(file), data, bytes, offset);
    if (result == SQLITE_OK && bytes > 0)
        note((struct mirror_change){ .kind = MIRROR_WRITE,
            .name = name,
            .offset = (uint64_t)offset,
            .data = data,
            .bytes = (uint32_t)bytes });
    told->ops->leave(told, MIRROR_ROOT);
    return result;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 bytes)
{
    const char *name = self_of(file)->name;
    if (name == NULL)
        return inner_of(file)->pMethods->xTruncate(inner_of(file), bytes);
    told->ops->enter(told, MIRROR_ROOT);
    const int result = inner_of(file)->pMethods->xTruncate(inner_of(file), bytes);
    if (result == SQLITE_OK)
        note((struct mirror_change){ .kind = MIRROR_TRUNCATE, .name = name, .offset = (uint64_t)bytes });
    told->ops->leave(told, MIRROR_ROOT);
    return result;
}

static int file_sync(sqlite3_file *file, int flags)
{
    const struct mirrored_file *self = self_of(file);
    const uint64_t position = self->name == NULL
        ? 0
        : note((struct mirror_change){ .kind = MIRROR_SYNC, .name = self->name });
    const int result = inner_of(file)->pMethods->xSync(inner_of(file), flags);
    if (result != SQLITE_OK || !self->commits)
        return result;
    return told->ops->wait(told, position, false) == STATUS_OK ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *bytes)
{
    return inner_of(file)->pMethods->xFileSize(inner_of(file), bytes);
}

static int file_lock(sqlite3_file *file, int lock)
{
    return inner_of(file)->pMethods->xLock(inner_of(file), lock);
}

static int file_unlock(sqlite3_file *file, int lock)
{
    return inner_of(file)->pMethods->xUnlock(inner_of(file), lock);
}

static int file_lock_check(sqlite3_file *file, int *taken)
{
    return inner_of(file)->pMethods->xCheckReservedLock(inner_of(file), taken);
}

static int file_control(sqlite3_file *file, int what, void *argument)
{
    return inner_of(file)->pMethods->xFileControl(inner_of(file), what, argument);
}

static int file_sector(sqlite3_file *file)
{
    return inner_of(file)->pMethods->xSectorSize(inner_of(file));
}

static int file_device(sqlite3_file *file)
{
    return inner_of(file)->pMethods->xDeviceCharacteristics(inner_of(file));
}

static int file_shm_map(sqlite3_file *file, int page, int bytes, int extend, void volatile **out)
{
    return inner_of(file)->pMethods->xShmMap(inner_of(file), page, bytes, extend, out);
}

static int file_shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    return inner_of(file)->pMethods->xShmLock(inner_of(file), offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *file)
{
    inner_of(file)->pMethods->xShmBarrier(inner_of(file));
}

static int file_shm_unmap(sqlite3_file *file, int remove)
{
    return inner_of(file)->pMethods->xShmUnmap(inner_of(file), remove);
}

/* Version 2: without xFetch, so that every page is read and written by a call. */
static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_lock_check,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_device,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename path, sqlite3_file *file, int flags, int *opened)
{
    struct mirrored_file *self = self_of(file);
    const int ours = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
    (void)vfs;
    self->file.pMethods = NULL;
    self->name = path != NULL && (flags & ours) != 0 ? last_part(path) : NULL;
    self->commits = (flags & SQLITE_OPEN_WAL) != 0;
    const int result = inner->xOpen(inner, path, inner_of(file), flags, opened);
    if (inner_of(file)->pMethods != NULL)
        self->file.pMethods = &methods;
    return result;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int sync_folder)
{
    (void)vfs;
    told->ops->enter(told, MIRROR_ROOT);
    const int result = inner->xDelete(inner, path, sync_folder);
    if (result == SQLITE_OK)
        note((struct mirror_change){ .kind = MIRROR_REMOVE, .name = last_part(path) });
    if (result == SQLITE_OK && sync_folder != 0)
        note((struct mirror_change){ .kind = MIRROR_SYNC_FOLDER });
    told->ops->leave(told, MIRROR_ROOT);
    return result;
}

const char *mirrored_files_start(struct mirror *mirror)
{
    static sqlite3_vfs vfs;
    inner = sqlite3_vfs_find("unix");
    if (inner == NULL)
        return NULL;
    told = mirror;
    vfs = *inner;
    vfs.pNext = NULL;
    vfs.zName = vfs_name;
    vfs.szOsFile = (int)sizeof(struct mirrored_file) + inner->szOsFile;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    return sqlite3_vfs_register(&vfs, 0) == SQLITE_OK ? vfs_name : NULL;
}
