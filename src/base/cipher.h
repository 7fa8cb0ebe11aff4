/* SPDX-License-Identifier: Apache-2.0 */
/* base/cipher.h: two small ciphers for what is made or checked on every request.
 *
 * A permutation of all 64-bit numbers (Speck64/128): ids that can't be counted or guessed, and
 * back. A MAC over exactly 20 bytes (AES-128 in CBC-MAC over two blocks, which is a sound MAC
 * when all messages have one length): tokens. Both keep their keys expanded. With the
 * processor's AES instructions the MAC takes about 50 instructions, SipHash-2-4-128 takes 230;
 * without them OpenSSL computes the same.
 * Thread: any. Memory: plain data, no pointers; wipe keys with explicit_bzero when they must go. */
#ifndef STAMPEDE_BASE_CIPHER_H
#define STAMPEDE_BASE_CIPHER_H

#include "base/hash.h"

#include <stdalign.h>

enum { CIPHER_PERMUTE_ROUNDS = 27, CIPHER_MAC_KEY_BYTES = 16, CIPHER_MAC_MESSAGE_BYTES = 20 };

struct cipher_permutation {
    uint32_t rounds[CIPHER_PERMUTE_ROUNDS];
};
void cipher_permutation_make(struct cipher_permutation *permutation, struct hash_key key);
uint64_t cipher_permute(const struct cipher_permutation *permutation, uint64_t value);
uint64_t cipher_unpermute(const struct cipher_permutation *permutation, uint64_t value);

/* Two permutations of one number, in the two lanes of a vector: two thirds of what both in turn take. */
typedef uint32_t cipher_halves __attribute__((vector_size(16)));
struct cipher_pair {
    cipher_halves rounds[CIPHER_PERMUTE_ROUNDS]; /* a key in the lower half of each lane */
};
void cipher_pair_make(struct cipher_pair *pair, const struct cipher_permutation *first,
    const struct cipher_permutation *second);
void cipher_permute_pair(const struct cipher_pair *pair, uint64_t value, uint64_t results[2]);

struct cipher_mac {
    alignas(16) uint8_t rounds[11][16]; /* the first is the key itself */
};
void cipher_mac_make(struct cipher_mac *mac, const uint8_t key[CIPHER_MAC_KEY_BYTES]);
struct hash128 cipher_mac_of(
    const struct cipher_mac *mac, const uint8_t message[CIPHER_MAC_MESSAGE_BYTES]);
/* What cipher_mac_of does where the processor can't: here for the tests to compare. */
struct hash128 cipher_mac_by_library(
    const struct cipher_mac *mac, const uint8_t message[CIPHER_MAC_MESSAGE_BYTES]);
/* Where in a table of this process sixteen bytes from outside belong: half of AES-128 of the block, or
 * SipHash-1-3 where the processor has no AES instructions. Nothing that leaves the process may depend
 * on it. */
enum { CIPHER_BLOCK_BYTES = 16 };
uint64_t cipher_place(const struct cipher_mac *key, const uint8_t block[CIPHER_BLOCK_BYTES]);

#endif
