/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/console_sessions.h: who is signed in to the console. A session stands for an admin key: it begins
 * with a new random id, ends CONSOLE_IDLE_MS after its last request or CONSOLE_LIFE_MS after its beginning,
 * and its role is that of the key at each request, so it ends with the key too (console_gate.c). A key has
 * CONSOLE_SESSIONS_PER_KEY at most; one more ends the one that was not used for longest. Only hashes of ids
 * are kept. An invitation is a token that signs in once, within CONSOLE_INVITE_MS.
 * Thread: any; all edges share one, behind a lock. Only requests that show a session come here. Memory: its
 * own, at open; a restart ends all sessions. */
#ifndef STAMPEDE_GATEWAY_CONSOLE_SESSIONS_H
#define STAMPEDE_GATEWAY_CONSOLE_SESSIONS_H

#include "base/hash.h"
#include "base/span.h"
#include "config/admin_keys.h"

enum {
    CONSOLE_ID_CHARS = 43, /* 256 random bits */
    CONSOLE_SESSIONS_PER_KEY = 8,
    CONSOLE_SESSIONS_MAX = ADMIN_KEYS_MAX * CONSOLE_SESSIONS_PER_KEY,
    CONSOLE_IDLE_MS = 60 * 60 * 1000,
    CONSOLE_LIFE_MS = 12 * 60 * 60 * 1000,
    CONSOLE_INVITE_MS = 15 * 60 * 1000,
};

#define CONSOLE_INVITE_PREFIX "once_" /* of a token, so that it is never taken for a key */

struct console_sessions;
MUST_CHECK enum status console_sessions_open(struct console_sessions **sessions);
void console_sessions_close(struct console_sessions *sessions); /* accepts NULL */

/* A new session of the key with this hash; its id, without a NUL. */
void console_sessions_begin(struct console_sessions *sessions,
    const uint8_t key_hash[HASH_SHA256_BYTES], uint64_t now_ms, char id[CONSOLE_ID_CHARS]);
/* False: there is none, or it is over. Else it is used now: the key's hash, and when it ends at the
 * latest. */
bool console_sessions_find(struct console_sessions *sessions, struct span id, uint64_t now_ms,
    uint8_t key_hash[HASH_SHA256_BYTES], uint64_t *ends_ms);
void console_sessions_end(struct console_sessions *sessions, struct span id);

/* The one invitation: a later one replaces it. */
void console_sessions_invite(struct console_sessions *sessions, struct span token,
    const uint8_t key_hash[HASH_SHA256_BYTES], uint64_t now_ms);
/* The same as the first of the keys; token NULL, or no keys: none. */
void console_sessions_invite_first(struct console_sessions *sessions, const char *token,
    const struct admin_keys *keys, uint64_t now_ms);
/* False: it is another, was used, or is too old. */
bool console_sessions_accept(struct console_sessions *sessions, struct span token, uint64_t now_ms,
    uint8_t key_hash[HASH_SHA256_BYTES]);

#endif
