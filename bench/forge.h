/* SPDX-License-Identifier: Apache-2.0 */
/* Forged tokens, made the way somebody without our keys can make them: out of real ones, by changing,
 * cutting and mixing. Every forgery has the length and the alphabet of a real token unless its way says
 * otherwise, so that it is the signature that must refuse it.
 * Thread: any. Memory: the caller's. */
#ifndef BENCH_FORGE_H
#define BENCH_FORGE_H

#include "base/base64.h"
#include "base/bytes.h"
#include "base/random.h"
#include "funnel/token.h"

#include <stdbool.h>
#include <string.h>

enum forge_way {
    FORGE_BIT,       /* one bit flipped, at every position in turn */
    FORGE_CHARACTER, /* one character is another visible one, at every position in turn */
    FORGE_SPLICE,    /* the fields of one token under the signature of another */
    FORGE_SIGNATURE, /* a made-up signature */
    FORGE_HALF,      /* half of the signature is right */
    FORGE_FIELDS,    /* another user and another item under the same signature */
    FORGE_LATER,     /* the same token with a later end */
    FORGE_NOISE,     /* nothing is right but the time */
    FORGE_WAYS,
};
static const char *const forge_names[FORGE_WAYS] = { "bit", "character", "splice", "signature",
    "half a signature", "other fields", "later end", "noise" };

/* A real token, and where its kind keeps the end of its life. */
struct forge_token {
    char text[TOKEN_CHARS];
    uint32_t expires_at;
};
enum { FORGE_PASS_EXPIRES_AT = 12, FORGE_SESSION_EXPIRES_AT = 8 };

static inline void forge_bytes(const char text[TOKEN_CHARS], uint8_t bytes[TOKEN_BYTES])
{
    size_t size = TOKEN_BYTES;
    const enum status status = base64_decode(span_of(text, TOKEN_CHARS), bytes, &size);
    invariant(status == STATUS_OK && size == TOKEN_BYTES);
}

static inline void forge_noise(struct random *random, uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)random_below(random, 256);
}

static inline void forge_later(struct random *random, uint8_t *bytes, uint32_t expires_at)
{
    uint32_t expires_s = bytes_get_u32(bytes + expires_at);
    bytes_put_u32(bytes + expires_at, expires_s + 1 + (uint32_t)random_below(random, 600));
}

static inline void forge_change(struct random *random, enum forge_way way, uint64_t number,
    const struct forge_token *real, const struct forge_token *other, uint8_t bytes[TOKEN_BYTES])
{
    uint8_t others[TOKEN_BYTES];
    const size_t bit = number % (TOKEN_BYTES * (size_t)8);
    switch (way) {
    case FORGE_BIT:
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        break;
    case FORGE_SPLICE:
        forge_bytes(other->text, others);
        memcpy(bytes + TOKEN_SIGNED_BYTES, others + TOKEN_SIGNED_BYTES, TOKEN_BYTES - TOKEN_SIGNED_BYTES);
        break;
    case FORGE_SIGNATURE:
        forge_noise(random, bytes + TOKEN_SIGNED_BYTES, TOKEN_BYTES - TOKEN_SIGNED_BYTES);
        break;
    case FORGE_HALF:
        forge_noise(random, bytes + (number % 2 == 0 ? TOKEN_SIGNED_BYTES : TOKEN_SIGNED_BYTES + 8), 8);
        break;
    case FORGE_FIELDS:
        forge_noise(random, bytes, 8);
        break;
    case FORGE_LATER:
        forge_later(random, bytes, real->expires_at);
        break;
    case FORGE_NOISE: {
        uint32_t expires_s = bytes_get_u32(bytes + real->expires_at);
        forge_noise(random, bytes, TOKEN_BYTES);
        bytes_put_u32(bytes + real->expires_at, expires_s);
        break;
    }
    case FORGE_CHARACTER:
    case FORGE_WAYS:
        break; /* not a change of bytes */
    }
}

/* Forgery `number` out of `real`; `other` is another real token. Never the real one itself. */
static inline void forge_make(struct random *random, enum forge_way way, uint64_t number,
    const struct forge_token *real, const struct forge_token *other, char out[TOKEN_CHARS])
{
    enum { VISIBLE_FIRST = 33, VISIBLE = 94 };
    uint8_t bytes[TOKEN_BYTES];
    do {
        memcpy(out, real->text, TOKEN_CHARS);
        if (way == FORGE_CHARACTER) {
            out[number % TOKEN_CHARS] = (char)(VISIBLE_FIRST + random_below(random, VISIBLE));
        } else {
            forge_bytes(real->text, bytes);
            forge_change(random, way, number, real, other, bytes);
            base64_encode(bytes, TOKEN_BYTES, out);
        }
        if (way == FORGE_SPLICE && memcmp(out, real->text, TOKEN_CHARS) == 0)
            way = FORGE_SIGNATURE; /* the other one was the same token */
    } while (memcmp(out, real->text, TOKEN_CHARS) == 0);
}

#endif
