/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. The order matters: size, three parts, header (alg, kid, crit), key by kid, alg against
 * the key's type, signature, and only then the payload. So nothing that an unsigned token says is
 * looked at but its header, and nothing in the header picks more than one of our keys. The only
 * file that knows jansson and OpenSSL's keys. */
#include "funnel/jwt.h"

#include "base/base64.h"
#include "base/hash.h"

#include <jansson.h>
#include <math.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RSA_BITS_MIN = 2048,
    RSA_BITS_MAX = 8192,
    SIGNATURE_BYTES_MAX = RSA_BITS_MAX / 8,
    ES256_HALF_BYTES = 32,
    ES256_DER_BYTES_MAX = 80,
    SECRET_BYTES_MAX = 512,
};
#define SECONDS_MAX 253402300799.0 /* the year 9999 */

enum jwt_alg { ALG_HS256, ALG_RS256, ALG_ES256, ALG_EDDSA, ALGS };
static const char *const alg_names[] = {
    [ALG_HS256] = "HS256", [ALG_RS256] = "RS256", [ALG_ES256] = "ES256", [ALG_EDDSA] = "EdDSA"
};
static_assert(sizeof alg_names / sizeof *alg_names == ALGS, "a name for each");

struct jwt_key {
    char kid[JWT_KID_MAX + 1];
    uint32_t mark;
    enum jwt_alg alg;
    EVP_PKEY *public_key; /* NULL for ALG_HS256 */
    size_t secret_bytes;
    uint8_t secret[SECRET_BYTES_MAX];
};
struct jwt_keys {
    size_t count;
    struct jwt_key keys[JWT_KEYS_MAX];
};

#define ANSWER_NAME(name, text) [JWT_##name] = (text),
static const char *const answer_names[] = { JWT_ANSWER_LIST(ANSWER_NAME) };

const char *jwt_answer_name(enum jwt_answer answer)
{
    invariant((unsigned)answer < JWT_ANSWERS);
    return answer_names[answer];
}

/* ---- keys ---- */

/* OpenSSL would ask on the terminal. NOLINTNEXTLINE(readability-non-const-parameter) */
static int no_passphrase(char *buffer, int size, int writing, void *context)
{
    (void)buffer, (void)size, (void)writing, (void)context;
    return -1;
}

