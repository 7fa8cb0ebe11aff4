/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/sim_vfs.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 8, BLOCK = 512, SHM_REGIONS_MAX = 64, SHM_REGION = 32768, PATH_MAX_BYTES = 128 };

struct data {
    char name[PATH_MAX_BYTES]; /* "": free, or a temporary file */
    bool used, there, durable_there, temporary;
    uint8_t *now, *durable, *dirty; /* dirty: a byte per block */
    size_t room, size, durable_size;
    size_t dirty_first, dirty_end; /* blocks */
};
struct handle {
    sqlite3_file base; /* first: a file is this */
    struct data *data;
};

static struct {
    struct data files[FILES_MAX];
    uint8_t *shm[SHM_REGIONS_MAX];
    struct random random;
    bool dead, planned, full;
    uint32_t crash_in;
} machine;

/* ---- bytes ---- */

static void data_grow(struct data *data, size_t bytes)
{
    if (bytes <= data->room)
        return;
    const size_t room = (bytes * 2 + 65536) / BLOCK * BLOCK, blocks = room / BLOCK, old = data->room;
    data->now = realloc(data->now, room);
    data->durable = realloc(data->durable, room);
    data->dirty = realloc(data->dirty, blocks);
    invariant(data->now != NULL && data->durable != NULL && data->dirty != NULL);
    memset(data->now + old, 0, room - old);
    memset(data->durable + old, 0, room - old);
    memset(data->dirty + old / BLOCK, 0, blocks - old / BLOCK);
    data->room = room;
}

static void data_touch(struct data *data, size_t from, size_t to)
{
    if (from == to)
        return;
    const size_t first = from / BLOCK, end = (to + BLOCK - 1) / BLOCK;
    memset(data->dirty + first, 1, end - first);
    if (data->dirty_end == 0 || first < data->dirty_first)
        data->dirty_first = first;
    if (end > data->dirty_end)
        data->dirty_end = end;
}

static void data_empty(struct data *data)
{
    data_touch(data, 0, data->size);
    if (data->size > 0)
        memset(data->now, 0, data->size);
    data->size = 0;
}

static uint64_t below(uint64_t bound)
{
    return random_below(&machine.random, bound);
}

/* `keep`: of each dirty block all, nothing, or a prefix. */
static void data_flush(struct data *data, enum sim_crash how)
{
    for (size_t i = data->dirty_first; i < data->dirty_end; i++) {
        if (!data->dirty[i])
            continue;
        const uint64_t fate = how == SIM_CRASH_MIXED ? below(3) : how == SIM_CRASH_KILL ? 1 : 0;
        const size_t keep = fate == 1 ? BLOCK : fate == 2 ? (size_t)below(BLOCK + 1) : 0;
        memcpy(data->durable + i * BLOCK, data->now + i * BLOCK, keep);
        data->dirty[i] = 0;
    }
    data->dirty_first = data->dirty_end = 0;
}

static bool stops_here(void)
{
    if (machine.planned && machine.crash_in-- == 0)
        machine.dead = true;
    machine.planned = machine.planned && !machine.dead;
    return machine.dead;
}

static void data_drop(struct data *data)
{
    const size_t most = data->size > data->durable_size ? data->size : data->durable_size;
    if (most > 0 || data->dirty_end > 0) {
        const size_t bytes = data->room < most + BLOCK ? data->room : (most + BLOCK) / BLOCK * BLOCK;
        const size_t all = data->dirty_end * BLOCK > bytes ? data->dirty_end * BLOCK : bytes;
        memset(data->now, 0, all);
        memset(data->durable, 0, all);
        memset(data->dirty, 0, all / BLOCK);
    }
    data->size = data->durable_size = data->dirty_first = data->dirty_end = 0;
    data->used = data->there = data->durable_there = data->temporary = false;
}

/* Names become durable with the folder. The unix VFS syncs it with the first sync of a new file;
 * so do we. */
static void folder_sync(void)
{
    for (uint32_t i = 0; i < FILES_MAX; i++) {
        struct data *data = &machine.files[i];
        if (data->used && !data->temporary && !data->there)
            data_drop(data);
        data->durable_there = data->there;
    }
}

/* ---- a file ---- */

static struct data *data_of(sqlite3_file *file)
{
    return ((struct handle *)(void *)file)->data;
}

