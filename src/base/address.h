/* SPDX-License-Identifier: Apache-2.0 */
/* base/address.h: an address of a client, IPv4 or IPv6 in one form: sixteen bytes, IPv4 as
 * ::ffff:a.b.c.d. The two spellings of an IPv4 address are therefore one address, for limits, bans
 * and blocks alike.
 * Thread: any. Memory: none. */
#ifndef STAMPEDE_BASE_ADDRESS_H
#define STAMPEDE_BASE_ADDRESS_H

#include "base/bytes.h"
#include "base/hash.h"
#include "base/text.h"

enum {
    ADDRESS_CHARS_MAX = 45,       /* the longest spelling */
    ADDRESS_BLOCK_CHARS_MAX = 49, /* with "/128" */
    ADDRESS_BITS = 128,
    ADDRESS_V4_BITS = 96,    /* what IPv4 addresses have in common; a /n of theirs is 96 + n */
    ADDRESS_GROUP_BITS = 64, /* what one IPv6 customer usually has */
};

struct address {
    uint8_t bytes[16]; /* network order */
};
struct address_block { /* 10.0.0.0/8, 2001:db8::/32, or one address */
    struct address first;
    uint8_t bits; /* of the sixteen bytes: 104 for 10.0.0.0/8 */
};

static inline bool address_is_v4(const struct address *address)
{
    return bytes_get_u64(address->bytes) == 0 && bytes_get_u32(address->bytes + 8) == 0xffff0000;
}
static inline bool address_equal(const struct address *a, const struct address *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}
struct address address_from_v4(const void *four_bytes);

/* The whole text is one address as RFC 4291 spells it, or four decimal numbers without leading
 * zeros: no port, no brackets, no zone, no space. STATUS_BAD_INPUT otherwise. */
MUST_CHECK enum status address_parse(struct span text, struct address *address);
/* An address, or an address, '/' and the number of bits that count; bits after them must be 0, so
 * that a typing error does not name another block. */
MUST_CHECK enum status address_block_parse(struct span text, struct address_block *block);
void address_text(struct text *out, const struct address *address); /* IPv4 with its dots */
void address_block_text(struct text *out, const struct address_block *block);
/* Blocks have one family: ::/0 holds no IPv4 address. */
bool address_in_block(const struct address *address, const struct address_block *block);

/* What counts as one client for limits: an IPv4 address by itself, of an IPv6 one the first
 * `v6_bits` (1 … 128, ADDRESS_GROUP_BITS usually). The rest is 0. */
static inline struct address address_group(const struct address *address, uint32_t v6_bits)
{
    struct address group = *address;
    if (address_is_v4(address))
        return group;
    if (__builtin_expect(v6_bits == ADDRESS_GROUP_BITS, 1)) {
        memset(group.bytes + 8, 0, 8);
        return group;
    }
    for (uint32_t i = 0; i < sizeof group.bytes; i++) {
        const uint32_t bits = v6_bits <= 8 * i ? 0 : v6_bits - 8 * i;
        if (bits < 8)
            group.bytes[i] &= (uint8_t)(0xff00u >> bits);
    }
    return group;
}
/* For tables: under a key made at start, so that nobody can choose addresses that collide. */
static inline uint64_t address_hash(struct hash_key key, const struct address *address)
{
    return hash_siphash13_pair(key, bytes_get_u64(address->bytes), bytes_get_u64(address->bytes + 8));
}

#endif
