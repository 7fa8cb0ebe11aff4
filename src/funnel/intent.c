/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/intent.h"

#include "base/base64.h"
#include "base/bytes.h"

#include <stdio.h>

enum { INTENT_VERSION = 1 };
enum { SIGNED_BYTES = 28, MAC_BYTES = 16, INTENT_BYTES = SIGNED_BYTES + MAC_BYTES };

static void mac_of(const struct funnel_keys *keys, const uint8_t *bytes, uint8_t mac[MAC_BYTES])
{
    uint8_t digest[HASH_SHA256_BYTES];
    hash_hmac_sha256(keys->intent, sizeof keys->intent, bytes, SIGNED_BYTES, digest);
    memcpy(mac, digest, MAC_BYTES);
}

void intent_issue(const struct funnel_keys *keys, const struct intent *intent, char out[INTENT_CHARS])
{
    uint8_t bytes[INTENT_BYTES] = { 0 };
    bytes_put_u64(bytes, intent->user);
    bytes_put_u32(bytes + 8, intent->item);
    bytes_put_u32(bytes + 12,
        intent->quantity | (uint32_t)intent->channel << 16 | (uint32_t)INTENT_VERSION << 24);
    bytes_put_u32(bytes + 16, intent->expires_s);
    bytes_put_u64(bytes + 20, intent->nonce);
    mac_of(keys, bytes, bytes + SIGNED_BYTES);
    invariant(base64_encode(bytes, sizeof bytes, out) == INTENT_CHARS);
}

bool intent_verify(const struct funnel_keys *keys, struct span text, uint64_t now_ms, struct intent *intent)
{
    uint8_t bytes[INTENT_BYTES], mac[MAC_BYTES];
    size_t size = sizeof bytes;
    if (text.size != INTENT_CHARS || base64_decode(text, bytes, &size) != STATUS_OK || size != sizeof bytes)
        return false;
    mac_of(keys, bytes, mac);
    if (!span_equal_constant_time(span_of(mac, MAC_BYTES), span_of(bytes + SIGNED_BYTES, MAC_BYTES)))
        return false;
    const uint32_t packed = bytes_get_u32(bytes + 12);
    *intent = (struct intent){ .user = bytes_get_u64(bytes),
        .item = bytes_get_u32(bytes + 8),
        .quantity = packed & 0xffff,
        .channel = (channel_index)(packed >> 16 & 0xff),
        .version = (uint8_t)(packed >> 24),
        .expires_s = bytes_get_u32(bytes + 16),
        .nonce = bytes_get_u64(bytes + 20) };
    return now_ms / 1000 < intent->expires_s && intent->version <= INTENT_VERSION;
}

uint64_t intent_key(const struct funnel_keys *keys, const struct intent *intent)
{
    char name[32];
    if (intent->version > 0)
        return funnel_own_key(keys, intent->user, "intent", intent->nonce);
    const int size = snprintf(name, sizeof name, "intent-%016llx", (unsigned long long)intent->nonce);
    return funnel_key_hash(keys, intent->user, span_of(name, (size_t)size));
}