static const char *public_key_read(struct jwt_key *key, struct span pem)
{
    BIO *bio = pem.size <= JWT_KEY_FILE_BYTES_MAX ? BIO_new_mem_buf(pem.data, (int)pem.size) : NULL;
    if (bio == NULL)
        return "too large";
    key->public_key = PEM_read_bio_PUBKEY(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    ERR_clear_error();
    if (key->public_key == NULL)
        return "not a public key in PEM";
    char group[32] = "";
    switch (EVP_PKEY_get_base_id(key->public_key)) {
    case EVP_PKEY_RSA:
        key->alg = ALG_RS256;
        if (EVP_PKEY_get_bits(key->public_key) < RSA_BITS_MIN
            || EVP_PKEY_get_bits(key->public_key) > RSA_BITS_MAX)
            return "RSA key must have 2048 to 8192 bits";
        return NULL;
    case EVP_PKEY_EC:
        key->alg = ALG_ES256;
        if (EVP_PKEY_get_group_name(key->public_key, group, sizeof group, NULL) != 1
            || strcmp(group, "prime256v1") != 0)
            return "elliptic curve must be P-256";
        return NULL;
    case EVP_PKEY_ED25519:
        key->alg = ALG_EDDSA;
        return NULL;
    default:
        return "key type must be RSA, P-256 or Ed25519";
    }
}

/* Another key under the same name has another mark. */
static uint32_t mark_make(struct span kid, struct span bytes)
{
    uint8_t digests[2 * HASH_SHA256_BYTES], digest[HASH_SHA256_BYTES];
    hash_sha256(kid.data, kid.size, digests);
    hash_sha256(bytes.data, bytes.size, digests + HASH_SHA256_BYTES);
    hash_sha256(digests, sizeof digests, digest);
    const uint32_t mark = (uint32_t)digest[0] << 16 | (uint32_t)digest[1] << 8 | digest[2];
    explicit_bzero(digests, sizeof digests);
    return mark != 0 ? mark : 1;
}

static const char *key_read(struct jwt_keys *keys, const struct jwt_key_source *source)
{
    if (source->kid.size == 0 || source->kid.size > JWT_KID_MAX
        || memchr(source->kid.data, 0, source->kid.size))
        return "name must have 1 to 64 characters";
    if ((source->secret.data == NULL) == (source->pem.data == NULL))
        return "must be either a secret or a public key";
    if (keys->count == JWT_KEYS_MAX)
        return "too many keys";
    struct jwt_key *key =
        &keys->keys[keys->count++]; /* counted at once, so that jwt_keys_free sees a half-read one */
    memcpy(key->kid, source->kid.data, source->kid.size);
    for (size_t i = 0; i + 1 < keys->count; i++) {
        if (strcmp(keys->keys[i].kid, key->kid) == 0)
            return "the same name occurs twice";
    }
    key->mark = mark_make(source->kid, source->pem.data != NULL ? source->pem : source->secret);
    if (source->pem.data != NULL)
        return public_key_read(key, source->pem);
    if (source->secret.size < JWT_SECRET_BYTES_MIN || source->secret.size > SECRET_BYTES_MAX)
        return "secret must have 32 to 512 bytes";
    key->alg = ALG_HS256;
    memcpy(key->secret, source->secret.data, source->secret.size);
    key->secret_bytes = source->secret.size;
    return NULL;
}

static bool keys_read(struct jwt_keys *keys, const struct jwt_key_source *sources, size_t count,
    char error[JWT_ERROR_BYTES])
{
    for (size_t i = 0; i < count; i++) {
        const char *wrong = key_read(keys, &sources[i]);
        if (wrong == NULL)
            continue;
        const int shown = (int)(sources[i].kid.size < JWT_KID_MAX ? sources[i].kid.size : JWT_KID_MAX);
        snprintf(error, JWT_ERROR_BYTES, "key '%.*s': %s", shown,
            shown > 0 ? sources[i].kid.data : "", wrong);
        return false;
    }
    return true;
}

enum status jwt_keys_load(struct jwt_keys **keys, const struct jwt_key_source *sources,
    size_t count, char error[JWT_ERROR_BYTES])
{
    *keys = NULL;
    error[0] = '\0';
    if (count == 0) {
        snprintf(error, JWT_ERROR_BYTES, "no key");
        return STATUS_BAD_INPUT;
    }
    struct jwt_keys *made = calloc(1, sizeof *made);
    if (made == NULL) {
        snprintf(error, JWT_ERROR_BYTES, "no memory");
        return STATUS_FULL;
    }
    if (keys_read(made, sources, count, error)) {
        *keys = made;
        return STATUS_OK;
    }
    jwt_keys_free(made);
    return STATUS_BAD_INPUT;
}

void jwt_keys_free(struct jwt_keys *keys)
{
    if (keys == NULL)
        return;
    for (size_t i = 0; i < keys->count; i++)
        EVP_PKEY_free(keys->keys[i].public_key);
    explicit_bzero(keys, sizeof *keys);
    free(keys);
}

size_t jwt_keys_count(const struct jwt_keys *keys)
{
    return keys->count;
}

uint32_t jwt_key_mark(const struct jwt_keys *keys, size_t index)
{
    invariant(index < keys->count);
    return keys->keys[index].mark;
}

/* ---- header and signature ---- */

struct jwt_parts {
    struct span header, payload, signature;
    struct span signed_text; /* header and payload with the dot between */
};

static bool parts_split(struct span token, struct jwt_parts *parts)
{
    if (token.size == 0 || token.size > JWT_BYTES_MAX)
        return false;
    const char *first = memchr(token.data, '.', token.size);
    if (first == NULL)
        return false;
    parts->header = span_of(token.data, (size_t)(first - token.data));
    size_t rest = token.size - parts->header.size - 1;
    const char *second = memchr(first + 1, '.', rest);
    if (second == NULL)
        return false;
    parts->payload = span_of(first + 1, (size_t)(second - first - 1));
    parts->signature = span_of(second + 1, rest - parts->payload.size - 1);
    parts->signed_text = span_of(token.data, (size_t)(second - token.data));
    return parts->header.size > 0 && parts->header.size <= JWT_HEADER_CHARS_MAX
        && parts->payload.size > 0 && parts->signature.size > 0; /* a third dot is no base64 */
}

/* NULL: not base64url of a JSON object, or one with a name twice. */
static json_t *part_parse(struct span part)
{
    char text[JWT_BYTES_MAX];
    size_t bytes = sizeof text;
    if (base64_decode(part, text, &bytes) != STATUS_OK)
        return NULL;
    json_t *json = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(json))
        return json;
    json_decref(json);
    return NULL;
}

