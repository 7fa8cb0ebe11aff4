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
    uint32_t seen; /* a bit for each row of `members` */
};

/* The objects of a payload, and what stands in them, each exactly once. */
enum object { PAYLOAD, CHALLENGE, PARAMETERS, DATA, SOLUTION };
enum kind { TEXT, NUMBER, OBJECT, PASSED_OVER };
static const struct member {
    enum object in;
    const char *name;
    enum kind kind;
    size_t is; /* where in struct payload; of an object: which */
} members[] = {
    { PAYLOAD, "challenge", OBJECT, CHALLENGE }, { PAYLOAD, "solution", OBJECT, SOLUTION },
    { CHALLENGE, "parameters", OBJECT, PARAMETERS },
    { CHALLENGE, "signature", TEXT, offsetof(struct payload, signature) },
    { PARAMETERS, "algorithm", TEXT, offsetof(struct payload, algorithm) },
    { PARAMETERS, "cost", NUMBER, offsetof(struct payload, cost) }, { PARAMETERS, "data", OBJECT, DATA },
    { PARAMETERS, "expiresAt", NUMBER, offsetof(struct payload, expires_s) },
    { PARAMETERS, "keyLength", NUMBER, offsetof(struct payload, key_length) },
    { PARAMETERS, "keyPrefix", TEXT, offsetof(struct payload, key_prefix) },
    { PARAMETERS, "nonce", TEXT, offsetof(struct payload, nonce) },
    { PARAMETERS, "salt", TEXT, offsetof(struct payload, salt) },
    { DATA, "item", NUMBER, offsetof(struct payload, item) },
    { DATA, "start", NUMBER, offsetof(struct payload, start) },
    { DATA, "user", TEXT, offsetof(struct payload, user) },
    { SOLUTION, "counter", NUMBER, offsetof(struct payload, counter) },
    { SOLUTION, "derivedKey", TEXT, offsetof(struct payload, derived_key) },
    { SOLUTION, "time", PASSED_OVER, 0 }, /* how long the solver took; may be missing */
};
enum { MEMBERS = sizeof members / sizeof *members, MEMBERS_NEEDED = (1 << (MEMBERS - 1)) - 1 };

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

static const struct member *member_find(enum object in, struct span name)
{
    for (size_t i = 0; i < MEMBERS; i++)
        if (members[i].in == in && span_equal(name, span_from_string(members[i].name)))
            return &members[i];
    return NULL;
}

static void object_read(struct json_cursor *in, enum object object, struct payload *payload)
{
    struct span name;
    for (unsigned count = 0; cursor_field(in, &count, &name);) {
        const struct member *member = member_find(object, name);
        const uint32_t bit = member == NULL ? 0 : 1u << (member - members);
        if (member == NULL || (payload->seen & bit) != 0)
            cursor_fail(in);
        else if (member->kind == TEXT)
            cursor_string(in, (struct span *)((char *)payload + member->is));
        else if (member->kind == NUMBER)
            cursor_u32(in, (uint32_t *)((char *)payload + member->is));
        else if (member->kind == OBJECT)
            object_read(in, (enum object)member->is, payload); /* no deeper than `members` */
        else
            cursor_number_skip(in);
        payload->seen |= bit;
    }
}

static bool payload_read(struct span text, struct payload *payload)
{
    struct json_cursor in = json_cursor_of(text);
    *payload = (struct payload){ .seen = 0 };
    object_read(&in, PAYLOAD, payload);
    return cursor_done(&in) && (payload->seen & MEMBERS_NEEDED) == MEMBERS_NEEDED;
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
