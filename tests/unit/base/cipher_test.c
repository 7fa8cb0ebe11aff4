/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cipher.h"

#include "base/random.h"
#include "unit.h"

#include <string.h>

/* The published vector of Speck64/128. */
static void the_permutation_is_speck(void **state)
{
    struct cipher_permutation permutation;
    (void)state;
    cipher_permutation_make(
        &permutation, (struct hash_key){ .k0 = 0x0b0a090803020100, .k1 = 0x1b1a191813121110 });
    assert_true(cipher_permute(&permutation, 0x3b7265747475432d) == 0x8c6fa548454e028b);
    assert_true(cipher_unpermute(&permutation, 0x8c6fa548454e028b) == 0x3b7265747475432d);
}

static void every_number_comes_back(void **state)
{
    struct cipher_permutation permutation;
    struct random random;
    (void)state;
    random_seed(&random, 7);
    cipher_permutation_make(
        &permutation, (struct hash_key){ random_next(&random), random_next(&random) });
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t value = random_next(&random);
        assert_true(cipher_unpermute(&permutation, cipher_permute(&permutation, i)) == i);
        assert_true(cipher_unpermute(&permutation, cipher_permute(&permutation, value)) == value);
    }
    assert_true(cipher_unpermute(&permutation, cipher_permute(&permutation, UINT64_MAX)) == UINT64_MAX);
}

static void a_pair_is_both_permutations(void **state)
{
    struct cipher_permutation first, second;
    struct cipher_pair pair;
    struct random random;
    (void)state;
    random_seed(&random, 8);
    for (uint64_t i = 0; i < 1000; i++) {
        cipher_permutation_make(&first, (struct hash_key){ random_next(&random), i });
        cipher_permutation_make(&second, (struct hash_key){ random_next(&random), i });
        cipher_pair_make(&pair, &first, &second);
        const uint64_t value = i < 500 ? i : random_next(&random);
        uint64_t results[2];
        cipher_permute_pair(&pair, value, results);
        assert_true(results[0] == cipher_permute(&first, value));
        assert_true(results[1] == cipher_permute(&second, value));
    }
}

static void neighbours_and_other_keys_look_unrelated(void **state)
{
    struct cipher_permutation one, other;
    unsigned by_neighbour = 0, by_key = 0;
    (void)state;
    cipher_permutation_make(&one, (struct hash_key){ 1, 2 });
    cipher_permutation_make(&other, (struct hash_key){ 1, 3 });
    for (uint64_t i = 0; i < 256; i++) {
        const uint64_t id = cipher_permute(&one, i);
        by_neighbour += (unsigned)__builtin_popcountll(id ^ cipher_permute(&one, i + 1));
        by_key += (unsigned)__builtin_popcountll(id ^ cipher_permute(&other, i));
    }
    assert_in_range(by_neighbour / 256, 30, 34);
    assert_in_range(by_key / 256, 30, 34);
}

/* The library is the judge of AES; both ways must agree on many messages. */
static void the_processor_and_the_library_agree(void **state)
{
    struct random random;
    (void)state;
    random_seed(&random, 11);
    for (int round = 0; round < 500; round++) {
        struct cipher_mac mac;
        uint8_t key[CIPHER_MAC_KEY_BYTES], message[CIPHER_MAC_MESSAGE_BYTES];
        for (size_t i = 0; i < sizeof key; i++)
            key[i] = (uint8_t)random_next(&random);
        for (size_t i = 0; i < sizeof message; i++)
            message[i] = (uint8_t)random_next(&random);
        cipher_mac_make(&mac, key);
        const struct hash128 fast = cipher_mac_of(&mac, message);
        const struct hash128 slow = cipher_mac_by_library(&mac, message);
        assert_memory_equal(&fast, &slow, sizeof fast);
    }
}

static void each_bit_of_message_and_key_changes_the_tag(void **state)
{
    struct cipher_mac mac;
    uint8_t key[CIPHER_MAC_KEY_BYTES] = { 1 }, message[CIPHER_MAC_MESSAGE_BYTES] = { 2 };
    (void)state;
    cipher_mac_make(&mac, key);
    const struct hash128 tag = cipher_mac_of(&mac, message);
    for (size_t bit = 0; bit < 8 * sizeof message; bit++) {
        message[bit / 8] = (uint8_t)(message[bit / 8] ^ 1 << bit % 8);
        const struct hash128 other = cipher_mac_of(&mac, message);
        assert_memory_not_equal(&tag, &other, sizeof tag);
        message[bit / 8] = (uint8_t)(message[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * sizeof key; bit++) {
        key[bit / 8] = (uint8_t)(key[bit / 8] ^ 1 << bit % 8);
        cipher_mac_make(&mac, key);
        const struct hash128 other = cipher_mac_of(&mac, message);
        assert_memory_not_equal(&tag, &other, sizeof tag);
        key[bit / 8] = (uint8_t)(key[bit / 8] ^ 1 << bit % 8);
    }
}

/* Places of a table with 1,024 lines: neighbouring blocks spread over all, differently for each key. */
static void blocks_that_are_alike_spread_over_the_places(void **state)
{
    (void)state;
    enum { LINES = 1024, BLOCKS = 16 * LINES };
    static uint32_t lines[LINES];
    uint32_t moved = 0, fullest = 0;
    struct cipher_mac mac, other;
    cipher_mac_make(&mac, (const uint8_t[CIPHER_MAC_KEY_BYTES]){ 1 });
    cipher_mac_make(&other, (const uint8_t[CIPHER_MAC_KEY_BYTES]){ 2 });
    for (uint32_t i = 0; i < BLOCKS; i++) {
        uint8_t block[CIPHER_BLOCK_BYTES] = { [10] = 0xff, [11] = 0xff };
        memcpy(block + 12, &i, sizeof i);
        const uint64_t place = cipher_place(&mac, block);
        assert_true(place == cipher_place(&mac, block));
        moved += place != cipher_place(&other, block);
        const uint32_t count = ++lines[place % LINES];
        fullest = count > fullest ? count : fullest;
    }
    assert_int_equal(moved, BLOCKS);
    assert_in_range(fullest, 17, 48); /* 16 each; by chance about 33 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_permutation_is_speck),
        cmocka_unit_test(every_number_comes_back),
        cmocka_unit_test(a_pair_is_both_permutations),
        cmocka_unit_test(neighbours_and_other_keys_look_unrelated),
        cmocka_unit_test(the_processor_and_the_library_agree),
        cmocka_unit_test(each_bit_of_message_and_key_changes_the_tag),
        cmocka_unit_test(blocks_that_are_alike_spread_over_the_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
