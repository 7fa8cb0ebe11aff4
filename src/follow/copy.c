/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/copy.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/hash.h"
#include "base/span.h"
#include "follow/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_NAME "follow-state"
#define STATE_MAGIC UINT64_C(0x31574c4650544d53) /* "SMTPFLW1" */

enum {
    FILES_OPEN_MAX = 32,
    ZEROS_BYTES = 64 * 1024,
    SYNC_AHEAD_BYTES = 1024 * 1024, /* so that a sync of the database has little to write */
    REMOVE_FILES_OPEN = 16,
};

/* The file, as it lies in memory. One process writes it. */
struct state_file {
    uint64_t magic;
    _Atomic uint64_t position;
    uint64_t data_id, generation, epoch;
    uint64_t boot; /* of the machine that wrote it: a hash of its boot id */
    uint64_t whole, clean;
    _Atomic uint64_t heard_ms, pid;
};

struct copy {
    struct disk *parts[MIRROR_PARTS]; /* NULL: not there yet; the first is the root */
    char folder[4096];
    struct state_file *state;
    struct copy *source; /* of blocks that are the same; NULL: none */
    struct open_file {
        disk_file file; /* -1: free */
        enum mirror_part part;
        char name[DISK_NAME_MAX];
        uint64_t used; /* the copy's count when it was used last */
        uint64_t unsynced;
    } files[FILES_OPEN_MAX];
    uint64_t uses;
};

static uint64_t boot_hash(void)
{
    char id[64] = "";
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = 0;
    if (fd >= 0) {
        got = read(fd, id, sizeof id);
        close(fd);
    }
    return got > 0 ? hash_siphash((struct hash_key){ 1, 2 }, id, (size_t)got) : 0;
}

static bool state_trusted(const struct state_file *state)
{
    return state->boot == boot_hash() || state->clean == 1;
}

/* ---- open and close ---- */

