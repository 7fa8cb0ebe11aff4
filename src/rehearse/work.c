/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/work.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/text.h"
#include "rehearse/heard.h"

#include <stdlib.h>

enum { SEED_BYTES = 16, COST_MAX = 64, PREFIX_MAX = 8, PAYLOAD_BYTES = 2048 };

struct work {
    uint8_t seed[2 * SEED_BYTES + 4]; /* salt, nonce, counter */
    uint64_t cost;
    struct span prefix; /* hexadecimal */
};

static bool bytes_read(struct span hex, uint8_t out[SEED_BYTES])
{
    if (hex.size != 2 * (size_t)SEED_BYTES)
        return false;
    for (size_t i = 0; i < hex.size; i++) {
        const char c = hex.data[i];
        const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        out[i / 2] = (uint8_t)(i % 2 == 0 ? digit << 4 : out[i / 2] | digit);
    }
    return true;
}

static bool work_read(struct span challenge, struct work *work)
{
    const struct heard json = { .body = challenge };
    work->cost = heard_number(&json, "\"cost\":", 0);
    work->prefix = heard_text(&json, "\"keyPrefix\":");
    return work->cost > 0 && work->cost <= COST_MAX && work->prefix.size <= PREFIX_MAX
        && bytes_read(heard_text(&json, "\"salt\":"), work->seed)
        && bytes_read(heard_text(&json, "\"nonce\":"), work->seed + SEED_BYTES);
}

static void key_derive(struct work *work, uint32_t counter, uint8_t key[HASH_SHA256_BYTES])
{
    for (size_t i = 0; i < 4; i++)
        work->seed[2 * SEED_BYTES + i] = (uint8_t)(counter >> (24 - 8 * i));
    hash_sha256(work->seed, sizeof work->seed, key);
    for (uint64_t i = 1; i < work->cost; i++)
        hash_sha256(key, HASH_SHA256_BYTES, key);
}

static bool key_fits(const struct work *work, const uint8_t key[HASH_SHA256_BYTES])
{
    for (size_t i = 0; i < work->prefix.size; i++) {
        const uint8_t digit = i % 2 == 0 ? key[i / 2] >> 4 : key[i / 2] & 15;
        if ("0123456789abcdef"[digit] != work->prefix.data[i])
            return false;
    }
    return true;
}

static char *payload_make(struct span challenge, uint32_t counter, const uint8_t key[HASH_SHA256_BYTES])
{
    char plain[PAYLOAD_BYTES];
    struct text text = text_in(plain, sizeof plain);
    text_literal(&text, "{\"challenge\":");
    text_add(&text, challenge);
    text_format(&text, ",\"solution\":{\"counter\":%u,\"derivedKey\":\"", counter);
    text_hex(&text, span_of(key, HASH_SHA256_BYTES));
    text_literal(&text, "\",\"time\":1}}");
    char *payload = text.overflow ? NULL : malloc(BASE64_STANDARD_CHARS(text.size) + 1);
    if (payload != NULL)
        payload[base64_standard_encode(text.data, text.size, payload)] = 0;
    return payload;
}

char *work_solve(struct span challenge)
{
    struct work work;
    uint8_t key[HASH_SHA256_BYTES];
    if (!work_read(challenge, &work))
        return NULL;
    for (uint32_t counter = 0; counter < WORK_HASHES_MAX / work.cost; counter++) {
        key_derive(&work, counter, key);
        if (key_fits(&work, key))
            return payload_make(challenge, counter, key);
    }
    return NULL;
}
