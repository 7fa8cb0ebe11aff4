/* SPDX-License-Identifier: Apache-2.0 */
#include "config/key_changes.h"

#include "config/checked_file.h"

#include <string.h>

static const char file_name[] = "admin-keys";
static const char file_temporary[] = "admin-keys.tmp";
#define FILE_WORD "stampede-admin-keys 1\n"
enum {
    LINE_BYTES = sizeof "made ::\n" + ADMIN_ROLE_CHARS_MAX + ADMIN_NAME_MAX + 2 * HASH_SHA256_BYTES,
    FILE_BYTES = 128 + 2 * ADMIN_KEYS_MAX * LINE_BYTES,
};

/* ---- the file ---- */

static void changes_format(const struct key_changes *changes, struct text *out)
{
    text_literal(out, FILE_WORD);
    for (uint32_t i = 0; i < changes->made.count; i++) {
        const struct admin_key *key = &changes->made.keys[i];
        char role[ADMIN_ROLE_CHARS_MAX + 1];
        text_format(out, "made %s:%s:", key->name, admin_right_text(&key->right, role));
        text_hex(out, span_of(key->hash, sizeof key->hash));
        text_literal(out, "\n");
    }
    for (uint32_t i = 0; i < changes->revoked_count; i++) {
        text_literal(out, "revoked ");
        text_hex(out, span_of(changes->revoked[i], HASH_SHA256_BYTES));
        text_literal(out, "\n");
    }
}

enum status key_changes_write(struct disk *folder, const struct key_changes *changes)
{
    char bytes[FILE_BYTES];
    struct text text = text_in(bytes, sizeof bytes);
    changes_format(changes, &text);
    return checked_file_write(folder, file_temporary, file_name, &text);
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
    struct span body;
    *changes = (struct key_changes){ 0 };
    const enum status status = checked_file_read(folder, file_name, bytes, sizeof bytes, &body);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    return status == STATUS_OK && !changes_parse(body, changes) ? STATUS_CORRUPT : status;
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
