/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/wire.h"

#include "base/bytes.h"

#include <assert.h>
#include <string.h>

/* ---- the greeting ---- */

void wire_greeting_put(uint8_t out[WIRE_GREETING_BYTES], const uint8_t caller[WIRE_NONCE_BYTES])
{
    memcpy(out, WIRE_GREETING, 8);
    memcpy(out + 8, caller, WIRE_NONCE_BYTES);
}

enum status wire_greeting_read(struct span bytes, uint8_t caller[WIRE_NONCE_BYTES])
{
    if (bytes.size != WIRE_GREETING_BYTES || memcmp(bytes.data, WIRE_GREETING, 8) != 0)
        return STATUS_BAD_INPUT;
    memcpy(caller, bytes.data + 8, WIRE_NONCE_BYTES);
    return STATUS_OK;
}

static void keyed(struct span secret, const char label[16], const uint8_t caller[WIRE_NONCE_BYTES],
    const uint8_t served[WIRE_NONCE_BYTES], uint8_t out[HASH_SHA256_BYTES])
{
    uint8_t message[16 + 2 * WIRE_NONCE_BYTES];
    memcpy(message, label, 16);
    memcpy(message + 16, caller, WIRE_NONCE_BYTES);
    memcpy(message + 16 + WIRE_NONCE_BYTES, served, WIRE_NONCE_BYTES);
    hash_hmac_sha256(secret.data, secret.size, message, sizeof message, out);
}

void wire_proof(struct span secret, bool server, const uint8_t caller[WIRE_NONCE_BYTES],
    const uint8_t served[WIRE_NONCE_BYTES], uint8_t proof[WIRE_PROOF_BYTES])
{
    keyed(secret, server ? "follow server v1" : "follow caller v1", caller, served, proof);
}

void wire_keys_make(struct span secret, const uint8_t caller[WIRE_NONCE_BYTES],
    const uint8_t served[WIRE_NONCE_BYTES], struct wire_keys *keys)
{
    keyed(secret, "follow key up v1", caller, served, keys->to_server);
    keyed(secret, "follow key dn v1", caller, served, keys->to_caller);
}

/* ---- words ---- */

enum {
    WORD_AT_KIND = 0,
    WORD_AT_REASON = 1,
    WORD_AT_WHOLE = 2,
    WORD_AT_SELLS = 3,
    WORD_AT_VERSION = 4,
    WORD_AT_RESUMES = 5,
    WORD_AT_ZERO = 6,
    WORD_AT_DATA_ID = 8,
    WORD_AT_GENERATION = 16,
    WORD_AT_EPOCH = 24,
    WORD_AT_POSITION = 32,
    WORD_AT_HEAD = 40,
    WORD_AT_REST = 48, /* zeros */
};

void wire_word_put(uint8_t out[WIRE_WORD_BYTES], const struct wire_word *word)
{
    memset(out, 0, WIRE_WORD_BYTES);
    out[WORD_AT_KIND] = (uint8_t)word->kind;
    out[WORD_AT_REASON] = (uint8_t)word->reason;
    out[WORD_AT_WHOLE] = word->whole;
    out[WORD_AT_SELLS] = word->sells;
    out[WORD_AT_VERSION] = WIRE_VERSION;
    out[WORD_AT_RESUMES] = word->resumes;
    bytes_put_u64(out + WORD_AT_DATA_ID, word->data_id);
    bytes_put_u64(out + WORD_AT_GENERATION, word->generation);
    bytes_put_u64(out + WORD_AT_EPOCH, word->epoch);
    bytes_put_u64(out + WORD_AT_POSITION, word->position);
    bytes_put_u64(out + WORD_AT_HEAD, word->head);
}

static bool all_zero(const uint8_t *data, size_t bytes)
{
    uint8_t any = 0;
    for (size_t i = 0; i < bytes; i++)
        any |= data[i];
    return any == 0;
}

