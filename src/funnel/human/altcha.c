/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/altcha.h"

#include "base/base64.h"
#include "base/bytes.h"
#include "funnel/json_cursor.h"

enum { HEX_USER_CHARS = 16, HEX_KEY_CHARS = ALTCHA_SECRET_CHARS };

/* What a payload says, still as text. */
struct payload {
    struct span algorithm, key_prefix, nonce, salt, user, signature, derived_key;
    uint32_t cost, expires_s, key_length, item, start, counter;
    unsigned seen; /* bits of enum field */
};
enum field {
    FIELD_ALGORITHM = 1 << 0,
    FIELD_COST = 1 << 1,
    FIELD_DATA = 1 << 2,
    FIELD_EXPIRES = 1 << 3,
    FIELD_KEY_LENGTH = 1 << 4,
    FIELD_KEY_PREFIX = 1 << 5,
    FIELD_NONCE = 1 << 6,
    FIELD_SALT = 1 << 7,
    FIELD_ITEM = 1 << 8,
    FIELD_USER = 1 << 9,
    FIELD_PARAMETERS = 1 << 10,
    FIELD_SIGNATURE = 1 << 11,
    FIELD_CHALLENGE = 1 << 12,
    FIELD_SOLUTION = 1 << 13,
    FIELD_COUNTER = 1 << 14,
    FIELD_DERIVED_KEY = 1 << 15,
    FIELD_START = 1 << 16,
    FIELDS_ALL = (1 << 17) - 1,
    FIELD_TIME = 1 << 17, /* how long the solver took; may be missing */
};

void altcha_work(uint32_t hashes, struct altcha_challenge *challenge)
{
    if (hashes > ALTCHA_HASHES_MAX)
        hashes = ALTCHA_HASHES_MAX;
    uint32_t digits = 1;
    while (hashes > (uint32_t)ALTCHA_COST_MAX << (4 * digits))
        digits++;
    challenge->digits = digits;
    challenge->cost = (hashes + (1u << (4 * digits)) - 1) >> (4 * digits);
    if (challenge->cost == 0)
        challenge->cost = 1;
    invariant(challenge->cost <= ALTCHA_COST_MAX && digits <= ALTCHA_DIGITS_MAX);
}

/* The parameters as they are signed: keys in order, no space. */
static void parameters_render(const struct altcha_challenge *challenge, struct text *out)
{
    static const char zeros[ALTCHA_DIGITS_MAX + 1] = "00000";
    text_format(out,
        "{\"algorithm\":\"SHA-256\",\"cost\":%u,\"data\":{\"item\":%u,\"start\":%u,\"user\":\"",
        challenge->cost, challenge->item, challenge->start);
    text_hex64(out, challenge->user);
    text_format(out, "\"},\"expiresAt\":%u,\"keyLength\":%d,\"keyPrefix\":\"%.*s\",\"nonce\":\"",
        challenge->expires_s, HASH_SHA256_BYTES, (int)challenge->digits, zeros);
    text_hex(out, span_of(challenge->nonce, sizeof challenge->nonce));
    text_literal(out, "\",\"salt\":\"");
    text_hex(out, span_of(challenge->salt, sizeof challenge->salt));
    text_literal(out, "\"}");
}

static void signature_render(
    struct span parameters, const char secret[ALTCHA_SECRET_CHARS], struct text *out)
{
    uint8_t mac[HASH_SHA256_BYTES];
    hash_hmac_sha256(secret, ALTCHA_SECRET_CHARS, parameters.data, parameters.size, mac);
    text_hex(out, span_of(mac, sizeof mac));
}

void altcha_render(const struct altcha_challenge *challenge, const char secret[ALTCHA_SECRET_CHARS],
    struct text *out)
{
    char bytes[ALTCHA_CHALLENGE_BYTES_MAX];
    struct text parameters = text_in(bytes, sizeof bytes);
    parameters_render(challenge, &parameters);
    invariant(!parameters.overflow);
    text_literal(out, "{\"parameters\":");
    text_add(out, text_span(&parameters));
    text_literal(out, ",\"signature\":\"");
    signature_render(text_span(&parameters), secret, out);
    text_literal(out, "\"}");
}

/* ---- reading */

