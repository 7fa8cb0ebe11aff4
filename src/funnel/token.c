/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/token.h"

#include "base/base64.h"
#include "base/bytes.h"

enum {
    USER_AT = 0,
    SESSION_EXPIRES_AT = 8,
    SESSION_ISSUED_AT = 12,
    SESSION_FLAGS_AT = 16,
    PASS_ITEM_AT = 8,
    PASS_EXPIRES_AT = 12,
    PASS_NONCE_AT = 16,
    MAC_AT = TOKEN_SIGNED_BYTES,
    SESSION_FLAG_GUEST = 1,
    SESSION_MARK_SHIFT = 8,
    SESSION_CHANNEL_SHIFT = 1,
    SESSION_FLAGS_UNUSED = 0xf0,
    PASS_CHANNEL_SHIFT = 28,
};
static_assert(CHANNELS_MAX == 8 && ITEMS_LIMIT <= 1 << PASS_CHANNEL_SHIFT, "three bits beside an item");
static_assert((int)TOKEN_CHARS == (int)BASE64_48_CHARS && (int)TOKEN_BYTES == (int)BASE64_48_BYTES,
    "no padding, no stray bits");
static_assert((int)TOKEN_SIGNED_BYTES == (int)CIPHER_MAC_MESSAGE_BYTES, "a token is one message");
static_assert(MAC_AT + sizeof(struct hash128) == TOKEN_BYTES, "the mac ends the token");

#define PASS_ONCE_BIT UINT32_C(0x80000000)
#define PASS_REPEAT_BIT UINT32_C(0x80000000)
static_assert(ITEMS_LIMIT <= INT32_MAX, "the bit is free");

struct token {
    uint8_t bytes[BASE64_48_ROOM];
};

static inline bool token_decode(struct span text, struct token *token)
{
    return text.size == TOKEN_CHARS && base64_decode_48(text.data, token->bytes);
}

static inline bool token_signed_by(const struct token *token, const struct cipher_mac *key)
{
    struct hash128 mac = cipher_mac_of(key, token->bytes);
    /* Both halves always: the time says nothing about where they differ. */
    return ((mac.low ^ bytes_get_u64(token->bytes + MAC_AT))
               | (mac.high ^ bytes_get_u64(token->bytes + MAC_AT + 8)))
        == 0;
}

static inline enum token_answer token_check(const struct token *token,
    const struct epoch_keys *epochs, uint32_t epoch_s, uint32_t expires_s, uint64_t now_ms)
{
    bool expired = now_ms >= (uint64_t)expires_s * 1000;
    const struct cipher_mac *key = epoch_key(epochs, expires_s / epoch_s);
    if (key == NULL)
        return expired ? TOKEN_EXPIRED : TOKEN_FORGED; /* too old to tell, or later than we ever sign */
    if (!token_signed_by(token, key))
        return TOKEN_FORGED;
    return expired ? TOKEN_EXPIRED : TOKEN_OK;
}

static void token_sign(
    struct token *token, const struct epoch_keys *epochs, uint32_t epoch, char out[TOKEN_CHARS])
{
    const struct cipher_mac *key = epoch_key(epochs, epoch);
    invariant(key != NULL);
    struct hash128 mac = cipher_mac_of(key, token->bytes);
    bytes_put_u64(token->bytes + MAC_AT, mac.low);
    bytes_put_u64(token->bytes + MAC_AT + 8, mac.high);
    size_t chars = base64_encode(token->bytes, TOKEN_BYTES, out);
    invariant(chars == TOKEN_CHARS);
}

void session_issue(const struct funnel_keys *keys, const struct session *session, char out[TOKEN_CHARS])
{
    struct token token;
    invariant(session->user != 0 && session->key_mark <= KEY_MARK_MAX && session->channel < CHANNELS_MAX);
    bytes_put_u64(token.bytes + USER_AT, session->user);
    bytes_put_u32(token.bytes + SESSION_EXPIRES_AT, session->expires_s);
    bytes_put_u32(token.bytes + SESSION_ISSUED_AT, session->issued_s);
    bytes_put_u32(token.bytes + SESSION_FLAGS_AT,
        session->key_mark << SESSION_MARK_SHIFT | (uint32_t)session->channel << SESSION_CHANNEL_SHIFT
            | (session->guest ? SESSION_FLAG_GUEST : 0));
    token_sign(&token, &keys->session, session->expires_s / SESSION_EPOCH_S, out);
}

