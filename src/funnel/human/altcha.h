/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/human/altcha.h: proof of work in the format of ALTCHA version 2 (npm: altcha-lib 2, altcha 3).
 * A challenge is {"parameters":{…},"signature":"…"}. The signature is the hex HMAC-SHA256 over the
 * parameters as compact JSON with sorted keys, under a secret that is text (64 hex digits), as
 * altcha-lib wants it. Solved: a counter for which SHA-256 over salt ‖ nonce ‖ counter (big-endian
 * u32), hashed again until `cost` hashes, begins with the key prefix, which here is always zeros.
 * A payload is {"challenge":{…},"solution":{"counter":…,"derivedKey":"…","time":…}} in standard base64.
 * Checking costs one HMAC, and ALTCHA_COST_MAX hashes more only for what we signed.
 * Thread: any. Memory: none. */
#ifndef STAMPEDE_FUNNEL_HUMAN_ALTCHA_H
#define STAMPEDE_FUNNEL_HUMAN_ALTCHA_H

#include "base/hash.h"
#include "base/text.h"
#include "contract/types.h"

enum {
    ALTCHA_NONCE_BYTES = 16,
    ALTCHA_SECRET_CHARS = 2 * HASH_SHA256_BYTES,
    ALTCHA_COST_MAX = 16,  /* hashes that checking one solution may take */
    ALTCHA_DIGITS_MAX = 5, /* of the prefix, so that tries stay below what a browser can do */
    ALTCHA_HASHES_MAX = ALTCHA_COST_MAX << (4 * ALTCHA_DIGITS_MAX),
    ALTCHA_CHALLENGE_BYTES_MAX = 512,
    ALTCHA_PAYLOAD_BYTES_MAX = 1024, /* decoded */
};

struct altcha_challenge {
    uint32_t cost;
    uint32_t digits; /* zeros, in hex, that the derived key begins with */
    item_id item;
    user_id user;
    uint32_t start; /* of which process (human.h) */
    uint32_t expires_s;
    uint8_t nonce[ALTCHA_NONCE_BYTES], salt[ALTCHA_NONCE_BYTES];
};

enum altcha_answer {
    ALTCHA_SOLVED,
    ALTCHA_MALFORMED,
    ALTCHA_FORGED,
    ALTCHA_EXPIRED,
    ALTCHA_FOREIGN, /* for another item or user */
    ALTCHA_WRONG,   /* ours, but not solved */
};

/* cost and digits so that solving takes about `hashes` hashes (at most ALTCHA_HASHES_MAX). */
void altcha_work(uint32_t hashes, struct altcha_challenge *challenge);
void altcha_render(const struct altcha_challenge *challenge, const char secret[ALTCHA_SECRET_CHARS],
    struct text *out);
/* `payload`: the base64 text. *challenge is filled for ALTCHA_SOLVED only. Whether it was used before
 * is the caller's question (spent.h). */
MUST_CHECK enum altcha_answer altcha_check(struct span payload, const char secret[ALTCHA_SECRET_CHARS],
    item_id item, user_id user, uint64_t now_ms, struct altcha_challenge *challenge);
/* The key of one counter: what a solver computes. */
void altcha_derive(
    const struct altcha_challenge *challenge, uint32_t counter, uint8_t key[HASH_SHA256_BYTES]);
/* Whether a key begins with as many zeros as asked. */
bool altcha_fits(const struct altcha_challenge *challenge, const uint8_t key[HASH_SHA256_BYTES]);

#endif