static enum jwt_answer key_find(
    const struct jwt_keys *keys, const json_t *header, const struct jwt_key **key)
{
    const json_t *alg = json_object_get(header, "alg");
    const json_t *kid = json_object_get(header, "kid");
    if (!json_is_string(alg) || (kid != NULL && !json_is_string(kid)))
        return JWT_MALFORMED;
    if (json_object_get(header, "crit") != NULL)
        return JWT_UNSUPPORTED;
    *key = kid == NULL && keys->count == 1 ? &keys->keys[0] : NULL;
    for (size_t i = 0; kid != NULL && i < keys->count; i++) {
        if (strcmp(keys->keys[i].kid, json_string_value(kid)) == 0)
            *key = &keys->keys[i];
    }
    if (*key == NULL)
        return JWT_UNKNOWN_KEY;
    return strcmp(json_string_value(alg), alg_names[(*key)->alg]) == 0 ? JWT_OK : JWT_UNSUPPORTED;
}

static bool evp_verify(
    EVP_PKEY *key, const EVP_MD *digest, struct span text, const uint8_t *signature, size_t bytes)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool good = context != NULL && EVP_DigestVerifyInit(context, NULL, digest, NULL, key) == 1
        && EVP_DigestVerify(context, signature, bytes, (const uint8_t *)text.data, text.size) == 1;
    EVP_MD_CTX_free(context);
    ERR_clear_error(); /* a forged signature is an answer, not a fault to be found later */
    return good;
}

/* JWS carries r and s as two 32-byte numbers, OpenSSL wants them in DER. */
static size_t es256_to_der(const uint8_t raw[2 * ES256_HALF_BYTES], uint8_t der[ES256_DER_BYTES_MAX])
{
    ECDSA_SIG *signature = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(raw, ES256_HALF_BYTES, NULL);
    BIGNUM *s = BN_bin2bn(raw + ES256_HALF_BYTES, ES256_HALF_BYTES, NULL);
    int bytes = 0;
    if (signature != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(signature, r, s) == 1) {
        r = s = NULL; /* owned by the signature now */
        uint8_t *at = der;
        if (i2d_ECDSA_SIG(signature, NULL) <= ES256_DER_BYTES_MAX)
            bytes = i2d_ECDSA_SIG(signature, &at);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(signature);
    return bytes > 0 ? (size_t)bytes : 0;
}

static bool signature_good(
    const struct jwt_key *key, struct span text, const uint8_t *signature, size_t bytes)
{
    uint8_t digest[HASH_SHA256_BYTES];
    uint8_t der[ES256_DER_BYTES_MAX];
    switch (key->alg) {
    case ALG_HS256:
        hash_hmac_sha256(key->secret, key->secret_bytes, text.data, text.size, digest);
        return span_equal_constant_time(span_of(digest, sizeof digest), span_of(signature, bytes));
    case ALG_RS256:
        return evp_verify(key->public_key, EVP_sha256(), text, signature, bytes);
    case ALG_ES256:
        if (bytes != (size_t)2 * ES256_HALF_BYTES)
            return false;
        bytes = es256_to_der(signature, der);
        return bytes > 0 && evp_verify(key->public_key, EVP_sha256(), text, der, bytes);
    case ALG_EDDSA:
        return evp_verify(key->public_key, NULL, text, signature, bytes);
    case ALGS:
        break;
    }
    return false;
}

static enum jwt_answer signature_ask(
    const struct jwt_keys *keys, const struct jwt_parts *parts, uint32_t *key_mark)
{
    json_t *header = part_parse(parts->header);
    if (header == NULL)
        return JWT_MALFORMED;
    const struct jwt_key *key = NULL;
    enum jwt_answer answer = key_find(keys, header, &key);
    json_decref(header);
    if (answer != JWT_OK)
        return answer;
    *key_mark = key->mark;
    uint8_t signature[SIGNATURE_BYTES_MAX];
    size_t bytes = sizeof signature;
    if (base64_decode(parts->signature, signature, &bytes) != STATUS_OK)
        return JWT_MALFORMED;
    return signature_good(key, parts->signed_text, signature, bytes) ? JWT_OK : JWT_FORGED;
}

/* ---- claims ---- */

/* NumericDate: seconds, a fraction allowed. */
static bool seconds_read(const json_t *json, double *seconds)
{
    if (!json_is_number(json))
        return false;
    *seconds = json_number_value(json);
    return isfinite(*seconds) && *seconds >= 0 && *seconds <= SECONDS_MAX;
}

static enum jwt_answer time_ask(const json_t *payload, const struct jwt_rules *rules,
    uint64_t now_ms, struct jwt_claims *claims)
{
    double leeway_s = rules->leeway_s < JWT_LEEWAY_MAX_S ? rules->leeway_s : JWT_LEEWAY_MAX_S;
    double now_s = (double)now_ms / 1000.0;
    double expires_s;
    if (!seconds_read(json_object_get(payload, "exp"), &expires_s))
        return JWT_MALFORMED;
    if (now_s >= expires_s + leeway_s)
        return JWT_EXPIRED;
    static const char *const begins[] = { "nbf", "iat" };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const json_t *claim = json_object_get(payload, begins[i]);
        double begin_s;
        if (claim == NULL)
            continue;
        if (!seconds_read(claim, &begin_s))
            return JWT_MALFORMED;
        if (begin_s > now_s + leeway_s)
            return JWT_NOT_YET;
    }
    claims->expires_ms = (uint64_t)(expires_s * 1000.0);
    return JWT_OK;
}

