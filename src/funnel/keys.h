/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/keys.h: every secret of the funnel, derived from one 32-byte master secret by HMAC-SHA256
 * under a label.
 * Fixed keys: the ids told to people, user ids, idempotency keys, the buyer filter. They must
 * never change while anything that was told is alive, so they follow from the master alone.
 * Rotating keys: one per epoch for sessions and passes. A token is signed with the key of the
 * epoch in which it expires: the token itself says which key, and no key is worth anything after
 * its epoch. The previous, current and next one are at hand; the previous only tells "expired"
 * from "forged".
 * Thread: one copy per thread (plain data, copy by assignment); funnel_keys_turn once per loop
 * turn, the rest only reads. Memory: no pointers, nothing to free; wipe it with explicit_bzero if
 * it must go. */
#ifndef STAMPEDE_FUNNEL_KEYS_H
#define STAMPEDE_FUNNEL_KEYS_H

#include "base/cipher.h"
#include "base/hash.h"
#include "base/span.h"
#include "contract/types.h"

enum {
    FUNNEL_MASTER_BYTES = 32, /* at least; more is folded in */
    FUNNEL_EPOCHS_HELD = 3,   /* previous, current, next */
    PASS_EPOCH_S = 60 * 60,
    SESSION_EPOCH_S = 24 * 60 * 60,
    PASS_LIFE_MAX_S = PASS_EPOCH_S, /* so that an expiry lies in the current or the next epoch */
    SESSION_LIFE_MAX_S = SESSION_EPOCH_S,
};

struct epoch_keys {
    uint32_t first; /* epoch number of keys[0] */
    uint32_t held;  /* 0 before the first funnel_keys_turn */
    struct cipher_mac keys[FUNNEL_EPOCHS_HELD];
};

struct funnel_keys {
    uint8_t root[HASH_SHA256_BYTES]; /* what the rotating keys come from */
    struct cipher_permutation ticket, order;
    struct cipher_pair ids; /* both */
    struct hash_key user;
    struct hash_key payer; /* who paid, as a provider knows them (orders/cashier.h) */
    struct hash_key idempotency;
    struct hash_key filter;              /* for board.filter_key */
    struct hash_key drop;                /* which users are dropped early, see drop.h */
    struct hash_key spent;               /* marks of what may be used once (funnel/spent.h) */
    struct hash_key address;             /* names of addresses among gateways (funnel/limits.h) */
    uint8_t intent[HASH_SHA256_BYTES];   /* signs intents (funnel/intent.h) */
    uint8_t customer[HASH_SHA256_BYTES]; /* seals the shop's names for users (api/customers.h) */
    struct hash_key puzzle;              /* answers of image and slider (funnel/human/puzzle.h) */
    char human[2 * HASH_SHA256_BYTES];   /* signs challenges; text, because ALTCHA wants text */
    struct epoch_keys pass, session;
};

/* STATUS_BAD_INPUT: fewer than FUNNEL_MASTER_BYTES. Holds no rotating keys until the first turn. */
MUST_CHECK enum status funnel_keys_derive(struct funnel_keys *keys, const void *master, size_t bytes);
/* Makes the rotating keys fit the time; costs a few comparisons unless an epoch has begun. */
void funnel_keys_turn(struct funnel_keys *keys, uint64_t now_ms);
/* NULL: that epoch's key is not held. */
static inline const struct cipher_mac *epoch_key(const struct epoch_keys *epochs, uint32_t epoch)
{
    uint32_t index = epoch - epochs->first; /* wraps for epochs before the first */
    return index < epochs->held ? &epochs->keys[index] : NULL;
}

/* The shop's name for a user as our user id. Never 0. */
user_id funnel_user_id(const struct funnel_keys *keys, struct span subject);
/* An Idempotency-Key (at most KEY_BYTES_MAX) of a user as command_reserve.key. Never 0. */
uint64_t funnel_key_hash(const struct funnel_keys *keys, user_id user, struct span idempotency_key);
/* For purchases that we make in a user's name: a space of keys that no user can send. */
uint64_t funnel_own_key(const struct funnel_keys *keys, user_id user, const char *kind, uint64_t number);

/* What is told outside, and back. A made-up id gives some number: ask the inventory whose it is. */
uint64_t funnel_ticket_id(const struct funnel_keys *keys, ticket_number ticket);
ticket_number funnel_ticket_number(const struct funnel_keys *keys, uint64_t ticket_id);
uint64_t funnel_order_id(const struct funnel_keys *keys, ticket_number ticket);
ticket_number funnel_order_number(const struct funnel_keys *keys, uint64_t order_id);
/* Both ids of a win at once. */
struct win_ids {
    uint64_t ticket, order;
};
struct win_ids funnel_win_ids(const struct funnel_keys *keys, ticket_number ticket);

#endif
