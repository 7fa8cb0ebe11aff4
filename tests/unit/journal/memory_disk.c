/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/journal/memory_disk.c: see memory_disk.h. */
#include "tests/unit/journal/memory_disk.h"

#include "base/random.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, SECTOR = 512, FILES = 1024, NAMES = 512, HANDLES = 32, CHANGES = 1024 };

struct content {
    uint8_t *current, *stable;
    bool *dirty; /* by page */
    uint64_t size, stable_size, capacity;
};
struct entry {
    char name[DISK_NAME_MAX];
    int file;
};
struct folder {
    struct entry entries[NAMES];
    int count;
};
enum change_kind { CHANGE_ADD, CHANGE_REMOVE, CHANGE_RENAME };
struct change {
    enum change_kind kind;
    char name[DISK_NAME_MAX], to[DISK_NAME_MAX];
    int file;
};
struct memory_disk {
    struct disk disk;
    pthread_mutex_t lock;
    struct random random;
    struct content files[FILES];
    int file_count;
    struct folder current, stable;
    struct change changes[CHANGES];
    int change_count;
    int handles[HANDLES]; /* file + 1; 0: free */
    unsigned fail_calls;
    uint64_t fail_in;
    bool has_failed;
    uint64_t capacity;
};

static struct memory_disk *of(struct disk *disk)
{
    return (struct memory_disk *)disk;
}
static const struct memory_disk *of_const(const struct disk *disk)
{
    return (const struct memory_disk *)disk;
}

static bool fails(struct memory_disk *disk, enum memory_call call)
{
    if ((disk->fail_calls & (unsigned)call) == 0 || disk->fail_in == 0 || --disk->fail_in > 0)
        return false;
    disk->has_failed = true;
    errno = EIO;
    return true;
}

static int folder_find(const struct folder *folder, const char *name)
{
    for (int i = 0; i < folder->count; i++)
        if (strcmp(folder->entries[i].name, name) == 0)
            return i;
    return -1;
}
static void folder_drop(struct folder *folder, const char *name)
{
    int at = folder_find(folder, name);
    if (at >= 0)
        folder->entries[at] = folder->entries[--folder->count];
}
static void folder_apply(struct folder *folder, const struct change *change)
{
    int at = folder_find(folder, change->name);
    int file = change->kind == CHANGE_ADD ? change->file : at < 0 ? -1 : folder->entries[at].file;
    invariant(file >= 0);
    folder_drop(folder, change->name);
    if (change->kind == CHANGE_REMOVE)
        return;
    const char *name = change->kind == CHANGE_ADD ? change->name : change->to;
    folder_drop(folder, name);
    invariant(folder->count < NAMES);
    struct entry *entry = &folder->entries[folder->count++];
    snprintf(entry->name, sizeof entry->name, "%s", name);
    entry->file = file;
}
static void folder_change(
    struct memory_disk *disk, enum change_kind kind, const char *name, const char *to, int file)
{
    invariant(disk->change_count < CHANGES);
    struct change *change = &disk->changes[disk->change_count++];
    *change = (struct change){ .kind = kind, .file = file };
    snprintf(change->name, sizeof change->name, "%s", name);
    snprintf(change->to, sizeof change->to, "%s", to);
    folder_apply(&disk->current, change);
}

static void content_grow(struct content *content, uint64_t size)
{
    if (size > content->capacity) {
        uint64_t capacity = content->capacity == 0 ? 16 * PAGE : content->capacity;
        while (capacity < size)
            capacity *= 2;
        uint64_t pages = capacity / PAGE;
        uint8_t *current = calloc(1, capacity), *stable = calloc(1, capacity);
        bool *dirty = calloc(pages, sizeof *dirty);
        invariant(current != NULL && stable != NULL && dirty != NULL);
        if (content->size > 0)
            memcpy(current, content->current, content->size);
        if (content->stable_size > 0)
            memcpy(stable, content->stable, content->stable_size);
        if (content->capacity > 0)
            memcpy(dirty, content->dirty, content->capacity / PAGE * sizeof *dirty);
        free(content->current);
        free(content->stable);
        free(content->dirty);
        *content =
            (struct content){ current, stable, dirty, content->size, content->stable_size, capacity };
    }
    if (size > content->size)
        content->size = size;
}