static int file_close(sqlite3_file *file)
{
    struct data *data = data_of(file);
    if (data->temporary) {
        data_empty(data);
        data->used = data->temporary = false;
    }
    return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *out, int bytes, sqlite3_int64 offset)
{
    const struct data *data = data_of(file);
    const size_t at = (size_t)offset, want = (size_t)bytes;
    if (machine.dead)
        return SQLITE_IOERR_READ;
    const size_t got = at >= data->size ? 0 : data->size - at < want ? data->size - at : want;
    if (got > 0)
        memcpy(out, data->now + at, got);
    if (got == want)
        return SQLITE_OK;
    memset((char *)out + got, 0, want - got);
    return SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *file, const void *in, int bytes, sqlite3_int64 offset)
{
    struct data *data = data_of(file);
    size_t at = (size_t)offset, count = (size_t)bytes;
    if (machine.dead)
        return SQLITE_IOERR_WRITE;
    if (machine.full && at + count > data->size)
        return SQLITE_FULL;
    const bool stops = stops_here();
    if (stops)
        count = (size_t)below(count + 1);
    data_grow(data, at + count);
    memcpy(data->now + at, in, count);
    data_touch(data, at, at + count);
    if (at + count > data->size)
        data->size = at + count;
    return stops ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    struct data *data = data_of(file);
    if (machine.dead || stops_here())
        return SQLITE_IOERR_TRUNCATE;
    if ((size_t)size < data->size) {
        data_touch(data, (size_t)size, data->size);
        memset(data->now + size, 0, data->size - (size_t)size);
    }
    data_grow(data, (size_t)size);
    data->size = (size_t)size;
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *file, int flags)
{
    struct data *data = data_of(file);
    (void)flags;
    if (machine.dead)
        return SQLITE_IOERR_FSYNC;
    if (stops_here()) {
        data_flush(data, SIM_CRASH_MIXED);
        return SQLITE_IOERR_FSYNC;
    }
    data_flush(data, SIM_CRASH_KILL);
    data->durable_size = data->size;
    if (!data->durable_there)
        folder_sync();
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)data_of(file)->size;
    return machine.dead ? SQLITE_IOERR_FSTAT : SQLITE_OK;
}

static int file_lock(sqlite3_file *file, int level) /* nobody else is there */
{
    (void)file;
    (void)level;
    return SQLITE_OK;
}

static int file_check_lock(sqlite3_file *file, int *reserved)
{
    (void)file;
    *reserved = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int op, void *argument)
{
    (void)file;
    (void)op;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *file)
{
    (void)file;
    return 4096;
}

static int file_device(sqlite3_file *file)
{
    (void)file;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int shm_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **out)
{
    (void)file;
    invariant(bytes <= SHM_REGION && region < SHM_REGIONS_MAX);
    if (machine.shm[region] == NULL && extend) {
        machine.shm[region] = calloc(1, SHM_REGION);
        invariant(machine.shm[region] != NULL);
    }
    *out = machine.shm[region];
    return SQLITE_OK;
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags)
{
    (void)file;
    (void)offset;
    (void)count;
    (void)flags;
    return SQLITE_OK;
}

static void shm_barrier(sqlite3_file *file)
{
    (void)file;
}

static void shm_free(void)
{
    for (uint32_t i = 0; i < SHM_REGIONS_MAX; i++) {
        free(machine.shm[i]);
        machine.shm[i] = NULL;
    }
}

static int shm_unmap(sqlite3_file *file, int remove)
{
    (void)file;
    (void)remove;
    shm_free(); /* one connection: it was the last */
    return SQLITE_OK;
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_device,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

/* ---- the file system ---- */

static struct data *find(const char *name)
{
    for (uint32_t i = 0; i < FILES_MAX; i++)
        if (machine.files[i].used && strcmp(machine.files[i].name, name) == 0)
            return &machine.files[i];
    return NULL;
}

static struct data *take(const char *name)
{
    for (uint32_t i = 0; i < FILES_MAX; i++) {
        struct data *data = &machine.files[i];
        if (data->used)
            continue;
        data->used = true;
        data->temporary = name == NULL;
        data->durable_there = false;
        snprintf(data->name, sizeof data->name, "%s", name == NULL ? "" : name);
        return data;
    }
    return NULL;
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
    struct handle *handle = (struct handle *)(void *)file;
    (void)vfs;
    handle->base.pMethods = NULL;
    if (machine.dead)
        return SQLITE_CANTOPEN;
    struct data *data = name == NULL ? NULL : find(name);
    if ((data == NULL || !data->there) && (flags & SQLITE_OPEN_CREATE) == 0)
        return SQLITE_CANTOPEN;
    if (data == NULL)
        data = take(name);
    if (data == NULL)
        return SQLITE_CANTOPEN;
    data->there = true;
    handle->data = data;
    handle->base.pMethods = &methods;
    if (out_flags != NULL)
        *out_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    struct data *data = find(name);
    (void)vfs;
    if (machine.dead || stops_here())
        return SQLITE_IOERR_DELETE;
    if (data == NULL || !data->there)
        return SQLITE_IOERR_DELETE_NOENT;
    data_empty(data);
    data->there = false;
    if (sync_folder)
        folder_sync();
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *answer)
{
    const struct data *data = find(name);
    (void)vfs;
    (void)flags;
    *answer = data != NULL && data->there;
    return machine.dead ? SQLITE_IOERR_ACCESS : SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int bytes, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)bytes, "%s", name) < bytes ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_random(sqlite3_vfs *vfs, int bytes, char *out)
{
    (void)vfs;
    for (int i = 0; i < bytes; i++)
        out[i] = (char)random_next(&machine.random);
    return bytes;
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return microseconds;
}

