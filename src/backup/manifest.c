/* SPDX-License-Identifier: Apache-2.0 */
#include "backup/manifest.h"

#include "base/text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_WORD "stampede-backup 1\n"
#define LAST_WORD "sha256 "
enum {
    READ_BYTES = 1024 * 1024,
    LINE_BYTES_MAX = 5 + 64 + 1 + 20 + 1 + 16 + DISK_NAME_MAX,
    HEAD_BYTES_MAX = 256,
    LAST_BYTES = sizeof LAST_WORD - 1 + 2 * HASH_SHA256_BYTES + 1,
};

const char *backup_part_prefix(enum backup_part part)
{
    static const char *const prefixes[] = { "", "journal/", "media/" };
    static_assert(sizeof prefixes / sizeof *prefixes == BACKUP_PARTS, "one for each");
    return prefixes[part];
}

enum status backup_folders_open(struct backup_folders *folders, const char *path, bool make)
{
    *folders = (struct backup_folders){ 0 };
    for (uint32_t i = 0; i < BACKUP_PARTS; i++) {
        char name[4096];
        struct stat entry;
        const int size = snprintf(name, sizeof name, "%s/%s", path, backup_part_prefix(i));
        if (size < 1 || (size_t)size >= sizeof name)
            return STATUS_BAD_INPUT;
        name[size - 1] = 0; /* without the last slash */
        if (!make && stat(name, &entry) != 0) {
            if (i == BACKUP_MEDIA)
                continue;
            return STATUS_NOT_FOUND;
        }
        const enum status status = disk_folder_open(name, &folders->part[i]);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

void backup_folders_close(struct backup_folders *folders)
{
    for (uint32_t i = 0; i < BACKUP_PARTS; i++)
        if (folders->part[i] != NULL)
            disk_folder_close(folders->part[i]);
    *folders = (struct backup_folders){ 0 };
}

void manifest_free(struct manifest *manifest)
{
    free(manifest->files);
    *manifest = (struct manifest){ 0 };
}

static struct backup_file *file_append(struct manifest *manifest)
{
    if (manifest->count == MANIFEST_FILES_MAX)
        return NULL;
    if (manifest->files == NULL)
        manifest->files = calloc(MANIFEST_FILES_MAX, sizeof *manifest->files);
    return manifest->files == NULL ? NULL : &manifest->files[manifest->count++];
}

static enum status file_hash(struct disk *disk, const char *name, uint64_t *bytes, uint8_t *digest)
{
    disk_file file = -1;
    size_t got = READ_BYTES;
    enum status status = disk->ops->open(disk, name, DISK_READ, &file);
    if (status != STATUS_OK)
        return status;
    uint8_t *buffer = malloc(READ_BYTES);
    invariant(buffer != NULL);
    struct hash_stream *stream = hash_stream_open();
    *bytes = 0;
    while (status == STATUS_OK && got == READ_BYTES) {
        status = disk->ops->read(disk, file, *bytes, buffer, READ_BYTES, &got);
        if (status == STATUS_OK)
            hash_stream_add(stream, buffer, got);
        *bytes += status == STATUS_OK ? got : 0;
    }
    hash_stream_end(stream, digest);
    free(buffer);
    disk->ops->close(disk, file);
    return status;
}

enum status manifest_add(struct manifest *manifest, struct backup_folders *folders,
    enum backup_part part, const char *name)
{
    struct backup_file *file = file_append(manifest);
    if (file == NULL)
        return STATUS_FULL;
    file->part = (uint8_t)part;
    snprintf(file->name, sizeof file->name, "%s", name);
    return file_hash(folders->part[part], name, &file->bytes, file->hash);
}

/* ---- the file ---- */

enum status manifest_write(struct disk *root, const struct manifest *manifest)
{
    const size_t room = HEAD_BYTES_MAX + (size_t)manifest->count * LINE_BYTES_MAX + LAST_BYTES + 1;
    char *bytes = malloc(room);
    uint8_t digest[HASH_SHA256_BYTES];
    invariant(bytes != NULL);
    struct text text = text_in(bytes, room);
    text_literal(&text, FILE_WORD);
    text_literal(&text, "data-id ");
    text_hex64(&text, manifest->data_id);
    text_format(&text,
        "\nposition %" PRIu64 "\njournal-end %" PRIu64 "\ntime %" PRIu64 "\nend-time %" PRIu64 "\n",
        manifest->position, manifest->journal_end, manifest->time_ms, manifest->end_ms);
    for (uint32_t i = 0; i < manifest->count; i++) {
        const struct backup_file *file = &manifest->files[i];
        text_literal(&text, "file ");
        text_hex(&text, span_of(file->hash, sizeof file->hash));
        text_format(
            &text, " %" PRIu64 " %s%s\n", file->bytes, backup_part_prefix(file->part), file->name);
    }
    hash_sha256(text.data, text.size, digest);
    text_literal(&text, LAST_WORD);
    text_hex(&text, span_of(digest, sizeof digest));
    text_literal(&text, "\n");
    invariant(!text.overflow);
    const enum status status =
        disk_replace(root, MANIFEST_NAME ".tmp", MANIFEST_NAME, text.data, text.size);
    free(bytes);
    return status;
}

static bool word_take(struct span *rest, const char *word)
{
    const struct span wanted = span_from_string(word);
    if (!span_starts_with(*rest, wanted))
        return false;
    *rest = span_of(rest->data + wanted.size, rest->size - wanted.size);
    return true;
}

static bool number_take(struct span *rest, const char *word, uint64_t *number)
{
    struct span digits;
    return word_take(rest, word) && span_take_until(rest, '\n', &digits)
        && span_to_u64(digits, number) == STATUS_OK;
}

static bool name_take(struct span name, struct backup_file *file)
{
    for (uint32_t part = BACKUP_PARTS - 1; part > 0; part--)
        if (word_take(&name, backup_part_prefix(part))) {
            file->part = (uint8_t)part;
            break;
        }
    if (name.size == 0 || name.size >= DISK_NAME_MAX || memchr(name.data, '/', name.size) != NULL
        || memchr(name.data, 0, name.size) != NULL || name.data[0] == '.')
        return false;
    memcpy(file->name, name.data, name.size);
    return true;
}

static bool file_take(struct span *rest, struct manifest *manifest)
{
    struct span hash, bytes, name;
    if (!word_take(rest, "file ") || !span_take_until(rest, ' ', &hash)
        || !span_take_until(rest, ' ', &bytes) || !span_take_until(rest, '\n', &name))
        return false;
    struct backup_file *file = file_append(manifest);
    return file != NULL && span_to_bytes(hash, file->hash, sizeof file->hash) == STATUS_OK
        && span_to_u64(bytes, &file->bytes) == STATUS_OK && name_take(name, file);
}

static bool manifest_parse(struct span rest, struct manifest *manifest)
{
    struct span id;
    if (!word_take(&rest, FILE_WORD) || !word_take(&rest, "data-id ")
        || !span_take_until(&rest, '\n', &id) || span_to_hex64(id, &manifest->data_id) != STATUS_OK
        || !number_take(&rest, "position ", &manifest->position)
        || !number_take(&rest, "journal-end ", &manifest->journal_end)
        || !number_take(&rest, "time ", &manifest->time_ms)
        || !number_take(&rest, "end-time ", &manifest->end_ms))
        return false;
    while (rest.size > 0)
        if (!file_take(&rest, manifest))
            return false;
    return true;
}

static bool hash_is_right(struct span body, struct span last)
{
    uint8_t digest[HASH_SHA256_BYTES], told[HASH_SHA256_BYTES];
    hash_sha256(body.data, body.size, digest);
    return word_take(&last, LAST_WORD) && last.size > 0 && last.data[last.size - 1] == '\n'
        && span_to_bytes(span_of(last.data, last.size - 1), told, sizeof told) == STATUS_OK
        && memcmp(told, digest, sizeof told) == 0;
}

enum status manifest_read(struct disk *root, struct manifest *manifest)
{
    disk_file file = -1;
    uint64_t bytes = 0;
    size_t got = 0;
    *manifest = (struct manifest){ 0 };
    enum status status = root->ops->open(root, MANIFEST_NAME, DISK_READ, &file);
    if (status != STATUS_OK)
        return status;
    status = root->ops->size(root, file, &bytes);
    if (status == STATUS_OK
        && (bytes < LAST_BYTES || bytes > HEAD_BYTES_MAX + (uint64_t)MANIFEST_FILES_MAX * LINE_BYTES_MAX))
        status = STATUS_CORRUPT;
    char *data = status == STATUS_OK ? malloc(bytes) : NULL;
    if (status == STATUS_OK)
        status = data == NULL ? STATUS_FULL : root->ops->read(root, file, 0, data, bytes, &got);
    root->ops->close(root, file);
    if (status == STATUS_OK) {
        const struct span body = span_of(data, bytes - LAST_BYTES);
        if (got != bytes || !hash_is_right(body, span_of(data + body.size, LAST_BYTES))
            || !manifest_parse(body, manifest))
            status = STATUS_CORRUPT;
    }
    free(data);
    if (status != STATUS_OK)
        manifest_free(manifest);
    return status;
}

enum status manifest_check(const struct manifest *manifest, struct backup_folders *folders,
    const struct backup_file **wrong)
{
    for (uint32_t i = 0; i < manifest->count; i++) {
        const struct backup_file *file = &manifest->files[i];
        uint8_t digest[HASH_SHA256_BYTES];
        uint64_t bytes = 0;
        enum status status = folders->part[file->part] == NULL
            ? STATUS_NOT_FOUND
            : file_hash(folders->part[file->part], file->name, &bytes, digest);
        if (status == STATUS_OK
            && (bytes != file->bytes || memcmp(digest, file->hash, sizeof digest) != 0))
            status = STATUS_CORRUPT;
        if (status == STATUS_OK)
            continue;
        *wrong = file;
        return status;
    }
    return STATUS_OK;
}