static uint64_t bytes_used(const struct memory_disk *disk)
{
    uint64_t used = 0;
    for (int i = 0; i < disk->current.count; i++)
        used += disk->files[disk->current.entries[i].file].size;
    return used;
}

static struct content *content_of(struct memory_disk *disk, disk_file handle)
{
    invariant(handle >= 0 && handle < HANDLES && disk->handles[handle] > 0);
    return &disk->files[disk->handles[handle] - 1];
}

#define LOCKED(disk) pthread_mutex_lock(&of(disk)->lock)
#define UNLOCKED(disk) pthread_mutex_unlock(&of(disk)->lock)

static enum status open_locked(
    struct memory_disk *disk, const char *name, enum disk_mode mode, disk_file *handle)
{
    int at = folder_find(&disk->current, name), file, slot = 0;
    if (fails(disk, MEMORY_OPEN))
        return STATUS_IO;
    if (mode == DISK_CREATE && at >= 0)
        return STATUS_CONFLICT;
    if (mode != DISK_CREATE && at < 0)
        return STATUS_NOT_FOUND;
    if (mode == DISK_CREATE) {
        invariant(disk->file_count < FILES);
        file = disk->file_count++;
        folder_change(disk, CHANGE_ADD, name, "", file);
    } else {
        file = disk->current.entries[at].file;
    }
    while (slot < HANDLES && disk->handles[slot] != 0)
        slot++;
    invariant(slot < HANDLES); /* somebody does not close */
    disk->handles[slot] = file + 1;
    *handle = slot;
    return STATUS_OK;
}

static enum status disk_open(struct disk *disk, const char *name, enum disk_mode mode, disk_file *handle)
{
    LOCKED(disk);
    enum status status = open_locked(of(disk), name, mode, handle);
    UNLOCKED(disk);
    return status;
}

static void disk_close(struct disk *disk, disk_file handle)
{
    LOCKED(disk);
    invariant(handle >= 0 && handle < HANDLES && of(disk)->handles[handle] > 0);
    of(disk)->handles[handle] = 0;
    UNLOCKED(disk);
}

static enum status disk_read(
    struct disk *disk, disk_file handle, uint64_t offset, void *data, size_t bytes, size_t *got)
{
    LOCKED(disk);
    const struct content *content = content_of(of(disk), handle);
    bool failed = fails(of(disk), MEMORY_READ);
    *got = offset >= content->size       ? 0
        : content->size - offset < bytes ? content->size - offset
                                         : bytes;
    if (*got > 0)
        memcpy(data, content->current + offset, *got);
    UNLOCKED(disk);
    return failed ? STATUS_IO : STATUS_OK;
}

static enum status disk_write(
    struct disk *disk, disk_file handle, uint64_t offset, const void *data, size_t bytes)
{
    struct memory_disk *memory = of(disk);
    enum status status = STATUS_OK;
    LOCKED(disk);
    struct content *content = content_of(memory, handle);
    if (fails(memory, MEMORY_WRITE)) {
        status = STATUS_IO;
        bytes = random_below(&memory->random, bytes + 1);
    } else if (offset + bytes > content->size
        && bytes_used(memory) + (offset + bytes - content->size) > memory->capacity) {
        status = STATUS_FULL;
        errno = ENOSPC;
        bytes = 0;
    }
    if (bytes > 0) {
        content_grow(content, offset + bytes);
        memcpy(content->current + offset, data, bytes);
        for (uint64_t page = offset / PAGE; page <= (offset + bytes - 1) / PAGE; page++)
            content->dirty[page] = true;
    }
    UNLOCKED(disk);
    return status;
}

static void page_becomes_stable(struct content *content, uint64_t page)
{
    memcpy(content->stable + page * PAGE, content->current + page * PAGE, PAGE);
}

