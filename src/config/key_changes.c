/* SPDX-License-Identifier: Apache-2.0 */
#include "config/key_changes.h"

#include "base/text.h"

#include <string.h>

static const char file_name[] = "admin-keys";
static const char file_temporary[] = "admin-keys.tmp";
#define FILE_WORD "stampede-admin-keys 1\n"
#define CHECK_WORD "crc32c "
enum {
    LINE_BYTES = sizeof "made operator::\n" + ADMIN_NAME_MAX + 2 * HASH_SHA256_BYTES,
    FILE_BYTES = 128 + 2 * ADMIN_KEYS_MAX * LINE_BYTES,
    CHECK_BYTES = sizeof CHECK_WORD - 1 + 16 + 1,
};

/* ---- the file ---- */

static void changes_format(const struct key_changes *changes, struct text *out)
{
    text_literal(out, FILE_WORD);
    for (uint32_t i = 0; i < changes->made.count; i++) {
        const struct admin_key *key = &changes->made.keys[i];
        text_format(out, "made %s:%s:", key->name, admin_role_name(key->role));
        text_hex(out, span_of(key->hash, sizeof key->hash));
        text_literal(out, "\n");
    }
    for (uint32_t i = 0; i < changes->revoked_count; i++) {
        text_literal(out, "revoked ");
        text_hex(out, span_of(changes->revoked[i], HASH_SHA256_BYTES));
        text_literal(out, "\n");
    }
    const uint64_t check = hash_crc32c(0, out->data, out->size);
    text_literal(out, CHECK_WORD);
    text_hex64(out, check);
    text_literal(out, "\n");
    invariant(!out->overflow);
}

enum status key_changes_write(struct disk *folder, const struct key_changes *changes)
{
    char bytes[FILE_BYTES];
    struct text text = text_in(bytes, sizeof bytes);
    disk_file file = -1;
    changes_format(changes, &text);
    enum status status = folder->ops->remove(folder, file_temporary);
    if (status == STATUS_OK || status == STATUS_NOT_FOUND)
        status = folder->ops->open(folder, file_temporary, DISK_CREATE, &file);
    if (status != STATUS_OK)
        return status;
    status = folder->ops->write(folder, file, 0, bytes, text.size);
    if (status == STATUS_OK)
        status = folder->ops->sync(folder, file);
    folder->ops->close(folder, file);
    if (status == STATUS_OK)
        status = folder->ops->rename(folder, file_temporary, file_name);
    return status == STATUS_OK ? folder->ops->sync_folder(folder) : status;
}

static bool line_read(struct key_changes *changes, struct span line)
{
    struct span word;
    if (!span_take_until(&line, ' ', &word))
        return false;
    if (span_equal(word, SPAN("made"))) {
        struct admin_key *key = &changes->made.keys[changes->made.count];
        return changes->made.count++ < ADMIN_KEYS_MAX && admin_key_parse(line, key) && !key->password;
    }
    return span_equal(word, SPAN("revoked")) && changes->revoked_count < ADMIN_KEYS_MAX
        && admin_hash_parse(line, changes->revoked[changes->revoked_count++]);
}

static bool changes_parse(struct span rest, struct key_changes *changes)
{
    struct span line;
    if (!span_starts_with(rest, SPAN(FILE_WORD)))
        return false;
    rest = span_of(rest.data + sizeof FILE_WORD - 1, rest.size - (sizeof FILE_WORD - 1));
    while (rest.size > 0)
        if (!span_take_until(&rest, '\n', &line) || !line_read(changes, line))
            return false;
    return true;
}

enum status key_changes_read(struct disk *folder, struct key_changes *changes)
{
    char bytes[FILE_BYTES + 1];
    size_t got = 0;
    uint64_t check = 0;
    disk_file file = -1;
    *changes = (struct key_changes){ 0 };
    enum status status = folder->ops->open(folder, file_name, DISK_READ, &file);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    if (status != STATUS_OK)
        return status;
    status = folder->ops->read(folder, file, 0, bytes, sizeof bytes, &got);
    folder->ops->close(folder, file);
    if (status != STATUS_OK)
        return status;
    if (got < CHECK_BYTES || got == sizeof bytes)
        return STATUS_CORRUPT;
    const struct span last = span_of(bytes + got - CHECK_BYTES, CHECK_BYTES);
    const bool good = span_starts_with(last, SPAN(CHECK_WORD)) && last.data[CHECK_BYTES - 1] == '\n'
        && span_to_hex64(span_of(last.data + sizeof CHECK_WORD - 1, 16), &check) == STATUS_OK
        && check == hash_crc32c(0, bytes, got - CHECK_BYTES)
        && changes_parse(span_of(bytes, got - CHECK_BYTES), changes);
    return good ? STATUS_OK : STATUS_CORRUPT;
}

/* ---- what it says ---- */

static bool is_revoked(const struct key_changes *changes, const uint8_t hash[HASH_SHA256_BYTES])
{
    for (uint32_t i = 0; i < changes->revoked_count; i++)
        if (memcmp(changes->revoked[i], hash, HASH_SHA256_BYTES) == 0)
            return true;
    return false;
}

enum status key_changes_apply(
    const struct key_changes *changes, const struct admin_keys *file, struct admin_keys *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < file->count; i++)
        if (!is_revoked(changes, file->keys[i].hash))
            out->keys[out->count++] = file->keys[i];
    for (uint32_t i = 0; i < changes->made.count; i++) {
        if (out->count == ADMIN_KEYS_MAX)
            return STATUS_FULL;
        out->keys[out->count++] = changes->made.keys[i];
    }
    return STATUS_OK;
}

void key_changes_trim(struct key_changes *changes, const struct admin_keys *file)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < changes->revoked_count; i++)
        if (admin_keys_find_hash(file, changes->revoked[i]) != NULL)
            memmove(changes->revoked[kept++], changes->revoked[i], HASH_SHA256_BYTES);
    changes->revoked_count = kept;
}

static bool is_named(const struct admin_key *key, struct span name, bool password)
{
    return key->password == password && span_equal(name, span_from_string(key->name));
}

void key_changes_revoke(
    struct key_changes *changes, const struct admin_keys *file, struct span name, bool password)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < changes->made.count; i++)
        if (!is_named(&changes->made.keys[i], name, password))
            changes->made.keys[kept++] = changes->made.keys[i];
    changes->made.count = kept;
    key_changes_trim(changes, file); /* no more than the file has lines, so there is room */
    for (uint32_t i = 0; i < file->count; i++)
        if (is_named(&file->keys[i], name, password) && !is_revoked(changes, file->keys[i].hash))
            memcpy(changes->revoked[changes->revoked_count++], file->keys[i].hash, HASH_SHA256_BYTES);
}
