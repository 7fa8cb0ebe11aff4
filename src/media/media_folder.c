/* SPDX-License-Identifier: Apache-2.0 */
#include "media/media_folder.h"

#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "media/picture_clean.h"

#include <stdio.h>
#include <stdlib.h>

#define NEW_ENDING ".new" /* a file that has no name yet */

struct body { /* what is in memory; never freed before the end */
    struct body *next;
    size_t size;
    char bytes[];
};
struct media_folder {
    struct disk *disk;
    uint64_t quota, used;
    struct body *bodies;
    uint32_t count;
    struct media_file files[MEDIA_FILES_MAX]; /* by name */
};

static void name_make(enum picture_format format, struct span bytes, char name[MEDIA_NAME_CHARS_MAX + 1])
{
    uint8_t digest[HASH_SHA256_BYTES];
    struct text text = text_in(name, MEDIA_NAME_CHARS_MAX);
    hash_sha256(bytes.data, bytes.size, digest);
    text_hex(&text, span_of(digest, MEDIA_HASH_CHARS / 2));
    text_literal(&text, ".");
    text_string(&text, picture_extension(format));
    invariant(!text.overflow);
    name[text.size] = 0;
}

/* Where the name is, or would be. */
static uint32_t place_of(const struct media_file *files, uint32_t count, struct span name, bool *found)
{
    uint32_t low = 0, high = count;
    *found = false;
    while (low < high && !*found) {
        const uint32_t middle = low + (high - low) / 2;
        const struct span here = span_from_string(files[middle].name);
        const size_t common = here.size < name.size ? here.size : name.size;
        const int order = memcmp(here.data, name.data, common);
        *found = order == 0 && here.size == name.size;
        if (*found)
            return middle;
        if (order < 0 || (order == 0 && here.size < name.size))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void file_keep(
    struct media_folder *folder, const char *name, enum picture_format format, struct body *body)
{
    bool found;
    const uint32_t at = place_of(folder->files, folder->count, span_from_string(name), &found);
    invariant(!found && folder->count < MEDIA_FILES_MAX);
    memmove(&folder->files[at + 1], &folder->files[at], (folder->count - at) * sizeof *folder->files);
    struct media_file *file = &folder->files[at];
    *file = (struct media_file){ .format = format, .body = span_of(body->bytes, body->size) };
    snprintf(file->name, sizeof file->name, "%s", name);
    folder->count++;
    body->next = folder->bodies;
    folder->bodies = body;
    folder->used += body->size;
}

static struct body *body_take(size_t size)
{
    struct body *body = malloc(sizeof *body + size);
    if (body != NULL)
        *body = (struct body){ .size = size };
    return body;
}

/* ---- loading */

static struct body *body_read(struct disk *disk, const char *name)
{
    disk_file file;
    uint64_t size = 0;
    size_t got = 0;
    struct body *body = NULL;
    if (disk->ops->open(disk, name, DISK_READ, &file) != STATUS_OK)
        return NULL;
    if (disk->ops->size(disk, file, &size) == STATUS_OK && size > 0 && size <= PICTURE_KEPT_BYTES_MAX)
        body = body_take((size_t)size);
    if (body != NULL
        && (disk->ops->read(disk, file, 0, body->bytes, body->size, &got) != STATUS_OK
            || got != body->size)) {
        free(body);
        body = NULL;
    }
    disk->ops->close(disk, file);
    return body;
}

static void file_load(void *context, const char *name)
{
    struct media_folder *folder = context;
    char wanted[MEDIA_NAME_CHARS_MAX + 1] = "";
    if (span_ends_with(span_from_string(name), SPAN(NEW_ENDING))) {
        (void)folder->disk->ops->remove(folder->disk, name); /* of a start that was cut short */
        return;
    }
    struct body *body = body_read(folder->disk, name);
    const enum picture_format format =
        body == NULL ? PICTURE_UNKNOWN : picture_format_of(span_of(body->bytes, body->size));
    if (format != PICTURE_UNKNOWN)
        name_make(format, span_of(body->bytes, body->size), wanted);
    if (strcmp(name, wanted) == 0 && folder->count < MEDIA_FILES_MAX) {
        file_keep(folder, name, format, body);
        return;
    }
    log_error("media", "%s is not shown: %s", name,
        folder->count == MEDIA_FILES_MAX ? "there are too many pictures"
                                         : "its content does not match its name");
    free(body);
}

enum status media_folder_open(struct media_folder **opened, struct disk *disk, uint64_t quota_bytes)
{
    struct media_folder *folder = calloc(1, sizeof *folder);
    *opened = NULL;
    if (folder == NULL) {
        disk_folder_close(disk);
        return STATUS_FULL;
    }
    folder->disk = disk;
    folder->quota = quota_bytes;
    const enum status status = disk->ops->list(disk, "", file_load, folder);
    if (status == STATUS_OK)
        *opened = folder;
    else
        media_folder_close(folder);
    return status;
}

void media_folder_close(struct media_folder *folder)
{
    if (folder == NULL)
        return;
    while (folder->bodies != NULL) {
        struct body *body = folder->bodies;
        folder->bodies = body->next;
        free(body);
    }
    disk_folder_close(folder->disk);
    free(folder);
}

/* ---- changing */

/* The bytes under a name that means nothing, then its real name. */
static enum status file_write(struct disk *disk, const char *name, struct span bytes)
{
    char fresh[DISK_NAME_MAX];
    disk_file file;
    snprintf(fresh, sizeof fresh, "%s" NEW_ENDING, name);
    (void)disk->ops->remove(disk, fresh); /* of an attempt that failed */
    enum status status = disk->ops->open(disk, fresh, DISK_CREATE, &file);
    if (status != STATUS_OK)
        return status;
    status = disk->ops->write(disk, file, 0, bytes.data, bytes.size);
    if (status == STATUS_OK)
        status = disk->ops->sync(disk, file);
    disk->ops->close(disk, file);
    if (status == STATUS_OK)
        status = disk->ops->rename(disk, fresh, name);
    if (status == STATUS_OK)
        return disk->ops->sync_folder(disk);
    (void)disk->ops->remove(disk, fresh);
    return status;
}

enum status media_folder_add(struct media_folder *folder, enum picture_format format,
    struct span bytes, char name[MEDIA_NAME_CHARS_MAX + 1])
{
    bool found;
    invariant(format != PICTURE_UNKNOWN && bytes.size > 0);
    name_make(format, bytes, name);
    (void)place_of(folder->files, folder->count, span_from_string(name), &found);
    if (found)
        return STATUS_OK;
    if (folder->count == MEDIA_FILES_MAX || folder->used + bytes.size > folder->quota)
        return STATUS_FULL;
    struct body *body = body_take(bytes.size);
    if (body == NULL)
        return STATUS_FULL;
    const enum status status = file_write(folder->disk, name, bytes);
    if (status != STATUS_OK) {
        free(body);
        return status;
    }
    memcpy(body->bytes, bytes.data, bytes.size);
    file_keep(folder, name, format, body);
    return STATUS_OK;
}

enum status media_folder_remove(struct media_folder *folder, struct span name)
{
    bool found;
    const uint32_t at = place_of(folder->files, folder->count, name, &found);
    if (!found)
        return STATUS_NOT_FOUND;
    enum status status = folder->disk->ops->remove(folder->disk, folder->files[at].name);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND) /* somebody was faster */
        status = folder->disk->ops->sync_folder(folder->disk);
    if (status != STATUS_OK)
        return status;
    folder->count--;
    memmove(&folder->files[at], &folder->files[at + 1], (folder->count - at) * sizeof *folder->files);
    return STATUS_OK;
}

uint64_t media_folder_used(const struct media_folder *folder)
{
    return folder->used;
}

struct media_set *media_set_make(const struct media_folder *folder)
{
    struct media_set *set = malloc(sizeof *set + folder->count * sizeof *set->files);
    invariant(set != NULL);
    set->count = folder->count;
    memcpy(set->files, folder->files, folder->count * sizeof *set->files);
    return set;
}

const struct media_file *media_set_find(const struct media_set *set, struct span name)
{
    bool found;
    const uint32_t at = place_of(set->files, set->count, name, &found);
    return found ? &set->files[at] : NULL;
}