static enum status disk_sync(struct disk *disk, disk_file handle)
{
    struct memory_disk *memory = of(disk);
    LOCKED(disk);
    struct content *content = content_of(memory, handle);
    bool failed = fails(memory, MEMORY_SYNC);
    for (uint64_t page = 0; page < content->capacity / PAGE; page++) {
        if (content->dirty[page] && (!failed || random_below(&memory->random, 2) == 0))
            page_becomes_stable(content, page);
        content->dirty[page] = false;
    }
    if (!failed)
        content->stable_size = content->size;
    UNLOCKED(disk);
    return failed ? STATUS_IO : STATUS_OK;
}

static enum status disk_size(struct disk *disk, disk_file handle, uint64_t *bytes)
{
    LOCKED(disk);
    *bytes = content_of(of(disk), handle)->size;
    UNLOCKED(disk);
    return STATUS_OK;
}

static enum status disk_truncate(struct disk *disk, disk_file handle, uint64_t bytes)
{
    LOCKED(disk);
    struct content *content = content_of(of(disk), handle);
    if (bytes < content->size)
        memset(content->current + bytes, 0, content->size - bytes);
    content_grow(content, bytes);
    content->size = bytes;
    UNLOCKED(disk);
    return STATUS_OK;
}

static enum status disk_rename(struct disk *disk, const char *from, const char *to)
{
    enum status status = STATUS_OK;
    LOCKED(disk);
    if (fails(of(disk), MEMORY_RENAME))
        status = STATUS_IO;
    else if (folder_find(&of(disk)->current, from) < 0)
        status = STATUS_NOT_FOUND;
    else
        folder_change(of(disk), CHANGE_RENAME, from, to, -1);
    UNLOCKED(disk);
    return status;
}

static enum status disk_remove(struct disk *disk, const char *name)
{
    enum status status = STATUS_OK;
    LOCKED(disk);
    if (folder_find(&of(disk)->current, name) < 0)
        status = STATUS_NOT_FOUND;
    else
        folder_change(of(disk), CHANGE_REMOVE, name, "", -1);
    UNLOCKED(disk);
    return status;
}

static enum status disk_sync_folder(struct disk *disk)
{
    LOCKED(disk);
    bool failed = fails(of(disk), MEMORY_SYNC_FOLDER);
    if (!failed) {
        of(disk)->stable = of(disk)->current;
        of(disk)->change_count = 0;
    }
    UNLOCKED(disk);
    return failed ? STATUS_IO : STATUS_OK;
}

static enum status disk_list(struct disk *disk, const char *prefix,
    void (*each)(void *context, const char *name), void *context)
{
    LOCKED(disk);
    const struct folder *folder = &of(disk)->current;
    for (int i = 0; i < folder->count; i++)
        if (strncmp(folder->entries[i].name, prefix, strlen(prefix)) == 0)
            each(context, folder->entries[i].name);
    UNLOCKED(disk);
    return STATUS_OK;
}

static const struct disk_ops memory_ops = { disk_open, disk_close, disk_read, disk_write, disk_sync,
    disk_size, disk_truncate, disk_rename, disk_remove, disk_sync_folder, disk_list };

struct disk *memory_disk_open(uint64_t seed)
{
    struct memory_disk *disk = calloc(1, sizeof *disk);
    invariant(disk != NULL && pthread_mutex_init(&disk->lock, NULL) == 0);
    disk->disk.ops = &memory_ops;
    disk->capacity = UINT64_MAX;
    random_seed(&disk->random, seed);
    return &disk->disk;
}

