/* SPDX-License-Identifier: Apache-2.0 */
/* config/admin_keys.h: who may use the admin API, and the API of channels. The file has a line per key,
 * `name:role:sha256 of the key in hex`, and a line per password for the console,
 * `name:role:scrypt:salt:hash` in hex (base/password.h); the keys and passwords themselves are nowhere.
 * Thread: immutable after loading. Comparison in constant time. */
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
/* ADMIN_CHANNEL is below all others: its key works for one channel, in the API of channels, and nowhere
 * else. Its role is written `channel=NAME`. */
enum admin_role { ADMIN_NOBODY, ADMIN_CHANNEL, ADMIN_VIEWER, ADMIN_OPERATOR, ADMIN_ADMIN };
enum { ADMIN_ROLE_CHARS_MAX = 8 + CHANNEL_NAME_MAX };
/* A role, and of ADMIN_CHANNEL the channel. */
struct admin_right {
    enum admin_role role;
    char channel[CHANNEL_NAME_MAX + 1];
};

struct admin_key {
    char name[ADMIN_NAME_MAX + 1];
    struct admin_right right;
    bool password; /* else a key; never of a channel */
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
/* As it is written; answers `out`. */
const char *admin_right_text(const struct admin_right *right, char out[ADMIN_ROLE_CHARS_MAX + 1]);
struct admin_right admin_right_read(struct span text); /* ADMIN_NOBODY: no such role */
#define ADMIN_ROLES_TEXT "viewer, operator, admin or channel=NAME"

#endif
