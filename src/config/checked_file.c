/* SPDX-License-Identifier: Apache-2.0 */
#include "config/checked_file.h"

#include "base/hash.h"

enum status checked_file_write(
    struct disk *folder, const char *temporary, const char *name, struct text *text)
{
    const uint64_t check = hash_crc32c(0, text->data, text->size);
    text_literal(text, CHECKED_FILE_WORD);
    text_hex64(text, check);
    text_literal(text, "\n");
    invariant(!text->overflow);
    return disk_replace(folder, temporary, name, text->data, text->size);
}

static bool check_is_right(const char *bytes, size_t size)
{
    uint64_t check = 0;
    const struct span last = span_of(bytes + size, CHECKED_FILE_BYTES);
    return span_starts_with(last, SPAN(CHECKED_FILE_WORD)) && last.data[CHECKED_FILE_BYTES - 1] == '\n'
        && span_to_hex64(span_of(last.data + sizeof CHECKED_FILE_WORD - 1, 16), &check) == STATUS_OK
        && check == hash_crc32c(0, bytes, size);
}

enum status checked_file_read(
    struct disk *folder, const char *name, char *room, size_t room_bytes, struct span *body)
{
    size_t got = 0;
    disk_file file = -1;
    enum status status = folder->ops->open(folder, name, DISK_READ, &file);
    if (status != STATUS_OK)
        return status;
    status = folder->ops->read(folder, file, 0, room, room_bytes, &got);
    folder->ops->close(folder, file);
    if (status != STATUS_OK)
        return status;
    if (got < CHECKED_FILE_BYTES || got == room_bytes || !check_is_right(room, got - CHECKED_FILE_BYTES))
        return STATUS_CORRUPT;
    *body = span_of(room, got - CHECKED_FILE_BYTES);
    return STATUS_OK;
}
