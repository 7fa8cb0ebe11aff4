/* SPDX-License-Identifier: Apache-2.0 */
#include "api/key_ring.h"

#include "api/handover.h"
#include "base/disk.h"
#include "config/key_changes.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct key_ring {
    struct handover now; /* struct admin_keys */
    struct reader_turns *turns;
    struct disk *folder;
    pthread_mutex_t lock;
    /* Under the lock: */
    struct admin_keys file; /* as the operator's file was read last */
    struct key_changes changes;
};

void key_ring_open(struct key_ring **out, struct disk *folder, struct reader_turns *turns)
{
    struct key_ring *ring = *out = calloc(1, sizeof *ring);
    struct admin_keys *none = calloc(1, sizeof *none);
    invariant(ring != NULL && none != NULL);
    ring->folder = folder;
    ring->turns = turns;
    invariant(pthread_mutex_init(&ring->lock, NULL) == 0);
    handover_create(&ring->now, none, free);
}

void key_ring_close(struct key_ring *ring)
{
    if (ring == NULL)
        return;
    handover_close(&ring->now);
    pthread_mutex_destroy(&ring->lock);
    explicit_bzero(ring, sizeof *ring);
    free(ring);
}

const struct admin_keys *key_ring_now(struct key_ring *ring)
{
    return handover_get(&ring->now);
}

void key_ring_copy(struct key_ring *ring, struct admin_keys *keys)
{
    pthread_mutex_lock(&ring->lock);
    *keys = *key_ring_now(ring);
    pthread_mutex_unlock(&ring->lock);
}

/* Under the lock: shows the edges what counts. */
static enum status ring_show(
    struct key_ring *ring, const struct key_changes *changes, const struct admin_keys *file)
{
    struct admin_keys *keys = calloc(1, sizeof *keys);
    const enum status status = keys == NULL ? STATUS_FULL : key_changes_apply(changes, file, keys);
    if (status == STATUS_OK)
        handover_put(&ring->now, ring->turns, keys);
    else
        free(keys);
    return status;
}

static enum status files_read(const struct key_ring *ring, const char *path,
    struct admin_keys *file, struct key_changes *changes, char error[ADMIN_ERROR])
{
    *file = (struct admin_keys){ 0 };
    *changes = (struct key_changes){ 0 };
    if (path[0] == 0)
        return STATUS_OK;
    enum status status = admin_keys_load(file, path, error);
    if (status != STATUS_OK)
        return status;
    status = key_changes_read(ring->folder, changes);
    if (status != STATUS_OK)
        snprintf(error, ADMIN_ERROR, "the file admin-keys of the data folder %s",
            status == STATUS_CORRUPT
                ? "is damaged; if you remove it, keys made in the console are gone, "
                  "and those revoked there are back"
                : "can't be read");
    return status;
}

enum status key_ring_load(struct key_ring *ring, const char *path, char error[ADMIN_ERROR])
{
    struct admin_keys file;
    struct key_changes changes;
    pthread_mutex_lock(&ring->lock);
    enum status status = files_read(ring, path, &file, &changes, error);
    if (status == STATUS_OK) {
        status = ring_show(ring, &changes, &file);
        snprintf(error, ADMIN_ERROR, "admin keys: more than %d with those made in the console",
            ADMIN_KEYS_MAX);
    }
    if (status == STATUS_OK) {
        ring->file = file;
        ring->changes = changes;
    }
    pthread_mutex_unlock(&ring->lock);
    return status;
}

/* Under the lock: on disk first, then for the edges. */
static enum status ring_change(struct key_ring *ring, struct key_changes *changes)
{
    key_changes_trim(changes, &ring->file);
    enum status status = key_changes_write(ring->folder, changes);
    if (status == STATUS_OK)
        status = ring_show(ring, changes, &ring->file);
    if (status == STATUS_OK)
        ring->changes = *changes;
    return status;
}

/* The key or password of this name; NULL: none. */
static const struct admin_key *named(struct key_ring *ring, struct span name, bool password)
{
    const struct admin_keys *keys = key_ring_now(ring);
    for (uint32_t i = 0; i < keys->count; i++)
        if (keys->keys[i].password == password && span_equal(name, span_from_string(keys->keys[i].name)))
            return &keys->keys[i];
    return NULL;
}

static enum status may_add(struct key_ring *ring, struct span name)
{
    if (named(ring, name, false) != NULL)
        return STATUS_CONFLICT;
    return key_ring_now(ring)->count == ADMIN_KEYS_MAX ? STATUS_FULL : STATUS_OK;
}

enum status key_ring_may_add(struct key_ring *ring, struct span name)
{
    pthread_mutex_lock(&ring->lock);
    const enum status status = may_add(ring, name);
    pthread_mutex_unlock(&ring->lock);
    return status;
}

enum status key_ring_add(struct key_ring *ring, struct span name, const struct admin_right *right,
    char key[ADMIN_KEY_CHARS + 1])
{
    pthread_mutex_lock(&ring->lock);
    struct key_changes changes = ring->changes;
    enum status status = may_add(ring, name);
    if (status == STATUS_OK) {
        struct admin_key *made = &changes.made.keys[changes.made.count++];
        invariant(admin_name_is_good(name) && changes.made.count <= ADMIN_KEYS_MAX);
        *made = (struct admin_key){ .right = *right };
        memcpy(made->name, name.data, name.size);
        admin_key_make(key);
        hash_sha256(key, ADMIN_KEY_CHARS, made->hash);
        status = ring_change(ring, &changes);
    }
    pthread_mutex_unlock(&ring->lock);
    return status;
}

static enum status may_revoke(
    struct key_ring *ring, struct span name, bool password, struct admin_right *right)
{
    const struct admin_keys *keys = key_ring_now(ring);
    const struct admin_key *key = named(ring, name, password);
    if (key == NULL)
        return STATUS_NOT_FOUND;
    *right = key->right;
    for (uint32_t i = 0; i < keys->count; i++) {
        const struct admin_key *other = &keys->keys[i];
        const bool goes =
            other->password == password && span_equal(name, span_from_string(other->name));
        if (!goes && other->right.role == ADMIN_ADMIN)
            return STATUS_OK;
    }
    return STATUS_REFUSED;
}

enum status key_ring_may_revoke(
    struct key_ring *ring, struct span name, bool password, struct admin_right *right)
{
    pthread_mutex_lock(&ring->lock);
    const enum status status = may_revoke(ring, name, password, right);
    pthread_mutex_unlock(&ring->lock);
    return status;
}

enum status key_ring_revoke(struct key_ring *ring, struct span name, bool password)
{
    struct admin_right right;
    pthread_mutex_lock(&ring->lock);
    struct key_changes changes = ring->changes;
    enum status status = may_revoke(ring, name, password, &right);
    if (status == STATUS_OK) {
        key_changes_revoke(&changes, &ring->file, name, password);
        status = ring_change(ring, &changes);
    }
    pthread_mutex_unlock(&ring->lock);
    return status;
}
