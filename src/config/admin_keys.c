/* SPDX-License-Identifier: Apache-2.0 */
#include "config/admin_keys.h"

#include "base/base64.h"
#include "base/random.h"

#include <stdio.h>
#include <string.h>

enum { WEAK_KEY_MAX = 256, KEY_SECRET_BYTES = 32 };

static const char *const role_names[] = { "nobody", "channel", "viewer", "operator", "admin" };
static const struct span channel_prefix = SPAN("channel=");

const char *admin_role_name(enum admin_role role)
{
    return role_names[role];
}

const char *admin_right_text(const struct admin_right *right, char out[ADMIN_ROLE_CHARS_MAX + 1])
{
    snprintf(out, ADMIN_ROLE_CHARS_MAX + 1, "%s%s%s", admin_role_name(right->role),
        right->role == ADMIN_CHANNEL ? "=" : "", right->channel);
    return out;
}

/* The names that channels.names may have. The shop's own page has no key: its orders are paid by people. */
static bool channel_is_good(struct span name)
{
    if (name.size == 0 || name.size > CHANNEL_NAME_MAX || span_equal(name, SPAN("web")))
        return false;
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
            return false;
    }
    return true;
}

struct admin_right admin_right_read(struct span text)
{
    struct admin_right right = { .role = ADMIN_NOBODY };
    for (int role = ADMIN_VIEWER; role <= ADMIN_ADMIN; role++)
        if (span_equal(text, span_from_string(role_names[role])))
            right.role = (enum admin_role)role;
    if (!span_starts_with(text, channel_prefix))
        return right;
    const struct span name = span_of(text.data + channel_prefix.size, text.size - channel_prefix.size);
    if (channel_is_good(name)) {
        right.role = ADMIN_CHANNEL;
        memcpy(right.channel, name.data, name.size);
    }
    return right;
}

static bool hex_read(struct span text, uint8_t *bytes, size_t count)
{
    if (text.size != 2 * count)
        return false;
    for (size_t word = 0; word < count / 8; word++) {
        uint64_t value;
        if (span_to_hex64(span_of(text.data + 16 * word, 16), &value) != STATUS_OK)
            return false;
        for (size_t byte = 0; byte < 8; byte++)
            bytes[8 * word + byte] = (uint8_t)(value >> (56 - 8 * byte));
    }
    return true;
}

bool admin_key_parse(struct span line, struct admin_key *key)
{
    struct span name, role, salt;
    if (!span_take_until(&line, ':', &name) || !span_take_until(&line, ':', &role))
        return false;
    if (name.size == 0 || name.size > ADMIN_NAME_MAX)
        return false;
    *key = (struct admin_key){ .right = admin_right_read(role) };
    memcpy(key->name, name.data, name.size);
    key->password = span_starts_with(line, SPAN("scrypt:"));
    if (key->password) {
        line = span_of(line.data + 7, line.size - 7);
        if (!span_take_until(&line, ':', &salt) || !hex_read(salt, key->salt, sizeof key->salt))
            return false;
    }
    if (key->password && key->right.role == ADMIN_CHANNEL)
        return false; /* the console is for people */
    return key->right.role != ADMIN_NOBODY && hex_read(line, key->hash, sizeof key->hash);
}

bool admin_hash_parse(struct span hex, uint8_t hash[HASH_SHA256_BYTES])
{
    return hex_read(hex, hash, HASH_SHA256_BYTES);
}

/* A line more; NULL: it fits, else why not. */
static const char *line_add(struct admin_keys *keys, struct span line)
{
    if (keys->count == ADMIN_KEYS_MAX)
        return "too many lines";
    struct admin_key *key = &keys->keys[keys->count];
    if (!admin_key_parse(line, key))
        return "not name:role:sha256 or name:role:scrypt:salt:hash";
    if (key->password && admin_keys_find_password(keys, span_from_string(key->name)) != NULL)
        return "a second password of the same name";
    keys->count++;
    return NULL;
}

enum status admin_keys_load(struct admin_keys *keys, const char *path, char error[ADMIN_ERROR])
{
    char line[256];
    unsigned number = 0;
    *keys = (struct admin_keys){ 0 };
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        snprintf(error, ADMIN_ERROR, "admin keys %.120s: can't be read", path);
        return STATUS_IO;
    }
    enum status status = STATUS_OK;
    while (status == STATUS_OK && fgets(line, sizeof line, file) != NULL) {
        struct span text = span_of(line, strcspn(line, "\r\n"));
        number++;
        if (text.size == 0 || text.data[0] == '#')
            continue;
        const char *wrong = line_add(keys, text);
        if (wrong != NULL) {
            snprintf(error, ADMIN_ERROR, "admin keys %.100s line %u: %s", path, number, wrong);
            status = STATUS_BAD_INPUT;
        }
    }
    fclose(file);
    return status;
}

bool admin_name_is_good(struct span name)
{
    if (name.size == 0 || name.size > ADMIN_NAME_MAX || name.data[0] == '#')
        return false;
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] <= ' ' || name.data[i] > '~' || name.data[i] == ':')
            return false;
    return true;
}

void admin_key_make(char key[ADMIN_KEY_CHARS + 1])
{
    uint8_t secret[KEY_SECRET_BYTES];
    random_secret(secret, sizeof secret);
    memcpy(key, "sk_", 3);
    const size_t chars = base64_encode(secret, sizeof secret, key + 3);
    invariant(3 + chars == ADMIN_KEY_CHARS);
    key[ADMIN_KEY_CHARS] = 0;
    explicit_bzero(secret, sizeof secret);
}

/* The file has hashes only, so a weak key is found out when it is shown. */
static bool key_is_strong(struct span key)
{
    if (key.size != ADMIN_KEY_CHARS || !span_starts_with(key, SPAN("sk_")))
        return false;
    for (size_t i = 3; i < key.size; i++) {
        const char c = key.data[i];
        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'
                || c == '_'))
            return false;
    }
    return true;
}

const struct admin_key *admin_keys_find_hash(
    const struct admin_keys *keys, const uint8_t hash[HASH_SHA256_BYTES])
{
    const struct admin_key *found = NULL;
    for (uint32_t i = 0; i < keys->count; i++)
        if (span_equal_constant_time(
                span_of(hash, HASH_SHA256_BYTES), span_of(keys->keys[i].hash, HASH_SHA256_BYTES)))
            found = &keys->keys[i];
    return found;
}

const struct admin_key *admin_keys_find_password(const struct admin_keys *keys, struct span name)
{
    const struct admin_key *found = NULL;
    for (uint32_t i = 0; i < keys->count; i++)
        if (keys->keys[i].password && span_equal(name, span_from_string(keys->keys[i].name)))
            found = &keys->keys[i];
    return found;
}

static const struct admin_key *key_find(const struct admin_keys *keys, struct span key)
{
    uint8_t hash[HASH_SHA256_BYTES];
    hash_sha256(key.data, key.size, hash);
    const struct admin_key *found = admin_keys_find_hash(keys, hash);
    return found != NULL && !found->password ? found : NULL;
}

const struct admin_key *admin_keys_find(const struct admin_keys *keys, struct span key)
{
    return key_is_strong(key) ? key_find(keys, key) : NULL;
}

const struct admin_key *admin_keys_find_weak(const struct admin_keys *keys, struct span key)
{
    return key.size == 0 || key.size > WEAK_KEY_MAX || key_is_strong(key) ? NULL : key_find(keys, key);
}
