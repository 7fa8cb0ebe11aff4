/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "base/bytes.h"

#include "unit.h"

enum { VECTORS = 64 };

/* The reference vectors: key 00 01 … 0f, message 00 01 … of 0..63 bytes. */
static const struct hash_key reference_key = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
static const uint64_t expected64[VECTORS] = {
    0x726fdb47dd0e0e31,
    0x74f839c593dc67fd,
    0x0d6c8009d9a94f5a,
    0x85676696d7fb7e2d,
    0xcf2794e0277187b7,
    0x18765564cd99a68d,
    0xcbc9466e58fee3ce,
    0xab0200f58b01d137,
    0x93f5f5799a932462,
    0x9e0082df0ba9e4b0,
    0x7a5dbbc594ddb9f3,
    0xf4b32f46226bada7,
    0x751e8fbc860ee5fb,
    0x14ea5627c0843d90,
    0xf723ca908e7af2ee,
    0xa129ca6149be45e5,
    0x3f2acc7f57c29bdb,
    0x699ae9f52cbe4794,
    0x4bc1b3f0968dd39c,
    0xbb6dc91da77961bd,
    0xbed65cf21aa2ee98,
    0xd0f2cbb02e3b67c7,
    0x93536795e3a33e88,
    0xa80c038ccd5ccec8,
    0xb8ad50c6f649af94,
    0xbce192de8a85b8ea,
    0x17d835b85bbb15f3,
    0x2f2e6163076bcfad,
    0xde4daaaca71dc9a5,
    0xa6a2506687956571,
    0xad87a3535c49ef28,
    0x32d892fad841c342,
    0x7127512f72f27cce,
    0xa7f32346f95978e3,
    0x12e0b01abb051238,
    0x15e034d40fa197ae,
    0x314dffbe0815a3b4,
    0x027990f029623981,
    0xcadcd4e59ef40c4d,
    0x9abfd8766a33735c,
    0x0e3ea96b5304a7d0,
    0xad0c42d6fc585992,
    0x187306c89bc215a9,
    0xd4a60abcf3792b95,
    0xf935451de4f21df2,
    0xa9538f0419755787,
    0xdb9acddff56ca510,
    0xd06c98cd5c0975eb,
    0xe612a3cb9ecba951,
    0xc766e62cfcadaf96,
    0xee64435a9752fe72,
    0xa192d576b245165a,
    0x0a8787bf8ecb74b2,
    0x81b3e73d20b49b6f,
    0x7fa8220ba3b2ecea,
    0x245731c13ca42499,
    0xb78dbfaf3a8d83bd,
    0xea1ad565322a1a0b,
    0x60e61c23a3795013,
    0x6606d7e446282b93,
    0x6ca4ecb15c5f91e1,
    0x9f626da15c9625f3,
    0xe51b38608ef25f57,
    0x958a324ceb064572,
};

static void siphash_gives_the_reference_vectors(void **state)
{
    (void)state;
    unsigned char message[VECTORS];
    for (unsigned i = 0; i < VECTORS; i++) {
        assert_true(hash_siphash(reference_key, message, i) == expected64[i]);
        message[i] = (unsigned char)i;
    }
}

static void the_place_in_memory_does_not_matter(void **state)
{
    (void)state;
    unsigned char room[64 + 8];
    for (unsigned shift = 0; shift < 8; shift++) {
        for (unsigned i = 0; i < VECTORS; i++)
            room[shift + i] = (unsigned char)i;
        for (unsigned size = 0; size < VECTORS; size++)
            assert_true(hash_siphash(reference_key, room + shift, size) == expected64[size]);
    }
}

static void a_pair_hashes_like_its_sixteen_bytes(void **state)
{
    (void)state;
    unsigned char bytes[16];
    for (unsigned i = 0; i < 64; i++) {
        uint64_t a = (uint64_t)1 << i, b = ~a * 3;
        bytes_put_u64(bytes, a);
        bytes_put_u64(bytes + 8, b);
        assert_true(hash_siphash_pair(reference_key, a, b) == hash_siphash(reference_key, bytes, 16));
    }
    assert_true(
        hash_siphash_pair(reference_key, 0x0706050403020100, 0x0f0e0d0c0b0a0908) == expected64[16]);
}

/* Python 3.11 hashes bytes with SipHash-1-3; this is its key for PYTHONHASHSEED=42, and what it says. */
static void fewer_rounds_give_what_python_gives(void **state)
{
    (void)state;
    static const struct hash_key key = { 0xdc504fd368cd90af, 0xb920bb9ffe99e9c1 };
    static const uint64_t pairs[][3] = {
        { 0x706050403020100, 0xf0e0d0c0b0a0908, 0x339176f3ac59ce05 },
        { 0x0, 0x0, 0xb43d0a00e2df88b5 },
        { 0xffffffffffffffff, 0x1, 0xd8ebf139deb2c255 },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        assert_true(hash_siphash13_pair(key, pairs[i][0], pairs[i][1]) == pairs[i][2]);
}

static void both_halves_of_the_key_matter(void **state)
{
    (void)state;
    struct hash_key other0 = { reference_key.k0 ^ 1, reference_key.k1 };
    struct hash_key other1 = { reference_key.k0, reference_key.k1 ^ 1 };
    uint64_t hash = hash_siphash(reference_key, "x", 1);
    assert_true(hash != hash_siphash(other0, "x", 1));
    assert_true(hash != hash_siphash(other1, "x", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_gives_the_reference_vectors),
        cmocka_unit_test(the_place_in_memory_does_not_matter),
        cmocka_unit_test(a_pair_hashes_like_its_sixteen_bytes),
        cmocka_unit_test(fewer_rounds_give_what_python_gives),
        cmocka_unit_test(both_halves_of_the_key_matter),
    };
    return cmocka_run_group_tests_name("base/siphash", tests, NULL, NULL);
}
