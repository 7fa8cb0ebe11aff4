/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/copy.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/hash.h"
#include "base/span.h"

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
    struct disk *root; /* and its lock */
    int folders[MIRROR_PARTS];
    struct state_file *state;
    struct open_file {
        int fd; /* -1: free */
        enum mirror_part part;
        char name[DISK_NAME_MAX];
        uint64_t used; /* the copy's count when it was used last */
        uint64_t unsynced;
    } files[FILES_OPEN_MAX];
    uint64_t uses;
};

static const char *const part_names[] = {
    [MIRROR_ROOT] = ".", [MIRROR_JOURNAL] = "journal", [MIRROR_MEDIA] = "media", [MIRROR_SANDBOX] = "sandbox"
};

static enum status fault(void)
{
    return errno == ENOSPC || errno == EDQUOT ? STATUS_FULL : STATUS_IO;
}

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
    const int fd = openat(copy->folders[MIRROR_ROOT], STATE_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return fault();
    void *map = MAP_FAILED;
    if (ftruncate(fd, sizeof *copy->state) == 0)
        map = mmap(NULL, sizeof *copy->state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED)
        return fault();
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
static int part_folder(struct copy *copy, enum mirror_part part)
{
    const int root = copy->folders[MIRROR_ROOT];
    if (copy->folders[part] < 0 && (mkdirat(root, part_names[part], 0700) == 0 || errno == EEXIST))
        copy->folders[part] = openat(root, part_names[part], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return copy->folders[part];
}

enum status copy_open(struct copy **opened, const char *folder, bool fresh)
{
    struct copy *copy = calloc(1, sizeof *copy);
    *opened = NULL;
    if (copy == NULL)
        return STATUS_FULL;
    for (int part = 0; part < MIRROR_PARTS; part++)
        copy->folders[part] = -1;
    for (int i = 0; i < FILES_OPEN_MAX; i++)
        copy->files[i].fd = -1;
    enum status status = fresh ? copy_remove(folder) : STATUS_OK;
    if (status == STATUS_OK)
        status = disk_folder_open(folder, &copy->root);
    if (status == STATUS_OK)
        status = disk_folder_lock(copy->root, "lock");
    if (status == STATUS_OK) {
        copy->folders[MIRROR_ROOT] = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        status = copy->folders[MIRROR_ROOT] < 0 ? fault() : STATUS_OK;
    }
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

void copy_close(struct copy *copy, bool clean)
{
    if (copy == NULL)
        return;
    for (int i = 0; i < FILES_OPEN_MAX; i++)
        if (copy->files[i].fd >= 0)
            close(copy->files[i].fd);
    if (copy->state != NULL) {
        atomic_store(&copy->state->pid, 0);
        if (clean && syncfs(copy->folders[MIRROR_ROOT]) == 0) {
            copy->state->clean = 1;
            (void)msync(copy->state, sizeof *copy->state, MS_SYNC); /* without it a base is made */
        }
        munmap(copy->state, sizeof *copy->state);
    }
    for (int part = 0; part < MIRROR_PARTS; part++)
        if (copy->folders[part] >= 0)
            close(copy->folders[part]);
    disk_folder_close(copy->root);
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

struct disk *copy_root(struct copy *copy)
{
    return copy->root;
}

/* ---- files that are open ---- */

static struct open_file *file_find(struct copy *copy, enum mirror_part part, const char *name)
{
    for (int i = 0; i < FILES_OPEN_MAX; i++)
        if (copy->files[i].fd >= 0 && copy->files[i].part == part && strcmp(copy->files[i].name, name) == 0)
            return &copy->files[i];
    return NULL;
}

static void file_forget(struct copy *copy, enum mirror_part part, const char *name)
{
    struct open_file *file = file_find(copy, part, name);
    if (file != NULL) {
        close(file->fd);
        file->fd = -1;
    }
}

static struct open_file *place_free(struct copy *copy)
{
    struct open_file *oldest = &copy->files[0];
    for (int i = 0; i < FILES_OPEN_MAX; i++) {
        if (copy->files[i].fd < 0)
            return &copy->files[i];
        if (copy->files[i].used < oldest->used)
            oldest = &copy->files[i];
    }
    close(oldest->fd); /* what of it is not synced is synced through another descriptor */
    oldest->fd = -1;
    return oldest;
}

/* NULL: errno tells; ENOENT: it is not there, and `make` is false. */
static struct open_file *file_open(struct copy *copy, enum mirror_part part, const char *name, bool make)
{
    struct open_file *file = file_find(copy, part, name);
    if (file == NULL) {
        const int fd = openat(copy->folders[part], name,
            O_RDWR | O_NOFOLLOW | O_CLOEXEC | (make ? O_CREAT : 0), 0600);
        if (fd < 0)
            return NULL;
        file = place_free(copy);
        *file = (struct open_file){ .fd = fd, .part = part };
        memcpy(file->name, name, strlen(name) + 1);
    }
    file->used = ++copy->uses;
    return file;
}

/* ---- changes ---- */

static enum status bytes_write(int fd, const uint8_t *data, size_t bytes, uint64_t offset)
{
    while (bytes > 0) {
        const ssize_t n = pwrite(fd, data, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fault();
        data += n;
        bytes -= (size_t)n;
        offset += (uint64_t)n;
    }
    return STATUS_OK;
}

static enum status zeros_write(int fd, uint64_t bytes, uint64_t offset)
{
    static const uint8_t zeros[ZEROS_BYTES];
    enum status status = STATUS_OK;
    while (status == STATUS_OK && bytes > 0) {
        const size_t part = bytes < sizeof zeros ? (size_t)bytes : sizeof zeros;
        status = bytes_write(fd, zeros, part, offset);
        bytes -= part;
        offset += part;
    }
    return status;
}

static enum status change_write(struct copy *copy, const struct mirror_change *change)
{
    struct open_file *file = file_open(copy, change->part, change->name, true);
    if (file == NULL)
        return fault();
    const bool zeros = change->kind == MIRROR_ZEROS;
    const uint64_t bytes = zeros ? bytes_get_u64(change->data) : change->bytes;
    const enum status status = zeros ? zeros_write(file->fd, bytes, change->offset)
                                     : bytes_write(file->fd, change->data, bytes, change->offset);
    file->unsynced += bytes;
    if (status == STATUS_OK && file->unsynced >= SYNC_AHEAD_BYTES) {
        (void)sync_file_range(file->fd, 0, 0, SYNC_FILE_RANGE_WRITE); /* a hint */
        file->unsynced = 0;
    }
    return status;
}

static enum status change_truncate(struct copy *copy, const struct mirror_change *change)
{
    struct open_file *file = file_open(copy, change->part, change->name, true);
    if (file == NULL || ftruncate(file->fd, (off_t)change->offset) != 0)
        return fault();
    return STATUS_OK;
}

/* A file that is not there was renamed or removed before the base reached it, or by this very change. */
static enum status change_sync(struct copy *copy, const struct mirror_change *change)
{
    struct open_file *file = file_open(copy, change->part, change->name, false);
    if (file == NULL)
        return errno == ENOENT ? STATUS_OK : fault();
    file->unsynced = 0;
    return fdatasync(file->fd) == 0 ? STATUS_OK : STATUS_IO;
}

static enum status change_rename(struct copy *copy, const struct mirror_change *change)
{
    char to[DISK_NAME_MAX];
    const int folder = copy->folders[change->part];
    snprintf(to, sizeof to, "%.*s", (int)change->bytes, (const char *)change->data);
    if (renameat(folder, change->name, folder, to) != 0)
        return errno == ENOENT ? STATUS_OK : fault();
    file_forget(copy, change->part, to);
    struct open_file *file = file_find(copy, change->part, change->name);
    if (file != NULL)
        memcpy(file->name, to, sizeof to);
    return STATUS_OK;
}

static enum status change_remove(struct copy *copy, const struct mirror_change *change)
{
    file_forget(copy, change->part, change->name);
    if (unlinkat(copy->folders[change->part], change->name, 0) != 0 && errno != ENOENT)
        return fault();
    return STATUS_OK;
}

static enum status change_do(struct copy *copy, const struct mirror_change *change)
{
    switch (change->kind) {
    case MIRROR_WRITE:
    case MIRROR_ZEROS:
        return change_write(copy, change);
    case MIRROR_TRUNCATE:
        return change_truncate(copy, change);
    case MIRROR_SYNC:
        return change_sync(copy, change);
    case MIRROR_RENAME:
        return change_rename(copy, change);
    case MIRROR_REMOVE:
        return change_remove(copy, change);
    case MIRROR_SYNC_FOLDER:
        return fsync(copy->folders[change->part]) == 0 ? STATUS_OK : STATUS_IO;
    case MIRROR_BASE_BEGIN:
    case MIRROR_BASE_END:
        return STATUS_OK;
    case MIRROR_KINDS:
        break;
    }
    return STATUS_BAD_INPUT;
}

enum status copy_change(
    struct copy *copy, const struct mirror_change *change, uint32_t bytes, bool *synced)
{
    const enum status status =
        part_folder(copy, change->part) < 0 ? fault() : change_do(copy, change);
    *synced = status == STATUS_OK && change->kind == MIRROR_SYNC;
    if (status == STATUS_OK)
        atomic_fetch_add(&copy->state->position, bytes);
    return status;
}

enum status copy_complete(struct copy *copy)
{
    copy->state->whole = 1;
    if (syncfs(copy->folders[MIRROR_ROOT]) != 0
        || msync(copy->state, sizeof *copy->state, MS_SYNC) != 0)
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
