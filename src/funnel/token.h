/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/token.h: sessions and passes, 36 bytes signed by us, as 48 base64url characters.
 *   session: user u64 | expires_s u32 | issued_s u32 | flags u32 | mac 16
 *   pass:    user u64 | item u32 | expires_s u32 | nonce u32 | mac 16
 * flags: bit 0 guest, bits 1 to 3 the channel, bits 8 to 31 the mark of the shop's key, others 0.
 * item: bits 28 to 30 are the channel, its top bit says "only to hear an old answer".
 * nonce: its top bit says once.
 * Little-endian. mac: AES-128 CBC-MAC (base/cipher.h) over the 20 bytes before it, under the key
 * of the epoch that holds expires_s (funnel/keys.h); sessions and passes have keys of their own,
 * so neither passes for the other. A token is valid while now < expires_s, to the millisecond.
 * Thread: any that has its own keys. No allocation, no locks. */
#ifndef STAMPEDE_FUNNEL_TOKEN_H
#define STAMPEDE_FUNNEL_TOKEN_H

#include "base/span.h"
#include "contract/types.h"
#include "funnel/keys.h"

enum {
    TOKEN_CHARS = 48,
    TOKEN_BYTES = 36,
    TOKEN_SIGNED_BYTES = 20,
    KEY_MARK_MAX = 0xffffff,
    PASS_NONCE_MAX = 0x7fffffff,
};

enum token_answer {
    TOKEN_OK,
    TOKEN_MALFORMED, /* not 48 base64url characters, or fields that we never write */
    TOKEN_FORGED,    /* not signed by us */
    TOKEN_EXPIRED,   /* ours, or so old that the key is gone */
};

struct session {
    user_id user;
    uint32_t expires_s; /* at most SESSION_LIFE_MAX_S from now */
    uint32_t issued_s;
    uint32_t key_mark; /* of the key that signed the shop's token (jwt.h), up to KEY_MARK_MAX; 0: none */
    channel_index channel; /* whose units its user buys */
    bool guest;
};
struct pass {
    user_id user;
    item_id item;
    uint32_t expires_s;    /* at most PASS_LIFE_MAX_S from now */
    uint32_t nonce;        /* up to PASS_NONCE_MAX; makes two passes of one second differ */
    channel_index channel; /* of the session that it was given to */
    bool once;             /* good for one purchase: the door takes its mark (funnel/spent.h) */
    bool repeat_only;      /* opens no new purchase: its user got it because of an earlier win */
};

/* Writes TOKEN_CHARS characters, no NUL. A life beyond the bound above is a bug. */
void session_issue(const struct funnel_keys *keys, const struct session *session, char out[TOKEN_CHARS]);
void pass_issue(const struct funnel_keys *keys, const struct pass *pass, char out[TOKEN_CHARS]);

/* The structure is filled for TOKEN_OK only. One MAC at most. */
MUST_CHECK enum token_answer session_verify(
    const struct funnel_keys *keys, struct span text, uint64_t now_ms, struct session *session);
MUST_CHECK enum token_answer pass_verify(
    const struct funnel_keys *keys, struct span text, uint64_t now_ms, struct pass *pass);

/* "Bearer xyz" → "xyz" (scheme in any case, one or more spaces). False: another scheme, or nothing
 * after it. */
MUST_CHECK bool token_bearer(struct span authorization, struct span *token);

#endif
