/* SPDX-License-Identifier: Apache-2.0 */
#include "config/fence.h"

#include "config/checked_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FILE_BYTES = 1024 };

/* A file of one number after a word, as `generation` and `fenced` are. */
static enum status number_write(struct disk *folder, const char *name, uint64_t number)
{
    char bytes[FILE_BYTES], temporary[DISK_NAME_MAX];
    struct text text = text_in(bytes, sizeof bytes);
    snprintf(temporary, sizeof temporary, "%s.tmp", name);
    text_format(&text, "stampede-%s 1\nnumber %" PRIu64 "\n", name, number);
    return checked_file_write(folder, temporary, name, &text);
}

static bool line_take(struct span *rest, const char *word, struct span *value)
{
    const struct span start = span_from_string(word);
    if (!span_take_until(rest, '\n', value) || !span_starts_with(*value, start))
        return false;
    *value = span_of(value->data + start.size, value->size - start.size);
    return true;
}

static enum status number_read(struct disk *folder, const char *name, uint64_t *number)
{
    char room[FILE_BYTES];
    struct span body, value;
    const enum status status = checked_file_read(folder, name, room, sizeof room, &body);
    if (status != STATUS_OK)
        return status;
    const bool good = line_take(&body, "stampede-", &value) && line_take(&body, "number ", &value)
        && body.size == 0 && span_to_u64(value, number) == STATUS_OK && *number > 0;
    return good ? STATUS_OK : STATUS_CORRUPT;
}

enum status generation_read(struct disk *folder, uint64_t *generation)
{
    const enum status status = number_read(folder, "generation", generation);
    if (status == STATUS_NOT_FOUND)
        *generation = 1;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status generation_write(struct disk *folder, uint64_t generation)
{
    return number_write(folder, "generation", generation);
}

enum status fenced_write(struct disk *folder, uint64_t generation)
{
    return number_write(folder, "fenced", generation);
}

enum status fenced_read(struct disk *folder, uint64_t *generation)
{
    const enum status status = number_read(folder, "fenced", generation);
    if (status == STATUS_NOT_FOUND)
        *generation = 0;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status following_read(struct disk *folder, struct following *following)
{
    char room[FILE_BYTES];
    struct span body, value, from, secret_file;
    const enum status status = checked_file_read(folder, FENCE_FOLLOWING_NAME, room, sizeof room, &body);
    if (status != STATUS_OK)
        return status;
    if (!line_take(&body, "stampede-following 1", &value) || !line_take(&body, "from ", &from)
        || !line_take(&body, "secret-file ", &secret_file) || body.size != 0
        || from.size >= CONFIG_TEXT || secret_file.size >= CONFIG_TEXT)
        return STATUS_CORRUPT;
    snprintf(following->from, CONFIG_TEXT, "%.*s", (int)from.size, from.data);
    snprintf(following->secret_file, CONFIG_TEXT, "%.*s", (int)secret_file.size, secret_file.data);
    return STATUS_OK;
}

enum status following_write(struct disk *folder, const struct following *following)
{
    char bytes[FILE_BYTES];
    struct text text = text_in(bytes, sizeof bytes);
    text_format(&text, "stampede-following 1\nfrom %s\nsecret-file %s\n", following->from,
        following->secret_file);
    return checked_file_write(folder, FENCE_FOLLOWING_NAME ".tmp", FENCE_FOLLOWING_NAME, &text);
}

enum status following_remove(struct disk *folder)
{
    const enum status status = folder->ops->remove(folder, FENCE_FOLLOWING_NAME);
    return status == STATUS_OK ? folder->ops->sync_folder(folder) : status;
}

enum status fence_check(struct disk *folder, char error[CONFIG_ERROR])
{
    struct following following;
    uint64_t fenced = 0;
    enum status status = following_read(folder, &following);
    if (status == STATUS_OK) {
        snprintf(error, CONFIG_ERROR,
            "the data folder is the copy of a follower: 'stampede follow takeover --data DIR' "
            "lets it sell in place of %.100s",
            following.from);
        return STATUS_CONFLICT;
    }
    if (status == STATUS_NOT_FOUND)
        status = fenced_read(folder, &fenced);
    if (status != STATUS_OK) {
        snprintf(error, CONFIG_ERROR,
            "the file following or fenced in the data folder can't be read: %s", status_name(status));
        return status;
    }
    if (fenced == 0)
        return STATUS_OK;
    snprintf(error, CONFIG_ERROR,
        "another machine has taken over this shop (generation %" PRIu64
        "): this data folder sells no more. Move it away and follow the other machine",
        fenced);
    return STATUS_CONFLICT;
}