/* True: the name is this field's, and it is the first of its kind. */
static bool field_is(struct json_cursor *in, struct payload *payload, struct span name,
    const char *wanted, enum field field)
{
    if (!span_equal(name, span_from_string(wanted)))
        return false;
    if ((payload->seen & field) != 0)
        cursor_fail(in);
    payload->seen |= field;
    return true;
}

static void data_read(struct json_cursor *in, struct payload *payload)
{
    struct span name;
    for (unsigned count = 0; cursor_field(in, &count, &name);) {
        if (field_is(in, payload, name, "item", FIELD_ITEM))
            cursor_u32(in, &payload->item);
        else if (field_is(in, payload, name, "start", FIELD_START))
            cursor_u32(in, &payload->start);
        else if (field_is(in, payload, name, "user", FIELD_USER))
            cursor_string(in, &payload->user);
        else
            cursor_fail(in);
    }
}

static void parameters_read(struct json_cursor *in, struct payload *payload)
{
    struct span name;
    for (unsigned count = 0; cursor_field(in, &count, &name);) {
        if (field_is(in, payload, name, "algorithm", FIELD_ALGORITHM))
            cursor_string(in, &payload->algorithm);
        else if (field_is(in, payload, name, "cost", FIELD_COST))
            cursor_u32(in, &payload->cost);
        else if (field_is(in, payload, name, "data", FIELD_DATA))
            data_read(in, payload);
        else if (field_is(in, payload, name, "expiresAt", FIELD_EXPIRES))
            cursor_u32(in, &payload->expires_s);
        else if (field_is(in, payload, name, "keyLength", FIELD_KEY_LENGTH))
            cursor_u32(in, &payload->key_length);
        else if (field_is(in, payload, name, "keyPrefix", FIELD_KEY_PREFIX))
            cursor_string(in, &payload->key_prefix);
        else if (field_is(in, payload, name, "nonce", FIELD_NONCE))
            cursor_string(in, &payload->nonce);
        else if (field_is(in, payload, name, "salt", FIELD_SALT))
            cursor_string(in, &payload->salt);
        else
            cursor_fail(in);
    }
}

static void challenge_read(struct json_cursor *in, struct payload *payload)
{
    struct span name;
    for (unsigned count = 0; cursor_field(in, &count, &name);) {
        if (field_is(in, payload, name, "parameters", FIELD_PARAMETERS))
            parameters_read(in, payload);
        else if (field_is(in, payload, name, "signature", FIELD_SIGNATURE))
            cursor_string(in, &payload->signature);
        else
            cursor_fail(in);
    }
}

static void solution_read(struct json_cursor *in, struct payload *payload)
{
    struct span name;
    for (unsigned count = 0; cursor_field(in, &count, &name);) {
        if (field_is(in, payload, name, "counter", FIELD_COUNTER))
            cursor_u32(in, &payload->counter);
        else if (field_is(in, payload, name, "derivedKey", FIELD_DERIVED_KEY))
            cursor_string(in, &payload->derived_key);
        else if (field_is(in, payload, name, "time", FIELD_TIME))
            cursor_number_skip(in);
        else
            cursor_fail(in);
    }
}

static bool payload_read(struct span text, struct payload *payload)
{
    struct json_cursor in = json_cursor_of(text);
    struct span name;
    *payload = (struct payload){ .seen = 0 };
    for (unsigned count = 0; cursor_field(&in, &count, &name);) {
        if (field_is(&in, payload, name, "challenge", FIELD_CHALLENGE))
            challenge_read(&in, payload);
        else if (field_is(&in, payload, name, "solution", FIELD_SOLUTION))
            solution_read(&in, payload);
        else
            cursor_fail(&in);
    }
    return cursor_done(&in) && (payload->seen & FIELDS_ALL) == FIELDS_ALL;
}

static bool hex_read(struct span text, uint8_t *bytes, size_t size)
{
    if (text.size != 2 * size)
        return false;
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word;
        if (span_to_hex64(span_of(text.data + 2 * i, HEX_USER_CHARS), &word) != STATUS_OK)
            return false;
        for (size_t j = 0; j < sizeof word; j++)
            bytes[i + j] = (uint8_t)(word >> (56 - 8 * j));
    }
    return true;
}

