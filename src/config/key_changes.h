/* SPDX-License-Identifier: Apache-2.0 */
/* config/key_changes.h: admin keys that were made or revoked through the admin API. They are kept in the
 * file `admin-keys` of the data folder, which the server writes itself; the operator's own file
 * (config/admin_keys.h) is never changed.
 *
 *   stampede-admin-keys 1
 *   made anna:operator:sha256 of the key in hex
 *   revoked hash of a line of the operator's file
 *   crc32c 0a1b2c3d                of everything before this line
 *
 * It is replaced whole. Thread: none; the caller sees to that. */
#ifndef STAMPEDE_CONFIG_KEY_CHANGES_H
#define STAMPEDE_CONFIG_KEY_CHANGES_H

#include "base/disk.h"
#include "config/admin_keys.h"

struct key_changes {
    struct admin_keys made; /* keys only, no passwords */
    uint32_t revoked_count;
    uint8_t revoked[ADMIN_KEYS_MAX][HASH_SHA256_BYTES];
};

/* No file: no changes. STATUS_CORRUPT: it is damaged. */
MUST_CHECK enum status key_changes_read(struct disk *folder, struct key_changes *changes);
MUST_CHECK enum status key_changes_write(struct disk *folder, const struct key_changes *changes);

/* The keys that count: those of the operator's file that are not revoked, then those that were made.
 * STATUS_FULL: more than ADMIN_KEYS_MAX. */
MUST_CHECK enum status key_changes_apply(
    const struct key_changes *changes, const struct admin_keys *file, struct admin_keys *out);
/* Forgets what was revoked and is not in the operator's file any more, so that the list stays short. */
void key_changes_trim(struct key_changes *changes, const struct admin_keys *file);
/* All keys (or the password) of this name count no longer. */
void key_changes_revoke(
    struct key_changes *changes, const struct admin_keys *file, struct span name, bool password);

#endif
