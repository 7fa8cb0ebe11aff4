/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/intent.h: the wish to buy an item whose units are taken on payment only. It is a promise of
 * nothing: no unit is held, nothing is stored. 44 bytes signed by us, as 59 base64url characters:
 *   user u64 | item u32 | quantity u16 | channel u8 | version u8 | expires_s u32 | nonce u64 | mac 16
 * Little-endian. mac: the first half of HMAC-SHA256 over the bytes before it, under a key of its own.
 * The nonce makes one intent one purchase, however often it is paid.
 * Thread: any. No allocation, no locks. */
#ifndef STAMPEDE_FUNNEL_INTENT_H
#define STAMPEDE_FUNNEL_INTENT_H

#include "funnel/keys.h"

enum { INTENT_CHARS = 59, INTENT_LIFE_S = 15 * 60 };

struct intent {
    user_id user;
    item_id item;
    uint32_t quantity;
    channel_index channel;
    uint32_t expires_s;
    uint64_t nonce;
    uint8_t version; /* 0: its key is one that users can send too; such ones are not issued any more */
};

/* Writes INTENT_CHARS characters, no NUL. */
void intent_issue(const struct funnel_keys *keys, const struct intent *intent, char out[INTENT_CHARS]);
/* False: malformed, forged or expired. */
MUST_CHECK bool intent_verify(
    const struct funnel_keys *keys, struct span text, uint64_t now_ms, struct intent *intent);
/* command_reserve.key of the purchase that it becomes. */
uint64_t intent_key(const struct funnel_keys *keys, const struct intent *intent);

#endif
