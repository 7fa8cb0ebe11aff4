/* SPDX-License-Identifier: Apache-2.0 */
/* base/hash.h: SipHash (keyed, for tables with keys from outside), CRC32C (torn and damaged bytes)
 * and SHA-256 (the chain of the journal, key derivation). Ids and tokens: cipher.h. */
#ifndef STAMPEDE_BASE_HASH_H
#define STAMPEDE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { HASH_SHA256_BYTES = 32, HASH_SHA1_BYTES = 20 };

struct hash_key {
    uint64_t k0, k1;
};
struct hash128 {
    uint64_t low, high;
};

uint64_t hash_siphash(struct hash_key key, const void *data, size_t bytes);
/* Two words, unrolled: the same as hash_siphash over the 16 bytes. */
uint64_t hash_siphash_pair(struct hash_key key, uint64_t a, uint64_t b);
/* SipHash-1-3 of two words: where in a table of this process something belongs. Its result is never seen from
 * outside and lives as long as the process, so fewer rounds do. */
uint64_t hash_siphash13_pair(struct hash_key key, uint64_t a, uint64_t b);

/* Where in a table of this process a user, or a user and something small, belongs: one multiplication.
 * User ids are told to their users, who could collect such as fall on one place; the key is a secret
 * of the table, so they can't tell which do. Nothing that leaves the process may depend on it. */
static inline uint64_t hash_place(struct hash_key key, uint64_t user, uint64_t scope)
{
    const uint64_t odd = ((scope + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ key.k1) | 1;
    __extension__ typedef unsigned __int128 wide;
    const wide product = (wide)(user ^ key.k0) * odd;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t hash_crc32c(uint32_t crc, const void *data, size_t bytes); /* start with 0 */
/* The same without the SSE4.2 instruction: for processors without it, and for the tests. */
uint32_t hash_crc32c_by_table(uint32_t crc, const void *data, size_t bytes);

/* Thread: any (each thread keeps a context of its own). */
void hash_sha256(const void *data, size_t bytes, uint8_t digest[HASH_SHA256_BYTES]);
/* The same of what comes piece by piece; end frees it. */
struct hash_stream;
struct hash_stream *hash_stream_open(void);
void hash_stream_add(struct hash_stream *, const void *data, size_t bytes);
void hash_stream_end(struct hash_stream *, uint8_t digest[HASH_SHA256_BYTES]);
/* HMAC-SHA256, for key derivation and JWT. */
void hash_hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t bytes,
    uint8_t digest[HASH_SHA256_BYTES]);
/* For the WebSocket handshake only, which asks for it; it protects nothing. */
void hash_sha1(const void *data, size_t bytes, uint8_t digest[HASH_SHA1_BYTES]);

#endif
