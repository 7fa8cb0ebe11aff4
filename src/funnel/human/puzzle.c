/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/puzzle.h"

#include "base/base64.h"
#include "base/bytes.h"

enum {
    KIND_AT = 0,
    ITEM_AT = 4,
    USER_AT = 8,
    EXPIRES_AT = 16,
    NONCE_AT = 20,
    ANSWER_AT = 28,
    START_AT = 36,
    MAC_AT = 40,
    MAC_BYTES = PUZZLE_BYTES - MAC_AT,
    CODE_BYTES_MAX = 16,
};
static_assert(MAC_BYTES == 16, "half of an HMAC");
static_assert((PUZZLE_BYTES * 4 + 2) / 3 == PUZZLE_CHARS, "no padding");

static uint64_t answer_hash(const struct funnel_keys *keys, enum human_check kind, uint64_t nonce,
    const void *answer, size_t bytes)
{
    uint8_t text[1 + sizeof nonce + CODE_BYTES_MAX];
    invariant(bytes <= CODE_BYTES_MAX);
    text[0] = (uint8_t)kind;
    bytes_put_u64(text + 1, nonce);
    memcpy(text + 1 + sizeof nonce, answer, bytes);
    return hash_siphash(keys->puzzle, text, 1 + sizeof nonce + bytes);
}

uint64_t puzzle_code_hash(const struct funnel_keys *keys, uint64_t nonce, struct span code)
{
    char upper[CODE_BYTES_MAX];
    const size_t size = code.size < sizeof upper ? code.size : sizeof upper;
    for (size_t i = 0; i < size; i++)
        upper[i] = (char)(code.data[i] >= 'a' && code.data[i] <= 'z' ? code.data[i] - 'a' + 'A'
                                                                     : code.data[i]);
    return answer_hash(keys, HUMAN_IMAGE, nonce, upper, size);
}

/* Half of an answer: each piece is looked at by itself, so that all places within the tolerance are few. */
static uint32_t piece_hash(const struct funnel_keys *keys, uint64_t nonce, uint32_t piece, uint32_t x)
{
    uint8_t bytes[2 * sizeof x];
    bytes_put_u32(bytes, piece);
    bytes_put_u32(bytes + sizeof x, x);
    return (uint32_t)answer_hash(keys, HUMAN_SLIDER, nonce, bytes, sizeof bytes);
}

uint64_t puzzle_slider_hash(
    const struct funnel_keys *keys, uint64_t nonce, const uint32_t x[PUZZLE_PIECES])
{
    static_assert(PUZZLE_PIECES == 2, "two halves");
    return (uint64_t)piece_hash(keys, nonce, 1, x[1]) << 32 | piece_hash(keys, nonce, 0, x[0]);
}

static void mac_make(const struct funnel_keys *keys, const uint8_t bytes[PUZZLE_BYTES], uint8_t *mac)
{
    uint8_t digest[HASH_SHA256_BYTES];
    hash_hmac_sha256(keys->human, sizeof keys->human, bytes, MAC_AT, digest);
    memcpy(mac, digest, MAC_BYTES);
}

void puzzle_issue(const struct funnel_keys *keys, const struct puzzle *puzzle, char out[PUZZLE_CHARS])
{
    uint8_t bytes[PUZZLE_BYTES];
    invariant(puzzle->kind == HUMAN_IMAGE || puzzle->kind == HUMAN_SLIDER
        || puzzle->kind == PUZZLE_OUTSIDE);
    bytes_put_u32(bytes + KIND_AT, puzzle->kind);
    bytes_put_u32(bytes + ITEM_AT, puzzle->item);
    bytes_put_u64(bytes + USER_AT, puzzle->user);
    bytes_put_u32(bytes + EXPIRES_AT, puzzle->expires_s);
    bytes_put_u64(bytes + NONCE_AT, puzzle->nonce);
    bytes_put_u64(bytes + ANSWER_AT, puzzle->answer);
    bytes_put_u32(bytes + START_AT, puzzle->start);
    mac_make(keys, bytes, bytes + MAC_AT);
    const size_t chars = base64_encode(bytes, sizeof bytes, out);
    invariant(chars == PUZZLE_CHARS);
}

enum puzzle_answer puzzle_read(const struct funnel_keys *keys, struct span token, item_id item,
    user_id user, uint64_t now_ms, struct puzzle *puzzle)
{
    uint8_t bytes[PUZZLE_BYTES], mac[MAC_BYTES];
    size_t size = sizeof bytes;
    if (token.size != PUZZLE_CHARS || base64_decode(token, bytes, &size) != STATUS_OK
        || size != sizeof bytes)
        return PUZZLE_MALFORMED;
    mac_make(keys, bytes, mac);
    if (!span_equal_constant_time(span_of(mac, sizeof mac), span_of(bytes + MAC_AT, MAC_BYTES)))
        return PUZZLE_FORGED;
    const struct puzzle read = { .kind = bytes_get_u32(bytes + KIND_AT),
        .item = bytes_get_u32(bytes + ITEM_AT),
        .user = bytes_get_u64(bytes + USER_AT),
        .expires_s = bytes_get_u32(bytes + EXPIRES_AT),
        .nonce = bytes_get_u64(bytes + NONCE_AT),
        .answer = bytes_get_u64(bytes + ANSWER_AT),
        .start = bytes_get_u32(bytes + START_AT) };
    if (now_ms >= (uint64_t)read.expires_s * 1000)
        return PUZZLE_EXPIRED;
    if (read.item != item || read.user != user)
        return PUZZLE_FOREIGN;
    *puzzle = read;
    return PUZZLE_GOOD;
}

bool puzzle_code_fits(const struct funnel_keys *keys, const struct puzzle *puzzle, struct span code)
{
    return puzzle->kind == HUMAN_IMAGE && code.size == PUZZLE_CODE_CHARS
        && (puzzle_code_hash(keys, puzzle->nonce, code) ^ puzzle->answer) == 0;
}

/* All places within the tolerance of all pieces are tried, whichever fit: the time says nothing. */
bool puzzle_slider_fits(
    const struct funnel_keys *keys, const struct puzzle *puzzle, const uint32_t x[PUZZLE_PIECES])
{
    unsigned fits[PUZZLE_PIECES] = { 0 };
    if (puzzle->kind != HUMAN_SLIDER || x[0] > PUZZLE_X_MAX || x[1] > PUZZLE_X_MAX)
        return false;
    for (uint32_t piece = 0; piece < PUZZLE_PIECES; piece++) {
        const uint32_t wanted = (uint32_t)(puzzle->answer >> (32 * piece));
        for (uint32_t off = 0; off <= 2 * PUZZLE_TOLERANCE; off++) {
            const uint32_t place = x[piece] + off - PUZZLE_TOLERANCE; /* wraps below 0: no place */
            fits[piece] |= piece_hash(keys, puzzle->nonce, piece, place) == wanted;
        }
    }
    return (fits[0] & fits[1]) != 0;
}