void memory_disk_close(struct disk *disk)
{
    struct memory_disk *memory = of(disk);
    for (int i = 0; i < memory->file_count; i++) {
        free(memory->files[i].current);
        free(memory->files[i].stable);
        free(memory->files[i].dirty);
    }
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

struct disk *memory_disk_copy(const struct disk *disk, uint64_t seed)
{
    const struct memory_disk *from = of_const(disk);
    struct memory_disk *to = of(memory_disk_open(seed));
    to->file_count = from->file_count;
    to->current = from->current;
    to->stable = from->stable;
    to->change_count = from->change_count;
    memcpy(to->changes, from->changes, sizeof to->changes);
    for (int i = 0; i < from->file_count; i++) {
        const struct content *source = &from->files[i];
        if (source->capacity == 0)
            continue;
        content_grow(&to->files[i], source->capacity);
        memcpy(to->files[i].current, source->current, source->capacity);
        memcpy(to->files[i].stable, source->stable, source->capacity);
        memcpy(to->files[i].dirty, source->dirty, source->capacity / PAGE * sizeof *source->dirty);
        to->files[i].size = source->size;
        to->files[i].stable_size = source->stable_size;
    }
    return &to->disk;
}

void memory_disk_fail(struct disk *disk, unsigned calls, uint64_t k)
{
    of(disk)->fail_calls = calls;
    of(disk)->fail_in = k;
    of(disk)->has_failed = false;
}
bool memory_disk_has_failed(const struct disk *disk)
{
    return of_const(disk)->has_failed;
}
void memory_disk_capacity(struct disk *disk, uint64_t bytes)
{
    of(disk)->capacity = bytes;
}

static void content_power_cut(struct content *content, struct random *random)
{
    for (uint64_t page = 0; page < content->capacity / PAGE; page++) {
        uint64_t how = random_below(random, 3); /* old, new, mixed */
        for (uint64_t at = page * PAGE; content->dirty[page] && at < (page + 1) * PAGE; at += SECTOR)
            if (how == 1 || (how == 2 && random_below(random, 2) == 0))
                memcpy(content->stable + at, content->current + at, SECTOR);
        content->dirty[page] = false;
    }
    content->size = content->stable_size;
    if (content->capacity == 0)
        return;
    memset(content->stable + content->size, 0, content->capacity - content->size);
    memcpy(content->current, content->stable, content->capacity);
}

void memory_disk_power_cut(struct disk *disk)
{
    struct memory_disk *memory = of(disk);
    memset(memory->handles, 0, sizeof memory->handles);
    for (int i = 0; i < memory->file_count; i++)
        content_power_cut(&memory->files[i], &memory->random);
    uint64_t kept = random_below(&memory->random, (uint64_t)memory->change_count + 1);
    for (uint64_t i = 0; i < kept; i++)
        folder_apply(&memory->stable, &memory->changes[i]);
    memory->current = memory->stable;
    memory->change_count = 0;
}

static struct content *content_named(const struct disk *disk, const char *name)
{
    const struct memory_disk *memory = of_const(disk);
    int at = folder_find(&memory->current, name);
    invariant(at >= 0);
    return (struct content *)(uintptr_t)&memory->files[memory->current.entries[at].file];
}

bool memory_disk_has(const struct disk *disk, const char *name)
{
    return folder_find(&of_const(disk)->current, name) >= 0;
}
uint32_t memory_disk_open_files(const struct disk *disk)
{
    uint32_t count = 0;
    for (int i = 0; i < HANDLES; i++)
        count += of_const(disk)->handles[i] != 0;
    return count;
}
uint64_t memory_disk_size(const struct disk *disk, const char *name)
{
    return content_named(disk, name)->size;
}
void memory_disk_peek(const struct disk *disk, const char *name, uint64_t offset, void *data, size_t bytes)
{
    const struct content *content = content_named(disk, name);
    invariant(offset + bytes <= content->size);
    memcpy(data, content->current + offset, bytes);
}
void memory_disk_poke(struct disk *disk, const char *name, uint64_t offset, const void *data, size_t bytes)
{
    struct content *content = content_named(disk, name);
    invariant(offset + bytes <= content->size);
    memcpy(content->current + offset, data, bytes);
    memcpy(content->stable + offset, data, bytes);
}
bool memory_disk_equal(const struct disk *a, const struct disk *b)
{
    const struct folder *left = &of_const(a)->current;
    bool equal = left->count == of_const(b)->current.count;
    for (int i = 0; equal && i < left->count; i++) {
        const char *name = left->entries[i].name;
        if (!memory_disk_has(b, name))
            return false;
        const struct content *x = content_named(a, name), *y = content_named(b, name);
        equal = x->size == y->size && (x->size == 0 || memcmp(x->current, y->current, x->size) == 0);
    }
    return equal;
}
