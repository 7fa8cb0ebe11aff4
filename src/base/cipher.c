/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cipher.h"

#include "base/bytes.h"
#include "base/status.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

/* ---- Speck64/128: x and y are the halves, a round is add, rotate and xor ---- */

static inline uint32_t rotate_left(uint32_t value, unsigned by)
{
    return value << by | value >> (32 - by);
}

static inline void speck_round(uint32_t *x, uint32_t *y, uint32_t key)
{
    *x = (rotate_left(*x, 24) + *y) ^ key;
    *y = rotate_left(*y, 3) ^ *x;
}

void cipher_permutation_make(struct cipher_permutation *permutation, struct hash_key key)
{
    uint32_t a = (uint32_t)key.k0;
    uint32_t rest[3] = { (uint32_t)(key.k0 >> 32), (uint32_t)key.k1, (uint32_t)(key.k1 >> 32) };
    for (uint32_t i = 0; i < CIPHER_PERMUTE_ROUNDS; i++) {
        permutation->rounds[i] = a;
        speck_round(&rest[i % 3], &a, i);
    }
}

uint64_t cipher_permute(const struct cipher_permutation *permutation, uint64_t value)
{
    uint32_t x = (uint32_t)(value >> 32), y = (uint32_t)value;
#pragma GCC unroll 27
    for (uint32_t i = 0; i < CIPHER_PERMUTE_ROUNDS; i++)
        speck_round(&x, &y, permutation->rounds[i]);
    return (uint64_t)x << 32 | y;
}

uint64_t cipher_unpermute(const struct cipher_permutation *permutation, uint64_t value)
{
    uint32_t x = (uint32_t)(value >> 32), y = (uint32_t)value;
    for (uint32_t i = CIPHER_PERMUTE_ROUNDS; i-- > 0;) {
        y = rotate_left(y ^ x, 29);
        x = rotate_left((x ^ permutation->rounds[i]) - y, 8);
    }
    return (uint64_t)x << 32 | y;
}

void cipher_pair_make(struct cipher_pair *pair, const struct cipher_permutation *first,
    const struct cipher_permutation *second)
{
    for (uint32_t i = 0; i < CIPHER_PERMUTE_ROUNDS; i++)
        pair->rounds[i] = (cipher_halves){ first->rounds[i], 0, second->rounds[i], 0 };
}

/* A half stands in the lower half of its lane. Doubled, it is rotated by one shift; what the shift leaves in
 * the upper half means nothing. */
typedef uint64_t lanes __attribute__((vector_size(16)));
static inline cipher_halves rotate_right(cipher_halves value, int by)
{
    return (cipher_halves)((lanes)__builtin_shufflevector(value, value, 0, 0, 2, 2) >> by);
}

void cipher_permute_pair(const struct cipher_pair *pair, uint64_t value, uint64_t results[2])
{
    const lanes both = { value, value };
    cipher_halves x = (cipher_halves)(both >> 32), y = (cipher_halves)both;
#pragma GCC unroll 27
    for (uint32_t i = 0; i < CIPHER_PERMUTE_ROUNDS; i++) {
        x = (rotate_right(x, 8) + y) ^ pair->rounds[i];
        y = rotate_right(y, 29) ^ x;
    }
    results[0] = (uint64_t)x[0] << 32 | y[0];
    results[1] = (uint64_t)x[2] << 32 | y[2];
}

/* ---- AES-128 CBC-MAC over two blocks: 16 bytes, then 4 bytes and zeros ---- */

__attribute__((noinline, cold)) struct hash128 cipher_mac_by_library(
    const struct cipher_mac *mac, const uint8_t message[CIPHER_MAC_MESSAGE_BYTES])
{
    uint8_t blocks[32] = { 0 }, out[48];
    const uint8_t start[16] = { 0 };
    struct hash128 tag;
    int size = 0;
    memcpy(blocks, message, CIPHER_MAC_MESSAGE_BYTES);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    invariant(context != NULL);
    invariant(EVP_EncryptInit_ex(context, EVP_aes_128_cbc(), NULL, mac->rounds[0], start) == 1);
    invariant(EVP_EncryptUpdate(context, out, &size, blocks, sizeof blocks) == 1 && size == sizeof blocks);
    EVP_CIPHER_CTX_free(context);
    memcpy(&tag, out + 16, sizeof tag);
    return tag;
}