static bool about_selling(uint8_t kind)
{
    return kind == WIRE_ASK || kind == WIRE_FENCE || kind == WIRE_ANSWER || kind == WIRE_REFUSED
        || kind == WIRE_FENCED;
}

enum status wire_word_read(struct span bytes, struct wire_word *word)
{
    const uint8_t *data = (const uint8_t *)bytes.data;
    if (bytes.size != WIRE_WORD_BYTES || data[WORD_AT_KIND] == 0 || data[WORD_AT_VERSION] == 0)
        return STATUS_BAD_INPUT;
    if (data[WORD_AT_VERSION] != WIRE_VERSION && !about_selling(data[WORD_AT_KIND])) {
        *word = (struct wire_word){ .version = data[WORD_AT_VERSION] };
        return STATUS_CONFLICT;
    }
    if (data[WORD_AT_KIND] >= WIRE_WORD_KINDS || data[WORD_AT_REASON] >= WIRE_REASONS
        || data[WORD_AT_WHOLE] > 1 || data[WORD_AT_SELLS] > 1 || data[WORD_AT_RESUMES] > 1
        || !all_zero(data + WORD_AT_ZERO, 2)
        || !all_zero(data + WORD_AT_REST, WIRE_WORD_BYTES - WORD_AT_REST))
        return STATUS_BAD_INPUT;
    *word = (struct wire_word){ .kind = (enum wire_word_kind)data[WORD_AT_KIND],
        .reason = (enum wire_reason)data[WORD_AT_REASON],
        .version = data[WORD_AT_VERSION],
        .whole = data[WORD_AT_WHOLE] != 0,
        .resumes = data[WORD_AT_RESUMES] != 0,
        .sells = data[WORD_AT_SELLS] != 0,
        .data_id = bytes_get_u64(data + WORD_AT_DATA_ID),
        .generation = bytes_get_u64(data + WORD_AT_GENERATION),
        .epoch = bytes_get_u64(data + WORD_AT_EPOCH),
        .position = bytes_get_u64(data + WORD_AT_POSITION),
        .head = bytes_get_u64(data + WORD_AT_HEAD) };
    return STATUS_OK;
}

enum status wire_names_read(struct span record, struct span *names, bool *more)
{
    if (record.size == 0 || record.size > WIRE_NAMES_BYTES
        || (record.size - 1) % HASH_SHA256_BYTES != 0 || (uint8_t)record.data[0] > 1)
        return STATUS_BAD_INPUT;
    *more = record.data[0] != 0;
    *names = span_of(record.data + 1, record.size - 1);
    return STATUS_OK;
}

/* ---- changes ---- */

const char *wire_part_folder(enum mirror_part part)
{
    static const char *const folders[] = { ".", "journal", "media", "sandbox" };
    static_assert(sizeof folders / sizeof *folders == MIRROR_PARTS, "each part has a folder");
    return folders[part];
}

uint32_t wire_change_put(uint8_t *out, const struct mirror_change *change)
{
    const size_t name = change->name == NULL ? 0 : strlen(change->name);
    invariant(name < DISK_NAME_MAX && change->bytes <= WIRE_DATA_MAX);
    out[0] = (uint8_t)change->kind;
    out[1] = (uint8_t)change->part;
    out[2] = (uint8_t)name;
    out[3] = 0;
    bytes_put_u32(out + 4, change->bytes);
    bytes_put_u64(out + 8, change->offset);
    if (name > 0)
        memcpy(out + WIRE_HEAD_BYTES, change->name, name);
    if (change->bytes > 0)
        memcpy(out + WIRE_HEAD_BYTES + name, change->data, change->bytes);
    return (uint32_t)(WIRE_HEAD_BYTES + name + change->bytes);
}