void pass_issue(const struct funnel_keys *keys, const struct pass *pass, char out[TOKEN_CHARS])
{
    struct token token;
    invariant(pass->user != 0 && pass->item != 0 && pass->nonce <= PASS_NONCE_MAX);
    bytes_put_u64(token.bytes + USER_AT, pass->user);
    invariant(pass->item < ITEMS_LIMIT && pass->channel < CHANNELS_MAX);
    bytes_put_u32(token.bytes + PASS_ITEM_AT,
        pass->item | (uint32_t)pass->channel << PASS_CHANNEL_SHIFT
            | (pass->repeat_only ? PASS_REPEAT_BIT : 0));
    bytes_put_u32(token.bytes + PASS_EXPIRES_AT, pass->expires_s);
    bytes_put_u32(token.bytes + PASS_NONCE_AT, pass->nonce | (pass->once ? PASS_ONCE_BIT : 0));
    token_sign(&token, &keys->pass, pass->expires_s / PASS_EPOCH_S, out);
}

enum token_answer session_verify(
    const struct funnel_keys *keys, struct span text, uint64_t now_ms, struct session *session)
{
    struct token token;
    if (!token_decode(text, &token))
        return TOKEN_MALFORMED;
    uint32_t flags = bytes_get_u32(token.bytes + SESSION_FLAGS_AT);
    if ((flags & SESSION_FLAGS_UNUSED) != 0)
        return TOKEN_MALFORMED;
    uint32_t expires_s = bytes_get_u32(token.bytes + SESSION_EXPIRES_AT);
    enum token_answer answer = token_check(&token, &keys->session, SESSION_EPOCH_S, expires_s, now_ms);
    if (answer == TOKEN_OK)
        *session = (struct session){
            .user = bytes_get_u64(token.bytes + USER_AT),
            .expires_s = expires_s,
            .issued_s = bytes_get_u32(token.bytes + SESSION_ISSUED_AT),
            .key_mark = flags >> SESSION_MARK_SHIFT,
            .channel = (channel_index)(flags >> SESSION_CHANNEL_SHIFT & (CHANNELS_MAX - 1)),
            .guest = (flags & SESSION_FLAG_GUEST) != 0,
        };
    return answer;
}

enum token_answer pass_verify(
    const struct funnel_keys *keys, struct span text, uint64_t now_ms, struct pass *pass)
{
    struct token token;
    if (!token_decode(text, &token))
        return TOKEN_MALFORMED;
    uint32_t expires_s = bytes_get_u32(token.bytes + PASS_EXPIRES_AT);
    enum token_answer answer = token_check(&token, &keys->pass, PASS_EPOCH_S, expires_s, now_ms);
    const uint32_t item = bytes_get_u32(token.bytes + PASS_ITEM_AT);
    if (answer == TOKEN_OK)
        *pass = (struct pass){
            .user = bytes_get_u64(token.bytes + USER_AT),
            .item = item & ((1u << PASS_CHANNEL_SHIFT) - 1),
            .channel = (channel_index)(item >> PASS_CHANNEL_SHIFT & (CHANNELS_MAX - 1)),
            .expires_s = expires_s,
            .nonce = bytes_get_u32(token.bytes + PASS_NONCE_AT) & PASS_NONCE_MAX,
            .once = (bytes_get_u32(token.bytes + PASS_NONCE_AT) & PASS_ONCE_BIT) != 0,
            .repeat_only = (bytes_get_u32(token.bytes + PASS_ITEM_AT) & PASS_REPEAT_BIT) != 0,
        };
    return answer;
}

bool token_bearer(struct span authorization, struct span *token)
{
    static const struct span scheme = { "bearer", 6 };
    size_t at = scheme.size;
    if (authorization.size <= at || !span_equal_ignoring_case(span_of(authorization.data, at), scheme))
        return false;
    if (authorization.data[at] != ' ')
        return false;
    while (at < authorization.size && authorization.data[at] == ' ')
        at++;
    *token = span_of(authorization.data + at, authorization.size - at);
    return token->size > 0;
}