static bool is_text(const json_t *json, const char *wanted)
{
    return json_is_string(json) && strcmp(json_string_value(json), wanted) == 0;
}

static bool audience_fits(const json_t *audience, const char *wanted)
{
    if (is_text(audience, wanted))
        return true;
    for (size_t i = 0; i < json_array_size(audience); i++) { /* 0 for what is no array */
        if (is_text(json_array_get(audience, i), wanted))
            return true;
    }
    return false;
}

/* False: it is no text, or has not 1 to `most` bytes. */
static bool claim_copy(const json_t *claim, char *out, size_t most, size_t *size)
{
    const size_t bytes = json_is_string(claim) ? json_string_length(claim) : 0;
    if (bytes == 0 || bytes > most)
        return false;
    memcpy(out, json_string_value(claim), bytes);
    *size = bytes;
    return true;
}

/* jti: what makes a token good for one session only. */
static enum jwt_answer id_ask(
    const json_t *payload, const struct jwt_rules *rules, struct jwt_claims *claims)
{
    const json_t *id = json_object_get(payload, "jti");
    if (id == NULL)
        return rules->id_required ? JWT_NO_ID : JWT_OK;
    return claim_copy(id, claims->id, JWT_ID_MAX, &claims->id_bytes) ? JWT_OK : JWT_MALFORMED;
}

static enum jwt_answer channel_ask(const json_t *payload, struct jwt_claims *claims)
{
    const json_t *channel = json_object_get(payload, "channel");
    return channel == NULL
            || claim_copy(channel, claims->channel, CHANNEL_NAME_MAX, &claims->channel_bytes)
        ? JWT_OK
        : JWT_BAD_CHANNEL;
}

static enum jwt_answer claims_ask(const json_t *payload, const struct jwt_rules *rules,
    uint64_t now_ms, struct jwt_claims *claims)
{
    enum jwt_answer answer = time_ask(payload, rules, now_ms, claims);
    if (answer != JWT_OK)
        return answer;
    if (rules->issuer != NULL && !is_text(json_object_get(payload, "iss"), rules->issuer))
        return JWT_WRONG_ISSUER;
    if (rules->audience != NULL && !audience_fits(json_object_get(payload, "aud"), rules->audience))
        return JWT_WRONG_AUDIENCE;
    const json_t *subject = json_object_get(payload, "sub");
    size_t bytes = json_is_string(subject) ? json_string_length(subject) : 0;
    if (bytes == 0 || bytes > SUBJECT_BYTES_MAX)
        return JWT_BAD_SUBJECT;
    memcpy(claims->subject, json_string_value(subject), bytes);
    claims->subject_bytes = bytes;
    answer = channel_ask(payload, claims);
    return answer == JWT_OK ? id_ask(payload, rules, claims) : answer;
}

enum jwt_answer jwt_verify(const struct jwt_keys *keys, const struct jwt_rules *rules,
    struct span token, uint64_t now_ms, struct jwt_claims *claims)
{
    struct jwt_parts parts;
    if (!parts_split(token, &parts))
        return JWT_MALFORMED;
    struct jwt_claims found = { .subject_bytes = 0 };
    enum jwt_answer answer = signature_ask(keys, &parts, &found.key_mark);
    if (answer != JWT_OK)
        return answer;
    json_t *payload = part_parse(parts.payload);
    if (payload == NULL)
        return JWT_MALFORMED;
    answer = claims_ask(payload, rules, now_ms, &found);
    json_decref(payload);
    if (answer == JWT_OK)
        *claims = found;
    return answer;
}
