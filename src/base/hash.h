/* base/hash.h: SipHash-2-4 (keyed, for tables fed by strangers and for short-lived tokens),
 * CRC32C (torn and damaged bytes), SHA-256 (the chain of the journal), and a keyed permutation
 * for ids that can't be counted. */
#ifndef STAMPEDE_BASE_HASH_H
#define STAMPEDE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

enum { HASH_SHA256_BYTES = 32 };

struct hash_key { uint64_t k0, k1; };
struct hash128 { uint64_t low, high; };

uint64_t hash_siphash(struct hash_key key, const void *data, size_t bytes);
struct hash128 hash_siphash128(struct hash_key key, const void *data, size_t bytes);
/* Two words, unrolled: the same as hash_siphash over the 16 bytes. */
uint64_t hash_siphash_pair(struct hash_key key, uint64_t a, uint64_t b);

uint32_t hash_crc32c(uint32_t crc, const void *data, size_t bytes); /* start with 0 */
/* The same without the SSE4.2 instruction: for processors without it, and for the tests. */
uint32_t hash_crc32c_by_table(uint32_t crc, const void *data, size_t bytes);

/* Thread: any (each thread keeps a context of its own). */
void hash_sha256(const void *data, size_t bytes, uint8_t digest[HASH_SHA256_BYTES]);
/* HMAC-SHA256, for key derivation and JWT. */
void hash_hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t bytes,
                      uint8_t digest[HASH_SHA256_BYTES]);

/* A permutation of all 64-bit numbers under a key (a Feistel network on SipHash), and its
 * inverse. */
uint64_t hash_permute(struct hash_key key, uint64_t value);
uint64_t hash_unpermute(struct hash_key key, uint64_t value);

#endif
