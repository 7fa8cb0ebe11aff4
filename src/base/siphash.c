/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash (Aumasson, Bernstein 2012) with 64 bits of result: 2-4, and for tables 1-3. */
#include "base/bytes.h"
#include "base/hash.h"

struct sip {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t rotate_left(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate_left(s->v1, 13) ^ s->v0;
    s->v3 = rotate_left(s->v3, 16) ^ s->v2;
    s->v0 = rotate_left(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate_left(s->v1, 17) ^ s->v2;
    s->v3 = rotate_left(s->v3, 21) ^ s->v0;
    s->v2 = rotate_left(s->v2, 32);
}

static inline struct sip sip_start(struct hash_key key)
{
    return (struct sip){ key.k0 ^ 0x736f6d6570736575u, key.k1 ^ 0x646f72616e646f6du,
        key.k0 ^ 0x6c7967656e657261u, key.k1 ^ 0x7465646279746573u };
}

static inline void sip_rounds(struct sip *s, unsigned count)
{
#pragma GCC unroll 4
    for (unsigned i = 0; i < count; i++)
        sip_round(s);
}

static inline void sip_word(struct sip *s, unsigned rounds, uint64_t word)
{
    s->v3 ^= word;
    sip_rounds(s, rounds);
    s->v0 ^= word;
}

static inline uint64_t sip_finish(struct sip *s, unsigned rounds)
{
    s->v2 ^= 0xff;
    sip_rounds(s, rounds);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

/* The last 0..7 bytes under the length byte. */
static inline uint64_t sip_tail(const unsigned char *data, size_t bytes)
{
    unsigned rest = bytes & 7;
    uint64_t word = 0;
    if (rest > 0 && bytes >= 8) {
        word = bytes_get_u64(data + bytes - 8) >> (64 - 8 * rest); /* one load, reaching back */
    } else {
        for (unsigned i = 0; i < rest; i++)
            word |= (uint64_t)data[i] << 8 * i;
    }
    return word | (uint64_t)bytes << 56;
}

static inline void sip_data(struct sip *s, const unsigned char *data, size_t bytes)
{
    for (size_t at = 0; at + 8 <= bytes; at += 8)
        sip_word(s, 2, bytes_get_u64(data + at));
    sip_word(s, 2, sip_tail(data, bytes));
}

uint64_t hash_siphash(struct hash_key key, const void *data, size_t bytes)
{
    struct sip s = sip_start(key);
    sip_data(&s, data, bytes);
    return sip_finish(&s, 4);
}

static inline uint64_t sip_pair(
    struct hash_key key, uint64_t a, uint64_t b, unsigned rounds, unsigned last_rounds)
{
    struct sip s = sip_start(key);
    sip_word(&s, rounds, a);
    sip_word(&s, rounds, b);
    sip_word(&s, rounds, (uint64_t)16 << 56);
    return sip_finish(&s, last_rounds);
}

uint64_t hash_siphash_pair(struct hash_key key, uint64_t a, uint64_t b)
{
    return sip_pair(key, a, b, 2, 4);
}

uint64_t hash_siphash13_pair(struct hash_key key, uint64_t a, uint64_t b)
{
    return sip_pair(key, a, b, 1, 3);
}