static enum status state_map(struct copy *copy)
{
    char path[sizeof copy->folder + sizeof STATE_NAME + 1];
    snprintf(path, sizeof path, "%s/%s", copy->folder, STATE_NAME);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return STATUS_IO;
    void *map = MAP_FAILED;
    if (ftruncate(fd, sizeof *copy->state) == 0)
        map = mmap(NULL, sizeof *copy->state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return STATUS_IO;
    copy->state = map;
    if (copy->state->magic != STATE_MAGIC)
        *copy->state = (struct state_file){ .magic = STATE_MAGIC };
    if (!state_trusted(copy->state))
        copy->state->epoch = 0; /* the copy is good; where it stands in the stream is not known */
    copy->state->boot = boot_hash();
    copy->state->clean = 0;
    atomic_store(&copy->state->pid, (uint64_t)getpid());
    return STATUS_OK;
}

/* Made when something is put into it. */
static enum status part_open(struct copy *copy, enum mirror_part part)
{
    char path[sizeof copy->folder + 16];
    if (copy->parts[part] != NULL)
        return STATUS_OK;
    snprintf(path, sizeof path, "%s/%s", copy->folder, wire_part_folder(part));
    return disk_folder_open(path, &copy->parts[part]);
}

enum status copy_open(struct copy **opened, const char *folder, bool fresh)
{
    struct copy *copy = calloc(1, sizeof *copy);
    *opened = NULL;
    if (copy == NULL)
        return STATUS_FULL;
    for (int i = 0; i < FILES_OPEN_MAX; i++)
        copy->files[i].file = -1;
    snprintf(copy->folder, sizeof copy->folder, "%s", folder);
    enum status status = fresh ? copy_remove(folder) : STATUS_OK;
    if (status == STATUS_OK)
        status = disk_folder_open(folder, &copy->parts[MIRROR_ROOT]);
    if (status == STATUS_OK)
        status = disk_folder_lock(copy->parts[MIRROR_ROOT], "lock");
    if (status == STATUS_OK)
        status = state_map(copy);
    if (status != STATUS_OK) {
        const int before = errno;
        copy_close(copy, false);
        errno = before;
        return status;
    }
    *opened = copy;
    return STATUS_OK;
}

static void file_close(struct copy *copy, struct open_file *file)
{
    if (file->file >= 0)
        copy->parts[file->part]->ops->close(copy->parts[file->part], file->file);
    file->file = -1;
}

/* Everything of its file system; more than is needed, and seldom. */
static enum status all_sync(const struct copy *copy)
{
    const int fd = open(copy->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool synced = fd >= 0 && syncfs(fd) == 0;
    if (fd >= 0)
        close(fd);
    return synced ? STATUS_OK : STATUS_IO;
}

void copy_close(struct copy *copy, bool clean)
{
    if (copy == NULL)
        return;
    for (int i = 0; i < FILES_OPEN_MAX; i++)
        file_close(copy, &copy->files[i]);
    if (copy->state != NULL) {
        atomic_store(&copy->state->pid, 0);
        if (clean && all_sync(copy) == STATUS_OK) {
            copy->state->clean = 1;
            (void)msync(copy->state, sizeof *copy->state, MS_SYNC); /* without it a base is made */
        }
        munmap(copy->state, sizeof *copy->state);
    }
    for (int part = 0; part < MIRROR_PARTS; part++)
        disk_folder_close(copy->parts[part]);
    free(copy);
}

static struct copy_state state_of(const struct state_file *file)
{
    return (struct copy_state){ .data_id = file->data_id,
        .generation = file->generation,
        .epoch = file->epoch,
        .position = atomic_load(&file->position),
        .whole = file->whole == 1,
        .heard_ms = atomic_load(&file->heard_ms),
        .pid = atomic_load(&file->pid) };
}

struct copy_state copy_state(const struct copy *copy)
{
    return state_of(copy->state);
}

void copy_begin(struct copy *copy, uint64_t data_id, uint64_t generation, uint64_t epoch, uint64_t position)
{
    struct state_file *state = copy->state;
    state->epoch = 0; /* until all of it is there */
    state->data_id = data_id;
    state->generation = generation;
    atomic_store(&state->position, position);
    state->epoch = epoch;
}

void copy_heard(struct copy *copy)
{
    atomic_store(&copy->state->heard_ms, clock_wall_ms());
}

void copy_source(struct copy *copy, struct copy *source)
{
    copy->source = source;
}

struct disk *copy_root(struct copy *copy)
{
    return copy->parts[MIRROR_ROOT];
}

/* ---- files that are open ---- */

static struct open_file *file_find(struct copy *copy, enum mirror_part part, const char *name)
{
    for (int i = 0; i < FILES_OPEN_MAX; i++)
        if (copy->files[i].file >= 0 && copy->files[i].part == part
            && strcmp(copy->files[i].name, name) == 0)
            return &copy->files[i];
    return NULL;
}

static void file_forget(struct copy *copy, enum mirror_part part, const char *name)
{
    struct open_file *file = file_find(copy, part, name);
    if (file != NULL)
        file_close(copy, file);
}

static struct open_file *place_free(struct copy *copy)
{
    struct open_file *oldest = &copy->files[0];
    for (int i = 0; i < FILES_OPEN_MAX; i++) {
        if (copy->files[i].file < 0)
            return &copy->files[i];
        if (copy->files[i].used < oldest->used)
            oldest = &copy->files[i];
    }
    file_close(copy, oldest); /* what of it is not synced is synced through another descriptor */
    return oldest;
}

/* STATUS_NOT_FOUND: it is not there, and `make` is false. */
static enum status file_open(
    struct copy *copy, enum mirror_part part, const char *name, bool make, struct open_file **found)
{
    struct disk *disk = copy->parts[part];
    disk_file opened = -1;
    *found = file_find(copy, part, name);
    if (*found == NULL) {
        enum status status = disk->ops->open(disk, name, DISK_WRITE, &opened);
        if (status == STATUS_NOT_FOUND && make)
            status = disk->ops->open(disk, name, DISK_CREATE, &opened);
        if (status != STATUS_OK)
            return status;
        *found = place_free(copy);
        **found = (struct open_file){ .file = opened, .part = part };
        memcpy((*found)->name, name, strlen(name) + 1);
    }
    (*found)->used = ++copy->uses;
    return STATUS_OK;
}

/* ---- changes ---- */

static enum status zeros_write(struct disk *disk, disk_file file, uint64_t bytes, uint64_t offset)
{
    static const uint8_t zeros[ZEROS_BYTES];
    enum status status = STATUS_OK;
    while (status == STATUS_OK && bytes > 0) {
        const size_t part = bytes < sizeof zeros ? (size_t)bytes : sizeof zeros;
        status = disk->ops->write(disk, file, offset, zeros, part);
        bytes -= part;
        offset += part;
    }
    return status;
}

static void sync_ahead(struct open_file *file, uint64_t bytes)
{
    file->unsynced += bytes;
    if (file->unsynced < SYNC_AHEAD_BYTES)
        return;
    (void)sync_file_range(file->file, 0, 0, SYNC_FILE_RANGE_WRITE); /* a hint */
    file->unsynced = 0;
}

static enum status change_write(struct copy *copy, struct disk *disk, const struct mirror_change *change)
{
    struct open_file *file;
    enum status status = file_open(copy, change->part, change->name, true, &file);
    if (status != STATUS_OK)
        return status;
    const bool zeros = change->kind == MIRROR_ZEROS;
    const uint64_t bytes = zeros ? bytes_get_u64(change->data) : change->bytes;
    status = zeros ? zeros_write(disk, file->file, bytes, change->offset)
                   : disk->ops->write(disk, file->file, change->offset, change->data, bytes);
    if (status == STATUS_OK)
        sync_ahead(file, bytes);
    return status;
}

/* From file to file within the kernel; file systems that can, share the block instead. */
static enum status range_copy(int from, int to, off_t offset, size_t bytes)
{
    off_t read_at = offset, write_at = offset;
    ssize_t moved = 1;
    while (bytes > 0 && moved > 0) {
        moved = copy_file_range(from, &read_at, to, &write_at, bytes, 0);
        bytes -= moved > 0 ? (size_t)moved : 0;
    }
    if (bytes == 0)
        return STATUS_OK;
    if (moved == 0)
        errno = EIO; /* the old copy is shorter than its follower said */
    return moved < 0 && (errno == ENOSPC || errno == EDQUOT) ? STATUS_FULL : STATUS_IO;
}

static enum status change_same(struct copy *copy, const struct mirror_change *change)
{
    struct open_file *from, *to;
    char name[DISK_NAME_MAX];
    if (copy->source == NULL)
        return STATUS_BAD_INPUT;
    const uint32_t bytes = bytes_get_u32(change->data);
    snprintf(name, sizeof name, "%.*s", (int)change->bytes - 4, (const char *)change->data + 4);
    enum status status = part_open(copy->source, change->part);
    if (status == STATUS_OK)
        status = file_open(copy->source, change->part, name, false, &from);
    if (status == STATUS_OK)
        status = file_open(copy, change->part, change->name, true, &to);
    if (status == STATUS_OK)
        status = range_copy(from->file, to->file, (off_t)change->offset, bytes);
    if (status == STATUS_OK)
        sync_ahead(to, bytes);
    return status;
}

static enum status change_truncate(struct copy *copy, struct disk *disk, const struct mirror_change *change)
{
    struct open_file *file;
    const enum status status = file_open(copy, change->part, change->name, true, &file);
    return status == STATUS_OK ? disk->ops->truncate(disk, file->file, change->offset) : status;
}

/* A file that is not there was renamed or removed before the base reached it, or by this very change. */
static enum status missing_is_fine(enum status status)
{
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status change_sync(struct copy *copy, struct disk *disk, const struct mirror_change *change)
{
    struct open_file *file;
    const enum status status = file_open(copy, change->part, change->name, false, &file);
    if (status != STATUS_OK)
        return missing_is_fine(status);
    file->unsynced = 0;
    return disk->ops->sync(disk, file->file);
}

static enum status change_rename(struct copy *copy, struct disk *disk, const struct mirror_change *change)
{
    char to[DISK_NAME_MAX];
    snprintf(to, sizeof to, "%.*s", (int)change->bytes, (const char *)change->data);
    const enum status status = disk->ops->rename(disk, change->name, to);
    if (status != STATUS_OK)
        return missing_is_fine(status);
    file_forget(copy, change->part, to);
    struct open_file *file = file_find(copy, change->part, change->name);
    if (file != NULL)
        memcpy(file->name, to, sizeof to);
    return STATUS_OK;
}

static enum status change_remove(struct copy *copy, struct disk *disk, const struct mirror_change *change)
{
    file_forget(copy, change->part, change->name);
    return missing_is_fine(disk->ops->remove(disk, change->name));
}

static enum status change_do(struct copy *copy, const struct mirror_change *change)
{
    const enum status opened = part_open(copy, change->part);
    struct disk *disk = copy->parts[change->part];
    if (opened != STATUS_OK)
        return opened;
    switch (change->kind) {
    case MIRROR_WRITE:
    case MIRROR_ZEROS:
        return change_write(copy, disk, change);
    case MIRROR_TRUNCATE:
        return change_truncate(copy, disk, change);
    case MIRROR_SYNC:
        return change_sync(copy, disk, change);
    case MIRROR_RENAME:
        return change_rename(copy, disk, change);
    case MIRROR_REMOVE:
        return change_remove(copy, disk, change);
    case MIRROR_SYNC_FOLDER:
        return disk->ops->sync_folder(disk);
    case MIRROR_SAME:
        return change_same(copy, change);
    case MIRROR_BASE_BEGIN:
    case MIRROR_BASE_END:
        return STATUS_OK;
    case MIRROR_KINDS:
        break;
    }
    return STATUS_BAD_INPUT;
}

enum status copy_change(struct copy *copy, const struct mirror_change *change, uint32_t bytes, bool *synced)
{
    const enum status status = change_do(copy, change);
    *synced = status == STATUS_OK && change->kind == MIRROR_SYNC;
    if (status == STATUS_OK)
        atomic_fetch_add(&copy->state->position, bytes);
    return status;
}

enum status copy_complete(struct copy *copy)
{
    copy->state->whole = 1;
    if (all_sync(copy) != STATUS_OK || msync(copy->state, sizeof *copy->state, MS_SYNC) != 0)
        return STATUS_IO;
    return STATUS_OK;
}

/* ---- for others ---- */

enum status copy_state_look(const char *folder, struct copy_state *state)
{
    char path[4096];
    struct state_file file;
    snprintf(path, sizeof path, "%s/%s", folder, STATE_NAME);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? STATUS_NOT_FOUND : STATUS_IO;
    const ssize_t got = read(fd, &file, sizeof file);
    close(fd);
    if (got != (ssize_t)sizeof file || file.magic != STATE_MAGIC)
        return STATUS_CORRUPT;
    *state = state_of(&file);
    return STATUS_OK;
}

static int entry_remove(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about;
    (void)kind;
    (void)where;
    return remove(path);
}

enum status copy_remove(const char *folder)
{
    if (nftw(folder, entry_remove, REMOVE_FILES_OPEN, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
        return STATUS_OK;
    return STATUS_IO;
}