/* Only what we could have written becomes a challenge: the rest need not be looked at further. */
static bool challenge_from(const struct payload *payload, struct altcha_challenge *challenge)
{
    *challenge = (struct altcha_challenge){ .cost = payload->cost,
        .digits = (uint32_t)payload->key_prefix.size,
        .item = payload->item,
        .start = payload->start,
        .expires_s = payload->expires_s };
    if (!span_equal(payload->algorithm, SPAN("SHA-256")) || payload->key_length != HASH_SHA256_BYTES
        || payload->cost == 0 || payload->cost > ALTCHA_COST_MAX || challenge->digits == 0
        || challenge->digits > ALTCHA_DIGITS_MAX)
        return false;
    for (size_t i = 0; i < payload->key_prefix.size; i++)
        if (payload->key_prefix.data[i] != '0')
            return false;
    return span_to_hex64(payload->user, &challenge->user) == STATUS_OK
        && hex_read(payload->nonce, challenge->nonce, sizeof challenge->nonce)
        && hex_read(payload->salt, challenge->salt, sizeof challenge->salt);
}

static bool signature_holds(const struct altcha_challenge *challenge, struct span signature,
    const char secret[ALTCHA_SECRET_CHARS])
{
    char bytes[ALTCHA_CHALLENGE_BYTES_MAX], hex[HEX_KEY_CHARS];
    struct text parameters = text_in(bytes, sizeof bytes), ours = text_in(hex, sizeof hex);
    parameters_render(challenge, &parameters);
    invariant(!parameters.overflow);
    signature_render(text_span(&parameters), secret, &ours);
    return span_equal_constant_time(signature, text_span(&ours));
}

/* ---- work */

void altcha_derive(
    const struct altcha_challenge *challenge, uint32_t counter, uint8_t key[HASH_SHA256_BYTES])
{
    uint8_t text[2 * ALTCHA_NONCE_BYTES + sizeof counter];
    memcpy(text, challenge->salt, ALTCHA_NONCE_BYTES);
    memcpy(text + ALTCHA_NONCE_BYTES, challenge->nonce, ALTCHA_NONCE_BYTES);
    for (unsigned i = 0; i < sizeof counter; i++)
        text[2 * ALTCHA_NONCE_BYTES + i] = (uint8_t)(counter >> (24 - 8 * i));
    hash_sha256(text, sizeof text, key);
    for (uint32_t i = 1; i < challenge->cost; i++)
        hash_sha256(key, HASH_SHA256_BYTES, key);
}

bool altcha_fits(const struct altcha_challenge *challenge, const uint8_t key[HASH_SHA256_BYTES])
{
    for (uint32_t i = 0; i < challenge->digits; i++)
        if ((key[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15) != 0)
            return false;
    return true;
}

static bool solution_holds(const struct altcha_challenge *challenge, const struct payload *payload)
{
    uint8_t key[HASH_SHA256_BYTES];
    char hex[HEX_KEY_CHARS];
    struct text text = text_in(hex, sizeof hex);
    altcha_derive(challenge, payload->counter, key);
    text_hex(&text, span_of(key, sizeof key));
    return altcha_fits(challenge, key) && span_equal(text_span(&text), payload->derived_key);
}

enum altcha_answer altcha_check(struct span payload, const char secret[ALTCHA_SECRET_CHARS],
    item_id item, user_id user, uint64_t now_ms, struct altcha_challenge *challenge)
{
    char bytes[ALTCHA_PAYLOAD_BYTES_MAX];
    size_t size = sizeof bytes;
    struct payload read;
    if (base64_standard_decode(payload, bytes, &size) != STATUS_OK
        || !payload_read(span_of(bytes, size), &read) || !challenge_from(&read, challenge))
        return ALTCHA_MALFORMED;
    if (!signature_holds(challenge, read.signature, secret))
        return ALTCHA_FORGED;
    if (now_ms >= (uint64_t)challenge->expires_s * 1000)
        return ALTCHA_EXPIRED;
    if (challenge->item != item || challenge->user != user)
        return ALTCHA_FOREIGN;
    return solution_holds(challenge, &read) ? ALTCHA_SOLVED : ALTCHA_WRONG;
}
