/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/keys.h"

#include "base/bytes.h"
#include "base/text.h"

#include <stdio.h>

/* Labels are part of what was told to people and of tokens in flight: never change one. */
static void digest_from(const uint8_t root[HASH_SHA256_BYTES], struct span label, uint64_t number,
    uint8_t digest[HASH_SHA256_BYTES])
{
    enum { LABEL_MAX = 32 };
    uint8_t text[LABEL_MAX + sizeof number];
    invariant(label.size <= LABEL_MAX);
    memcpy(text, label.data, label.size);
    bytes_put_u64(text + label.size, number);
    hash_hmac_sha256(root, HASH_SHA256_BYTES, text, label.size + sizeof number, digest);
}

static struct hash_key key_from(const uint8_t root[HASH_SHA256_BYTES], struct span label, uint64_t number)
{
    uint8_t digest[HASH_SHA256_BYTES];
    digest_from(root, label, number, digest);
    struct hash_key key = { bytes_get_u64(digest), bytes_get_u64(digest + 8) };
    explicit_bzero(digest, sizeof digest);
    return key;
}

/* All 32 bytes, as hex digits. */
static void secret_from(const uint8_t root[HASH_SHA256_BYTES], struct span label, char *out)
{
    uint8_t digest[HASH_SHA256_BYTES];
    struct text text = text_in(out, 2 * HASH_SHA256_BYTES);
    digest_from(root, label, 0, digest);
    text_hex(&text, span_of(digest, sizeof digest));
    explicit_bzero(digest, sizeof digest);
}

enum status funnel_keys_derive(struct funnel_keys *keys, const void *master, size_t bytes)
{
    static const char root_label[] = "stampede funnel 1";
    *keys = (struct funnel_keys){ .pass.held = 0 };
    if (bytes < FUNNEL_MASTER_BYTES)
        return STATUS_BAD_INPUT;
    hash_hmac_sha256(master, bytes, root_label, sizeof root_label - 1, keys->root);
    cipher_permutation_make(&keys->ticket, key_from(keys->root, SPAN("ticket id"), 0));
    cipher_permutation_make(&keys->order, key_from(keys->root, SPAN("order id"), 0));
    cipher_pair_make(&keys->ids, &keys->ticket, &keys->order);
    keys->user = key_from(keys->root, SPAN("user id"), 0);
    keys->payer = key_from(keys->root, SPAN("payment identity"), 0);
    keys->idempotency = key_from(keys->root, SPAN("idempotency key"), 0);
    keys->filter = key_from(keys->root, SPAN("buyer filter"), 0);
    keys->drop = key_from(keys->root, SPAN("early drop"), 0);
    keys->spent = key_from(keys->root, SPAN("spent"), 0);
    keys->address = key_from(keys->root, SPAN("address"), 0);
    keys->puzzle = key_from(keys->root, SPAN("puzzle"), 0);
    digest_from(keys->root, SPAN("intent"), 0, keys->intent);
    digest_from(keys->root, SPAN("customer"), 0, keys->customer);
    secret_from(keys->root, SPAN("human check"), keys->human);
    return STATUS_OK;
}

static void epochs_turn(struct epoch_keys *epochs, const uint8_t *root, struct span label, uint32_t current)
{
    if (epochs->held == FUNNEL_EPOCHS_HELD && epochs->first + 1 == current)
        return;
    epochs->first = current - 1; /* in epoch 0 of 1970 this wraps, and epoch_key with it */
    epochs->held = FUNNEL_EPOCHS_HELD;
    for (uint32_t i = 0; i < FUNNEL_EPOCHS_HELD; i++) {
        uint8_t secret[CIPHER_MAC_KEY_BYTES];
        const struct hash_key key = key_from(root, label, epochs->first + i);
        bytes_put_u64(secret, key.k0);
        bytes_put_u64(secret + 8, key.k1);
        cipher_mac_make(&epochs->keys[i], secret);
        explicit_bzero(secret, sizeof secret);
    }
}

void funnel_keys_turn(struct funnel_keys *keys, uint64_t now_ms)
{
    uint64_t now_s = now_ms / 1000;
    invariant(now_s <= UINT32_MAX);
    epochs_turn(&keys->pass, keys->root, SPAN("pass epoch"), (uint32_t)now_s / PASS_EPOCH_S);
    epochs_turn(&keys->session, keys->root, SPAN("session epoch"), (uint32_t)now_s / SESSION_EPOCH_S);
}

static uint64_t never_zero(uint64_t hash)
{
    return hash != 0 ? hash : 1;
}

user_id funnel_user_id(const struct funnel_keys *keys, struct span subject)
{
    return never_zero(hash_siphash(keys->user, subject.data, subject.size));
}

uint64_t funnel_key_hash(const struct funnel_keys *keys, user_id user, struct span idempotency_key)
{
    uint8_t text[sizeof user + KEY_BYTES_MAX];
    invariant(idempotency_key.size > 0 && idempotency_key.size <= KEY_BYTES_MAX);
    bytes_put_u64(text, user);
    memcpy(text + sizeof user, idempotency_key.data, idempotency_key.size);
    return never_zero(hash_siphash(keys->idempotency, text, sizeof user + idempotency_key.size));
}

uint64_t funnel_own_key(const struct funnel_keys *keys, user_id user, const char *kind, uint64_t number)
{
    char name[KEY_BYTES_MAX + 1]; /* begins with a byte that no header's value can have */
    const int size = snprintf(name, sizeof name, "\x01%s-%016llx", kind, (unsigned long long)number);
    invariant(size > 0 && size <= KEY_BYTES_MAX);
    return funnel_key_hash(keys, user, span_of(name, (size_t)size));
}

uint64_t funnel_ticket_id(const struct funnel_keys *keys, ticket_number ticket)
{
    return cipher_permute(&keys->ticket, ticket);
}

ticket_number funnel_ticket_number(const struct funnel_keys *keys, uint64_t ticket_id)
{
    return cipher_unpermute(&keys->ticket, ticket_id);
}

uint64_t funnel_order_id(const struct funnel_keys *keys, ticket_number ticket)
{
    return cipher_permute(&keys->order, ticket);
}

ticket_number funnel_order_number(const struct funnel_keys *keys, uint64_t order_id)
{
    return cipher_unpermute(&keys->order, order_id);
}

struct win_ids funnel_win_ids(const struct funnel_keys *keys, ticket_number ticket)
{
    uint64_t ids[2];
    cipher_permute_pair(&keys->ids, ticket, ids);
    return (struct win_ids){ .ticket = ids[0], .order = ids[1] };
}
