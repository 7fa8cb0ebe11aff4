/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/sqlite/fault_vfs.h"

#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

struct fault_plan fault_plan;

static sqlite3_vfs *real_vfs;
static sqlite3_vfs fault_vfs;

struct fault_file {
    sqlite3_file file;
    sqlite3_file *real; /* right behind this */
};

static sqlite3_file *real_of(sqlite3_file *file)
{
    return ((struct fault_file *)file)->real;
}

static bool fails_now(void)
{
    fault_plan.calls++;
    if (fault_plan.fail_at == 0)
        return false;
    return fault_plan.calls == fault_plan.fail_at
        || (fault_plan.stays && fault_plan.calls > fault_plan.fail_at);
}

#define REAL(file) (real_of(file)->pMethods)

static int file_close(sqlite3_file *file)
{
    return REAL(file)->xClose(real_of(file));
}
static int file_read(sqlite3_file *file, void *data, int bytes, sqlite3_int64 offset)
{
    return REAL(file)->xRead(real_of(file), data, bytes, offset);
}
static int file_write(sqlite3_file *file, const void *data, int bytes, sqlite3_int64 offset)
{
    if (!fails_now())
        return REAL(file)->xWrite(real_of(file), data, bytes, offset);
    if (fault_plan.half_written)
        (void)REAL(file)->xWrite(real_of(file), data, bytes / 2, offset);
    return fault_plan.result;
}
static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    return fails_now() ? fault_plan.result : REAL(file)->xTruncate(real_of(file), size);
}
static int file_sync(sqlite3_file *file, int flags)
{
    return fails_now() ? fault_plan.result : REAL(file)->xSync(real_of(file), flags);
}
static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    return REAL(file)->xFileSize(real_of(file), size);
}
static int file_lock(sqlite3_file *file, int level)
{
    return REAL(file)->xLock(real_of(file), level);
}
static int file_unlock(sqlite3_file *file, int level)
{
    return REAL(file)->xUnlock(real_of(file), level);
}
static int file_check_lock(sqlite3_file *file, int *result)
{
    return REAL(file)->xCheckReservedLock(real_of(file), result);
}
static int file_control(sqlite3_file *file, int what, void *argument)
{
    return REAL(file)->xFileControl(real_of(file), what, argument);
}
static int file_sector(sqlite3_file *file)
{
    return REAL(file)->xSectorSize(real_of(file));
}
static int file_device(sqlite3_file *file)
{
    return REAL(file)->xDeviceCharacteristics(real_of(file));
}
static int file_shm_map(sqlite3_file *file, int page, int bytes, int extend, void volatile **out)
{
    return REAL(file)->xShmMap(real_of(file), page, bytes, extend, out);
}
static int file_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    return REAL(file)->xShmLock(real_of(file), offset, n, flags);
}
static void file_shm_barrier(sqlite3_file *file)
{
    REAL(file)->xShmBarrier(real_of(file));
}
static int file_shm_unmap(sqlite3_file *file, int remove)
{
    return REAL(file)->xShmUnmap(real_of(file), remove);
}

static const sqlite3_io_methods fault_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_device,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *out_flags)
{
    struct fault_file *fault = (struct fault_file *)file;
    (void)vfs;
    fault->real = (sqlite3_file *)(fault + 1);
    int result = real_vfs->xOpen(real_vfs, name, fault->real, flags, out_flags);
    fault->file.pMethods = fault->real->pMethods != NULL ? &fault_methods : NULL;
    return result;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    (void)vfs;
    fault_plan.deletes++;
    fault_plan.deletes_unsynced += sync_folder == 0;
    return real_vfs->xDelete(real_vfs, name, sync_folder);
}

void fault_vfs_register(void)
{
    real_vfs = sqlite3_vfs_find(NULL);
    fault_vfs = *real_vfs;
    fault_vfs.zName = FAULT_VFS_NAME;
    fault_vfs.szOsFile = (int)sizeof(struct fault_file) + real_vfs->szOsFile;
    fault_vfs.xOpen = vfs_open;
    fault_vfs.xDelete = vfs_delete;
    sqlite3_vfs_register(&fault_vfs, 0);
}
