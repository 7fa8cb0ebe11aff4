/* SPDX-License-Identifier: Apache-2.0 */
/* config/admin_keys.h: who may use the admin API. The file has a line per key, `name:role:sha256
 * of the key in hex`, and a line per password for the console, `name:role:scrypt:salt:hash` in hex
 * (base/password.h); the keys and passwords themselves are nowhere. Thread: immutable after loading.
 * Comparison in constant time. */
#ifndef STAMPEDE_CONFIG_ADMIN_KEYS_H
#define STAMPEDE_CONFIG_ADMIN_KEYS_H

#include "base/hash.h"
#include "base/password.h"
#include "base/span.h"
#include "contract/limits.h"

enum {
    ADMIN_KEY_CHARS = 3 + 43,
    ADMIN_KEYS_MAX = 64,
    ADMIN_NAME_MAX = ACTOR_BYTES_MAX,
    ADMIN_ERROR = 200
};
enum admin_role { ADMIN_NOBODY, ADMIN_VIEWER, ADMIN_OPERATOR, ADMIN_ADMIN };

struct admin_key {
    char name[ADMIN_NAME_MAX + 1];
    enum admin_role role;
    bool password; /* else a key */
    uint8_t salt[PASSWORD_SALT_BYTES];
    uint8_t hash[HASH_SHA256_BYTES];
};
struct admin_keys {
    uint32_t count;
    struct admin_key keys[ADMIN_KEYS_MAX];
};

MUST_CHECK enum status admin_keys_load(
    struct admin_keys *keys, const char *path, char error[ADMIN_ERROR]);
/* NULL: no such key, or not of the form that `stampede key new` writes (sk_ and 43 characters of
 * base64url): a key that somebody made up could be guessed. */
const struct admin_key *admin_keys_find(const struct admin_keys *keys, struct span key);
/* One line of the file, without its end; false: it is not one. */
MUST_CHECK bool admin_key_parse(struct span line, struct admin_key *key);
MUST_CHECK bool admin_hash_parse(struct span hex, uint8_t hash[HASH_SHA256_BYTES]);
/* The key or password with this hash; NULL: it is not among them any more. */
const struct admin_key *admin_keys_find_hash(
    const struct admin_keys *keys, const uint8_t hash[HASH_SHA256_BYTES]);
/* The password of this name; NULL: none. Each name has one at most. */
const struct admin_key *admin_keys_find_password(const struct admin_keys *keys, struct span name);
/* The entry of a key that is listed but weak, and therefore refused; NULL: none. For the log. */
const struct admin_key *admin_keys_find_weak(const struct admin_keys *keys, struct span key);
/* A new key: 256 random bits. */
void admin_key_make(char key[ADMIN_KEY_CHARS + 1]);
/* Names stand in files of lines with colons, in logs and in the audit trail: 1 to ADMIN_NAME_MAX visible
 * ASCII characters without a colon, the first not '#'. */
bool admin_name_is_good(struct span name);
const char *admin_role_name(enum admin_role role);
enum admin_role admin_role_from_name(struct span name); /* ADMIN_NOBODY: no such role */

#endif