bool wire_name_good(enum mirror_part part, struct span name)
{
    /* What each machine has for itself. The database's shared memory is made anew by its opener. */
    static const char *const own[] = { "lock", "following", "fenced", "follow-state", "stampede.db-shm" };
    if (name.size == 0 || name.size >= DISK_NAME_MAX || name.data[0] == '.')
        return false;
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
            || c == '.' || c == '_' || c == '-';
        if (!good)
            return false;
    }
    for (size_t i = 0; part == MIRROR_ROOT && i < sizeof own / sizeof *own; i++)
        if (span_equal(name, span_from_string(own[i])))
            return false;
    return true;
}

static bool has_name(enum mirror_kind kind)
{
    return kind != MIRROR_SYNC_FOLDER && kind != MIRROR_BASE_BEGIN && kind != MIRROR_BASE_END;
}

/* A block of the old copy: at the start of one, no longer than one, from a file that may be there. */
static bool same_fits(const struct mirror_change *change, struct span data)
{
    if (data.size <= 4 || change->offset % WIRE_DATA_MAX != 0 || change->offset > WIRE_FILE_MAX)
        return false;
    const uint32_t bytes = bytes_get_u32(change->data);
    return bytes > 0 && bytes <= WIRE_DATA_MAX
        && wire_name_good(change->part, span_of(data.data + 4, data.size - 4));
}

/* Which of offset and data a kind has, and their bounds. */
static bool change_fits(const struct mirror_change *change)
{
    const struct span data = span_of(change->data, change->bytes);
    switch (change->kind) {
    case MIRROR_WRITE:
        return change->bytes > 0 && change->offset <= WIRE_FILE_MAX;
    case MIRROR_ZEROS:
        return change->bytes == 8 && change->offset <= WIRE_FILE_MAX
            && bytes_get_u64(change->data) <= WIRE_ZEROS_MAX;
    case MIRROR_TRUNCATE:
        return change->bytes == 0 && change->offset <= WIRE_FILE_MAX;
    case MIRROR_RENAME:
        return change->offset == 0 && wire_name_good(change->part, data);
    case MIRROR_SYNC:
    case MIRROR_REMOVE:
    case MIRROR_SYNC_FOLDER:
    case MIRROR_BASE_BEGIN:
    case MIRROR_BASE_END:
        return change->bytes == 0 && change->offset == 0;
    case MIRROR_SAME:
        return same_fits(change, data);
    case MIRROR_KINDS:
        break;
    }
    return false;
}

enum status wire_change_read(
    struct span bytes, struct mirror_change *change, char name[DISK_NAME_MAX], uint32_t *used)
{
    const uint8_t *data = (const uint8_t *)bytes.data;
    *used = 0;
    if (bytes.size < WIRE_HEAD_BYTES)
        return STATUS_OK;
    const uint32_t name_bytes = data[2], data_bytes = bytes_get_u32(data + 4);
    if (data[0] == 0 || data[0] >= MIRROR_KINDS || data[1] >= MIRROR_PARTS || data[3] != 0
        || data_bytes > WIRE_DATA_MAX || name_bytes >= DISK_NAME_MAX
        || has_name((enum mirror_kind)data[0]) != (name_bytes > 0))
        return STATUS_BAD_INPUT;
    if (bytes.size < WIRE_HEAD_BYTES + name_bytes + data_bytes)
        return STATUS_OK;
    const struct mirror_change found = { .kind = (enum mirror_kind)data[0],
        .part = (enum mirror_part)data[1],
        .name = name_bytes > 0 ? name : NULL,
        .offset = bytes_get_u64(data + 8),
        .data = data + WIRE_HEAD_BYTES + name_bytes,
        .bytes = data_bytes };
    const struct span named = span_of(data + WIRE_HEAD_BYTES, name_bytes);
    if ((name_bytes > 0 && !wire_name_good(found.part, named)) || !change_fits(&found))
        return STATUS_BAD_INPUT;
    memcpy(name, named.data, name_bytes);
    name[name_bytes] = 0;
    *change = found;
    *used = WIRE_HEAD_BYTES + name_bytes + data_bytes;
    return STATUS_OK;
}
