/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/console_sessions.h"

#include "base/base64.h"
#include "base/random.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ID_BYTES = 32 };

struct row {
    bool used;
    uint8_t id_hash[HASH_SHA256_BYTES], key_hash[HASH_SHA256_BYTES];
    uint64_t began_ms, seen_ms;
};
struct console_sessions {
    pthread_mutex_t lock;
    struct row rows[CONSOLE_SESSIONS_MAX];
    struct row invitation; /* id_hash: of its token */
};

enum status console_sessions_open(struct console_sessions **out)
{
    struct console_sessions *sessions = calloc(1, sizeof *sessions);
    *out = sessions;
    if (sessions == NULL)
        return STATUS_FULL;
    invariant(pthread_mutex_init(&sessions->lock, NULL) == 0);
    return STATUS_OK;
}

void console_sessions_close(struct console_sessions *sessions)
{
    if (sessions != NULL)
        pthread_mutex_destroy(&sessions->lock);
    free(sessions);
}

static bool hash_equal(const uint8_t a[HASH_SHA256_BYTES], const uint8_t b[HASH_SHA256_BYTES])
{
    return span_equal_constant_time(span_of(a, HASH_SHA256_BYTES), span_of(b, HASH_SHA256_BYTES));
}

/* Longer ago than this; never, if the clock was set back. */
static bool is_past(uint64_t since_ms, uint64_t life_ms, uint64_t now_ms)
{
    return now_ms > since_ms && now_ms - since_ms >= life_ms;
}

static bool row_lives(const struct row *row, uint64_t now_ms)
{
    return row->used && !is_past(row->seen_ms, CONSOLE_IDLE_MS, now_ms)
        && !is_past(row->began_ms, CONSOLE_LIFE_MS, now_ms);
}

/* A place for a new session of this key: the oldest of its own, if it has as many as it may, else a free
 * one. Places of keys that are gone are the oldest of all. */
static struct row *row_take(
    struct console_sessions *sessions, const uint8_t key_hash[HASH_SHA256_BYTES], uint64_t now_ms)
{
    struct row *own = NULL, *any = &sessions->rows[0];
    uint32_t count = 0;
    for (uint32_t i = 0; i < CONSOLE_SESSIONS_MAX; i++) {
        struct row *row = &sessions->rows[i];
        if (!row_lives(row, now_ms))
            *row = (struct row){ 0 };
        if (row->seen_ms < any->seen_ms)
            any = row;
        if (!row->used || !hash_equal(row->key_hash, key_hash))
            continue;
        count++;
        if (own == NULL || row->seen_ms < own->seen_ms)
            own = row;
    }
    return count < CONSOLE_SESSIONS_PER_KEY ? any : own;
}

void console_sessions_begin(struct console_sessions *sessions,
    const uint8_t key_hash[HASH_SHA256_BYTES], uint64_t now_ms, char id[CONSOLE_ID_CHARS])
{
    uint8_t secret[ID_BYTES];
    struct row row = { .used = true, .began_ms = now_ms, .seen_ms = now_ms };
    random_secret(secret, sizeof secret);
    invariant(base64_encode(secret, sizeof secret, id) == CONSOLE_ID_CHARS);
    hash_sha256(id, CONSOLE_ID_CHARS, row.id_hash);
    memcpy(row.key_hash, key_hash, sizeof row.key_hash);
    pthread_mutex_lock(&sessions->lock);
    *row_take(sessions, key_hash, now_ms) = row;
    pthread_mutex_unlock(&sessions->lock);
}

/* All rows are compared, so that the time tells nothing. NULL: no such session. */
static struct row *row_find(struct console_sessions *sessions, struct span id)
{
    uint8_t hash[HASH_SHA256_BYTES];
    struct row *found = NULL;
    hash_sha256(id.data, id.size, hash);
    for (uint32_t i = 0; i < CONSOLE_SESSIONS_MAX; i++)
        if (hash_equal(sessions->rows[i].id_hash, hash) && sessions->rows[i].used)
            found = &sessions->rows[i];
    return found;
}

bool console_sessions_find(struct console_sessions *sessions, struct span id, uint64_t now_ms,
    uint8_t key_hash[HASH_SHA256_BYTES], uint64_t *ends_ms)
{
    if (id.size != CONSOLE_ID_CHARS)
        return false;
    pthread_mutex_lock(&sessions->lock);
    struct row *row = row_find(sessions, id);
    const bool lives = row != NULL && row_lives(row, now_ms);
    if (lives) {
        row->seen_ms = now_ms;
        memcpy(key_hash, row->key_hash, sizeof row->key_hash);
        *ends_ms = row->began_ms + CONSOLE_LIFE_MS;
    }
    pthread_mutex_unlock(&sessions->lock);
    return lives;
}

void console_sessions_end(struct console_sessions *sessions, struct span id)
{
    pthread_mutex_lock(&sessions->lock);
    struct row *row = row_find(sessions, id);
    if (row != NULL)
        *row = (struct row){ 0 };
    pthread_mutex_unlock(&sessions->lock);
}

void console_sessions_invite(struct console_sessions *sessions, struct span token,
    const uint8_t key_hash[HASH_SHA256_BYTES], uint64_t now_ms)
{
    pthread_mutex_lock(&sessions->lock);
    sessions->invitation = (struct row){ .used = true, .began_ms = now_ms };
    hash_sha256(token.data, token.size, sessions->invitation.id_hash);
    memcpy(sessions->invitation.key_hash, key_hash, HASH_SHA256_BYTES);
    pthread_mutex_unlock(&sessions->lock);
}

void console_sessions_invite_first(struct console_sessions *sessions, const char *token,
    const struct admin_keys *keys, uint64_t now_ms)
{
    if (token != NULL && keys->count > 0)
        console_sessions_invite(sessions, span_from_string(token), keys->keys[0].hash, now_ms);
}

bool console_sessions_accept(struct console_sessions *sessions, struct span token, uint64_t now_ms,
    uint8_t key_hash[HASH_SHA256_BYTES])
{
    uint8_t hash[HASH_SHA256_BYTES];
    hash_sha256(token.data, token.size, hash);
    pthread_mutex_lock(&sessions->lock);
    struct row *invitation = &sessions->invitation;
    const bool good = hash_equal(invitation->id_hash, hash) && invitation->used
        && !is_past(invitation->began_ms, CONSOLE_INVITE_MS, now_ms);
    if (good) {
        memcpy(key_hash, invitation->key_hash, HASH_SHA256_BYTES);
        *invitation = (struct row){ 0 };
    }
    pthread_mutex_unlock(&sessions->lock);
    return good;
}
