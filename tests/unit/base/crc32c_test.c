/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include "base/random.h"

#include "unit.h"

#include <string.h>

typedef uint32_t (*crc_function)(uint32_t crc, const void *data, size_t bytes);
static const crc_function both[] = { hash_crc32c, hash_crc32c_by_table };

static void known_texts_have_known_sums(void **state)
{
    (void)state;
    unsigned char data[48];
    for (size_t f = 0; f < 2; f++) {
        assert_true(both[f](0, "", 0) == 0);
        assert_true(both[f](0, NULL, 0) == 0);
        assert_true(both[f](0, "123456789", 9) == 0xe3069283u);
        memset(data, 0, 32); /* RFC 3720, B.4 */
        assert_true(both[f](0, data, 32) == 0x8a9136aau);
        memset(data, 0xff, 32);
        assert_true(both[f](0, data, 32) == 0x62a8ab43u);
        for (unsigned i = 0; i < 32; i++)
            data[i] = (unsigned char)i;
        assert_true(both[f](0, data, 32) == 0x46dd794eu);
        for (unsigned i = 0; i < 32; i++)
            data[i] = (unsigned char)(31 - i);
        assert_true(both[f](0, data, 32) == 0x113fdb5cu);
    }
}

static void the_instruction_and_the_table_agree_at_every_size_and_place(void **state)
{
    (void)state;
    struct random random;
    unsigned char data[300];
    random_seed(&random, 1);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)random_next(&random);
    for (size_t at = 0; at < 9; at++) {
        for (size_t size = 0; size < sizeof data - at; size++) {
            uint32_t start = (uint32_t)random_next(&random);
            assert_true(
                hash_crc32c(start, data + at, size) == hash_crc32c_by_table(start, data + at, size));
        }
    }
}

static void a_sum_can_be_continued_at_any_cut(void **state)
{
    (void)state;
    const char text[] = "the quick brown fox jumps over the lazy dog";
    for (size_t f = 0; f < 2; f++) {
        for (size_t cut = 0; cut <= sizeof text; cut++) {
            uint32_t first = both[f](0, text, cut);
            assert_true(both[f](first, text + cut, sizeof text - cut) == both[f](0, text, sizeof text));
        }
    }
}

static void every_flipped_bit_shows(void **state)
{
    (void)state;
    unsigned char data[64] = { 0 };
    uint32_t whole = hash_crc32c(0, data, sizeof data);
    for (size_t bit = 0; bit < sizeof data * 8; bit++) {
        data[bit / 8] = (unsigned char)(1u << bit % 8);
        assert_true(hash_crc32c(0, data, sizeof data) != whole);
        data[bit / 8] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_have_known_sums),
        cmocka_unit_test(the_instruction_and_the_table_agree_at_every_size_and_place),
        cmocka_unit_test(a_sum_can_be_continued_at_any_cut),
        cmocka_unit_test(every_flipped_bit_shows),
    };
    return cmocka_run_group_tests_name("base/crc32c", tests, NULL, NULL);
}
