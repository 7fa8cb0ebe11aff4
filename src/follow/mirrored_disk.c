/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/mirrored_disk.h"

#include <stdlib.h>
#include <string.h>

enum { OPEN_FILES_MAX = 64 }; /* that are written; the journal has about five */

struct mirrored {
    struct disk disk; /* first: a struct disk * from us is a struct mirrored * */
    struct disk *inner;
    struct mirror *mirror;
    enum mirror_part part;
    const char *awaited;
    struct { /* changed only between enter and leave */
        disk_file file;
        char name[DISK_NAME_MAX]; /* "": free */
    } files[OPEN_FILES_MAX];
};

static struct mirrored *mirrored_of(struct disk *disk)
{
    return (struct mirrored *)disk;
}

static void enter(struct mirrored *mirrored)
{
    mirrored->mirror->ops->enter(mirrored->mirror, mirrored->part);
}

static void leave(struct mirrored *mirrored)
{
    mirrored->mirror->ops->leave(mirrored->mirror, mirrored->part);
}

static uint64_t note(struct mirrored *mirrored, struct mirror_change change)
{
    change.part = mirrored->part;
    return mirrored->mirror->ops->note(mirrored->mirror, &change);
}

static const char *name_of(const struct mirrored *mirrored, disk_file file)
{
    for (int i = 0; i < OPEN_FILES_MAX; i++)
        if (mirrored->files[i].name[0] != 0 && mirrored->files[i].file == file)
            return mirrored->files[i].name;
    return NULL; /* it was opened for reading */
}

static void file_remember(struct mirrored *mirrored, const char *name, disk_file file)
{
    for (int i = 0; i < OPEN_FILES_MAX; i++)
        if (mirrored->files[i].name[0] == 0) {
            mirrored->files[i].file = file;
            memcpy(mirrored->files[i].name, name, strlen(name) + 1);
            return;
        }
    invariant(!"OPEN_FILES_MAX is below the number of files that are written");
}

static enum status mirrored_open(struct disk *disk, const char *name, enum disk_mode mode, disk_file *file)
{
    struct mirrored *mirrored = mirrored_of(disk);
    struct disk *inner = mirrored->inner;
    if (mode == DISK_READ)
        return inner->ops->open(inner, name, mode, file);
    enter(mirrored);
    const enum status status = inner->ops->open(inner, name, mode, file);
    if (status == STATUS_OK) {
        file_remember(mirrored, name, *file);
        if (mode == DISK_CREATE)
            note(mirrored, (struct mirror_change){ .kind = MIRROR_TRUNCATE, .name = name });
    }
    leave(mirrored);
    return status;
}

static void mirrored_close(struct disk *disk, disk_file file)
{
    struct mirrored *mirrored = mirrored_of(disk);
    enter(mirrored);
    for (int i = 0; i < OPEN_FILES_MAX; i++)
        if (mirrored->files[i].file == file)
            mirrored->files[i].name[0] = 0;
    mirrored->inner->ops->close(mirrored->inner, file);
    leave(mirrored);
}

static enum status mirrored_read(
    struct disk *disk, disk_file file, uint64_t offset, void *data, size_t bytes, size_t *got)
{
    struct disk *inner = mirrored_of(disk)->inner;
    return inner->ops->read(inner, file, offset, data, bytes, got);
}

static enum status mirrored_write(
    struct disk *disk, disk_file file, uint64_t offset, const void *data, size_t bytes)
{
    struct mirrored *mirrored = mirrored_of(disk);
    invariant(bytes <= UINT32_MAX);
    enter(mirrored);
    const char *name = name_of(mirrored, file);
    invariant(name != NULL);
    const enum status status = mirrored->inner->ops->write(mirrored->inner, file, offset, data, bytes);
    const struct mirror_change change = {
        .kind = MIRROR_WRITE, .name = name, .offset = offset, .data = data, .bytes = (uint32_t)bytes
    };
    if (status == STATUS_OK && bytes > 0)
        note(mirrored, change);
    leave(mirrored);
    return status;
}