static int vfs_time(sqlite3_vfs *vfs, double *days)
{
    (void)vfs;
    *days = 2460000.5;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *vfs, int bytes, char *out)
{
    (void)vfs;
    if (bytes > 0)
        out[0] = '\0';
    return 0;
}

static sqlite3_vfs vfs_table = {
    .iVersion = 1,
    .szOsFile = sizeof(struct handle),
    .mxPathname = PATH_MAX_BYTES - 1,
    .zName = SIM_VFS_NAME,
    .xOpen = vfs_open,
    .xDelete = vfs_delete,
    .xAccess = vfs_access,
    .xFullPathname = vfs_full_path,
    .xRandomness = vfs_random,
    .xSleep = vfs_sleep,
    .xCurrentTime = vfs_time,
    .xGetLastError = vfs_last_error,
};

/* ---- the harness ---- */

void sim_vfs_register(void)
{
    const int result = sqlite3_vfs_register(&vfs_table, 0);
    invariant(result == SQLITE_OK);
}

void sim_vfs_reset(uint64_t seed)
{
    for (uint32_t i = 0; i < FILES_MAX; i++)
        data_drop(&machine.files[i]);
    shm_free();
    machine.dead = machine.planned = machine.full = false;
    random_seed(&machine.random, seed);
    /* SQLite's generator is its own: start it afresh, from our xRandomness. */
    sqlite3_randomness(0, NULL);
}

/* The files as another process would copy them. */
static struct {
    char name[PATH_MAX_BYTES];
    uint8_t *bytes;
    size_t size, room;
    bool used;
} kept[FILES_MAX];

void sim_vfs_keep(void)
{
    for (uint32_t i = 0; i < FILES_MAX; i++) {
        const struct data *data = &machine.files[i];
        kept[i].used = data->used && data->there && !data->temporary;
        if (!kept[i].used)
            continue;
        memcpy(kept[i].name, data->name, sizeof kept[i].name);
        if (kept[i].room < data->size + 1) {
            kept[i].room = data->size + 1;
            kept[i].bytes = realloc(kept[i].bytes, kept[i].room);
            invariant(kept[i].bytes != NULL);
        }
        memcpy(kept[i].bytes, data->now, data->size);
        kept[i].size = data->size;
    }
}

void sim_vfs_put_back(void)
{
    for (uint32_t i = 0; i < FILES_MAX; i++) {
        struct data *data = &machine.files[i];
        data_drop(data);
        if (!kept[i].used)
            continue;
        memcpy(data->name, kept[i].name, sizeof data->name);
        data_grow(data, kept[i].size);
        memcpy(data->now, kept[i].bytes, kept[i].size);
        memcpy(data->durable, kept[i].bytes, kept[i].size);
        data->size = data->durable_size = kept[i].size;
        data->used = data->there = data->durable_there = true;
    }
    shm_free();
    machine.dead = machine.planned = machine.full = false;
}

void sim_vfs_crash_in(uint32_t calls)
{
    machine.planned = true;
    machine.crash_in = calls;
}

void sim_vfs_crash_not(void)
{
    machine.planned = false;
}

bool sim_vfs_dead(void)
{
    return machine.dead;
}

void sim_vfs_kill(void)
{
    machine.dead = true;
}

void sim_vfs_full(bool full)
{
    machine.full = full;
}

void sim_vfs_restart(enum sim_crash how)
{
    for (uint32_t i = 0; i < FILES_MAX; i++) {
        struct data *data = &machine.files[i];
        if (!data->used)
            continue;
        data_flush(data, how);
        if (how == SIM_CRASH_KILL || (how == SIM_CRASH_MIXED && below(2) == 0))
            data->durable_size = data->size;
        if (how == SIM_CRASH_KILL || (how == SIM_CRASH_MIXED && below(2) == 0))
            data->durable_there = data->there;
        if (data->temporary || !data->durable_there) {
            data_drop(data);
            continue;
        }
        memcpy(data->now, data->durable, data->room);
        memset(data->now + data->durable_size, 0, data->room - data->durable_size);
        memset(data->durable + data->durable_size, 0, data->room - data->durable_size);
        data->size = data->durable_size;
        data->there = true;
    }
    shm_free();
    machine.dead = machine.planned = machine.full = false;
}