#ifdef __x86_64__
#define WITH_AES __attribute__((target("aes,sse2")))

WITH_AES static inline __m128i key_step(__m128i key, __m128i helped)
{
    helped = _mm_shuffle_epi32(helped, 0xff);
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
    return _mm_xor_si128(key, helped);
}

WITH_AES static void rounds_expand(struct cipher_mac *mac)
{
    __m128i key = _mm_loadu_si128((const __m128i *)(const void *)mac->rounds[0]);
#define STEP(round, constant) \
    key = key_step(key, _mm_aeskeygenassist_si128(key, constant)); \
    _mm_storeu_si128((__m128i *)(void *)mac->rounds[round], key)
    STEP(1, 0x01);
    STEP(2, 0x02);
    STEP(3, 0x04);
    STEP(4, 0x08);
    STEP(5, 0x10);
    STEP(6, 0x20);
    STEP(7, 0x40);
    STEP(8, 0x80);
    STEP(9, 0x1b);
    STEP(10, 0x36);
#undef STEP
}

WITH_AES static inline __m128i block_encrypt(const struct cipher_mac *mac, __m128i block)
{
    const __m128i *rounds = (const __m128i *)(const void *)mac->rounds;
    block = _mm_xor_si128(block, _mm_load_si128(rounds));
#pragma GCC unroll 9
    for (int i = 1; i < 10; i++)
        block = _mm_aesenc_si128(block, _mm_load_si128(rounds + i));
    return _mm_aesenclast_si128(block, _mm_load_si128(rounds + 10));
}

WITH_AES static struct hash128 mac_by_instructions(const struct cipher_mac *mac, const uint8_t *message)
{
    int last;
    struct hash128 tag;
    memcpy(&last, message + 16, sizeof last);
    __m128i block = block_encrypt(mac, _mm_loadu_si128((const __m128i *)(const void *)message));
    block = block_encrypt(mac, _mm_xor_si128(block, _mm_cvtsi32_si128(last)));
    _mm_storeu_si128((__m128i *)(void *)&tag, block);
    return tag;
}

WITH_AES static uint64_t place_by_instructions(const struct cipher_mac *key, const uint8_t *block)
{
    const __m128i from = _mm_loadu_si128((const __m128i *)(const void *)block);
    return (uint64_t)_mm_cvtsi128_si64(block_encrypt(key, from));
}

static bool has_aes;
__attribute__((constructor)) static void processor_ask(void)
{
    has_aes = __builtin_cpu_supports("aes") > 0;
}
#else
static const bool has_aes = false;
static void rounds_expand(struct cipher_mac *mac)
{
    (void)mac;
}
static struct hash128 mac_by_instructions(const struct cipher_mac *mac, const uint8_t *message)
{
    return cipher_mac_by_library(mac, message);
}
static uint64_t place_by_instructions(const struct cipher_mac *key, const uint8_t *block)
{
    (void)key;
    return bytes_get_u64(block);
}
#endif

void cipher_mac_make(struct cipher_mac *mac, const uint8_t key[CIPHER_MAC_KEY_BYTES])
{
    memset(mac, 0, sizeof *mac);
    memcpy(mac->rounds[0], key, CIPHER_MAC_KEY_BYTES);
    if (has_aes)
        rounds_expand(mac);
}

struct hash128 cipher_mac_of(const struct cipher_mac *mac, const uint8_t message[CIPHER_MAC_MESSAGE_BYTES])
{
    return __builtin_expect(has_aes, 1) ? mac_by_instructions(mac, message)
                                        : cipher_mac_by_library(mac, message);
}

static __attribute__((noinline, cold)) uint64_t place_by_siphash(
    const struct cipher_mac *key, const uint8_t *block)
{
    const struct hash_key words = { bytes_get_u64(key->rounds[0]), bytes_get_u64(key->rounds[0] + 8) };
    return hash_siphash13_pair(words, bytes_get_u64(block), bytes_get_u64(block + 8));
}

uint64_t cipher_place(const struct cipher_mac *key, const uint8_t block[CIPHER_BLOCK_BYTES])
{
    return __builtin_expect(has_aes, 1) ? place_by_instructions(key, block)
                                        : place_by_siphash(key, block);
}