/* The mirror may sync at the same time as this disk. */
static enum status mirrored_sync(struct disk *disk, disk_file file)
{
    struct mirrored *mirrored = mirrored_of(disk);
    uint64_t position = 0;
    bool awaited = false;
    enter(mirrored);
    const char *name = name_of(mirrored, file);
    if (name != NULL) {
        awaited = strncmp(name, mirrored->awaited, strlen(mirrored->awaited)) == 0;
        position = note(mirrored, (struct mirror_change){ .kind = MIRROR_SYNC, .name = name });
    }
    leave(mirrored);
    const enum status status = mirrored->inner->ops->sync(mirrored->inner, file);
    return status == STATUS_OK && awaited
        ? mirrored->mirror->ops->wait(mirrored->mirror, position, true)
        : status;
}

static enum status mirrored_size(struct disk *disk, disk_file file, uint64_t *bytes)
{
    struct disk *inner = mirrored_of(disk)->inner;
    return inner->ops->size(inner, file, bytes);
}

static enum status mirrored_truncate(struct disk *disk, disk_file file, uint64_t bytes)
{
    struct mirrored *mirrored = mirrored_of(disk);
    enter(mirrored);
    const char *name = name_of(mirrored, file);
    const enum status status = mirrored->inner->ops->truncate(mirrored->inner, file, bytes);
    if (status == STATUS_OK && name != NULL)
        note(mirrored, (struct mirror_change){ .kind = MIRROR_TRUNCATE, .name = name, .offset = bytes });
    leave(mirrored);
    return status;
}

static enum status mirrored_rename(struct disk *disk, const char *from, const char *to)
{
    struct mirrored *mirrored = mirrored_of(disk);
    enter(mirrored);
    const enum status status = mirrored->inner->ops->rename(mirrored->inner, from, to);
    if (status == STATUS_OK) {
        note(mirrored,
            (struct mirror_change){
                .kind = MIRROR_RENAME, .name = from, .data = to, .bytes = (uint32_t)strlen(to) });
        for (int i = 0; i < OPEN_FILES_MAX; i++)
            if (strcmp(mirrored->files[i].name, from) == 0)
                memcpy(mirrored->files[i].name, to, strlen(to) + 1);
    }
    leave(mirrored);
    return status;
}

static enum status mirrored_remove(struct disk *disk, const char *name)
{
    struct mirrored *mirrored = mirrored_of(disk);
    enter(mirrored);
    const enum status status = mirrored->inner->ops->remove(mirrored->inner, name);
    if (status == STATUS_OK)
        note(mirrored, (struct mirror_change){ .kind = MIRROR_REMOVE, .name = name });
    leave(mirrored);
    return status;
}

static enum status mirrored_sync_folder(struct disk *disk)
{
    struct mirrored *mirrored = mirrored_of(disk);
    note(mirrored, (struct mirror_change){ .kind = MIRROR_SYNC_FOLDER });
    return mirrored->inner->ops->sync_folder(mirrored->inner);
}

static enum status mirrored_list(struct disk *disk, const char *prefix,
    void (*each)(void *context, const char *name), void *context)
{
    struct disk *inner = mirrored_of(disk)->inner;
    return inner->ops->list(inner, prefix, each, context);
}

static const struct disk_ops mirrored_ops = {
    .open = mirrored_open,
    .close = mirrored_close,
    .read = mirrored_read,
    .write = mirrored_write,
    .sync = mirrored_sync,
    .size = mirrored_size,
    .truncate = mirrored_truncate,
    .rename = mirrored_rename,
    .remove = mirrored_remove,
    .sync_folder = mirrored_sync_folder,
    .list = mirrored_list,
};

enum status mirrored_disk_open(struct disk **disk, struct disk *inner, struct mirror *mirror,
    enum mirror_part part, const char *awaited)
{
    struct mirrored *mirrored = calloc(1, sizeof *mirrored);
    *disk = NULL;
    if (mirrored == NULL)
        return STATUS_FULL;
    mirrored->disk.ops = &mirrored_ops;
    mirrored->inner = inner;
    mirrored->mirror = mirror;
    mirrored->part = part;
    mirrored->awaited = awaited;
    *disk = &mirrored->disk;
    return STATUS_OK;
}

void mirrored_disk_close(struct disk *disk)
{
    free(disk);
}
