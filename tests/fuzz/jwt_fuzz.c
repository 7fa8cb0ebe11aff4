/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/jwt_fuzz.c: two ways in. As it comes, an input is never accepted: the secret is made
 * anew for each run. Taken as "header JSON NUL payload JSON" and signed by us, it may be accepted,
 * and then must keep the rules. */
#include "base/base64.h"
#include "base/hash.h"
#include "base/random.h"
#include "funnel/jwt.h"

#define NOW_MS (UINT64_C(1700000000) * 1000)
enum { SECRET_BYTES = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t secret[SECRET_BYTES];

static const struct jwt_keys *fresh_keys(void)
{
    static struct jwt_keys *keys;
    if (keys == NULL) {
        char error[JWT_ERROR_BYTES];
        random_secret(secret, sizeof secret);
        struct jwt_key_source source = { .kid = SPAN("k"), .secret = span_of(secret, sizeof secret) };
        invariant(jwt_keys_load(&keys, &source, 1, error) == STATUS_OK);
    }
    return keys;
}

static void check_signed(const struct jwt_keys *keys, struct span header, struct span payload)
{
    char token[JWT_BYTES_MAX + 64];
    uint8_t mac[HASH_SHA256_BYTES];
    if ((header.size + payload.size + sizeof mac + 8) * 4 / 3 > JWT_BYTES_MAX)
        return;
    size_t size = base64_encode(header.data, header.size, token);
    token[size++] = '.';
    size += base64_encode(payload.data, payload.size, token + size);
    hash_hmac_sha256(secret, sizeof secret, token, size, mac);
    token[size++] = '.';
    size += base64_encode(mac, sizeof mac, token + size);
    struct jwt_rules rules = { .issuer = NULL };
    struct jwt_claims claims;
    if (jwt_verify(keys, &rules, span_of(token, size), NOW_MS, &claims) != JWT_OK)
        return;
    invariant(claims.subject_bytes >= 1 && claims.subject_bytes <= SUBJECT_BYTES_MAX);
    invariant(memchr(claims.subject, 0, claims.subject_bytes) == NULL);
    invariant(claims.expires_ms >= NOW_MS);
    token[size - 2] = token[size - 2] == 'A' ? 'B' : 'A';
    invariant(jwt_verify(keys, &rules, span_of(token, size), NOW_MS, &claims) == JWT_FORGED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct jwt_keys *keys = fresh_keys();
    struct jwt_rules rules = { .issuer = NULL };
    struct jwt_claims claims;
    invariant(jwt_verify(keys, &rules, span_of(data, size), NOW_MS, &claims) != JWT_OK);
    const uint8_t *nul = size > 0 ? memchr(data, 0, size) : NULL;
    if (nul != NULL) {
        size_t header_bytes = (size_t)(nul - data);
        check_signed(keys, span_of(data, header_bytes), span_of(nul + 1, size - header_bytes - 1));
    }
    return 0;
}
