/* SPDX-License-Identifier: Apache-2.0 */
/* api/key_ring.h: the admin keys that count: those of the operator's file, without those that were revoked,
 * and those that were made through the admin API (config/key_changes.h). The edges read them without a lock;
 * who changes them waits for whoever else does.
 * Thread: key_ring_now: the edges, for one turn (api/handover.h); the rest: any. */
#ifndef STAMPEDE_API_KEY_RING_H
#define STAMPEDE_API_KEY_RING_H

#include "config/admin_keys.h"

struct disk;
struct reader_turns;

struct key_ring;
/* folder: the data folder. */
void key_ring_open(struct key_ring **out, struct disk *folder, struct reader_turns *turns);
void key_ring_close(struct key_ring *ring); /* when no edge runs any more; accepts NULL */

/* Reads both files. On a fault the keys stay as they were. Empty path: there are no keys at all. */
MUST_CHECK enum status key_ring_load(struct key_ring *ring, const char *path, char error[ADMIN_ERROR]);
const struct admin_keys *key_ring_now(struct key_ring *ring);
void key_ring_copy(struct key_ring *ring, struct admin_keys *keys);

/* Whether a key of this name could be made. STATUS_CONFLICT: there is one; STATUS_FULL: there are
 * ADMIN_KEYS_MAX lines. */
MUST_CHECK enum status key_ring_may_add(struct key_ring *ring, struct span name);
/* Makes it, keeps it on disk, and then it counts. */
MUST_CHECK enum status key_ring_add(struct key_ring *ring, struct span name,
    const struct admin_right *right, char key[ADMIN_KEY_CHARS + 1]);
/* Whether it could be revoked; *right: its role. STATUS_NOT_FOUND: no such key or password; STATUS_REFUSED:
 * no administrator would be left. */
MUST_CHECK enum status key_ring_may_revoke(
    struct key_ring *ring, struct span name, bool password, struct admin_right *right);
/* It counts no longer: requests with it, and console sessions that began with it, are refused from now on. */
MUST_CHECK enum status key_ring_revoke(struct key_ring *ring, struct span name, bool password);

#endif
