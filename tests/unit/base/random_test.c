/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include "unit.h"

#include <string.h>

static void secrets_fill_exactly_their_room_and_never_repeat(void **state)
{
    (void)state;
    unsigned char first[1000], second[1000];
    memset(first, '#', sizeof first);
    random_secret(first, 999);
    assert_int_equal(first[999], '#');
    random_secret(second, 999);
    assert_memory_not_equal(first, second, 999);
    /* filled to the end */
    assert_memory_not_equal(first + 967, "################################", 32);
    random_secret(first, 0);
}

static void a_seed_gives_the_same_numbers_again_and_another_seed_others(void **state)
{
    (void)state;
    struct random a, b, c;
    random_seed(&a, 42);
    random_seed(&b, 42);
    random_seed(&c, 43);
    for (int i = 0; i < 100; i++) {
        uint64_t number = random_next(&a);
        assert_true(number == random_next(&b));
        assert_true(number != random_next(&c));
    }
}

static void starts_give_other_numbers_each_time(void **state)
{
    (void)state;
    struct random a = { { 0, 0 } }, b = a;
    random_start(&a);
    random_start(&b);
    assert_true(random_next(&a) != random_next(&b));
}

/* Simulations are found again by their seed, so the numbers must not change. */
static void the_generator_is_xoroshiro128plus(void **state)
{
    (void)state;
    struct random random = { { 1, 2 } };
    assert_true(random_next(&random) == 3);
    assert_true(random.state[0] == (((uint64_t)1 << 24) ^ 3 ^ ((uint64_t)3 << 16)));
    assert_true(random.state[1] == (uint64_t)3 << 37);
    random_seed(&random, 0); /* splitmix64's first two numbers from 0 */
    assert_true(random.state[0] == 0xe220a8397b1dcdafu);
    assert_true(random.state[1] == 0x6e789e6aa1b965f4u);
}

static void below_stays_below_and_reaches_every_number_about_equally(void **state)
{
    (void)state;
    struct random random;
    unsigned seen[7] = { 0 };
    random_seed(&random, 3);
    for (int i = 0; i < 70000; i++) {
        uint64_t number = random_below(&random, 7);
        assert_true(number < 7);
        seen[number]++;
    }
    for (int i = 0; i < 7; i++)
        assert_in_range(seen[i], 9500, 10500);
    for (int i = 0; i < 100; i++)
        assert_true(random_below(&random, 1) == 0);
}

/* With a bound of 3 * 2^62, one throw alone would hit multiples of three twice as often. */
static void below_is_fair_for_huge_bounds(void **state)
{
    (void)state;
    struct random random;
    unsigned third = 0;
    random_seed(&random, 4);
    for (int i = 0; i < 30000; i++)
        third += random_below(&random, (uint64_t)3 << 62) % 3 == 0;
    assert_in_range(third, 9500, 10500);
}

static void ask_below_zero(void)
{
    struct random random;
    random_seed(&random, 5);
    random_below(&random, 0);
}

static void nothing_is_below_zero(void **state)
{
    (void)state;
    assert_true(unit_stops(ask_below_zero));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_fill_exactly_their_room_and_never_repeat),
        cmocka_unit_test(a_seed_gives_the_same_numbers_again_and_another_seed_others),
        cmocka_unit_test(starts_give_other_numbers_each_time),
        cmocka_unit_test(the_generator_is_xoroshiro128plus),
        cmocka_unit_test(below_stays_below_and_reaches_every_number_about_equally),
        cmocka_unit_test(below_is_fair_for_huge_bounds),
        cmocka_unit_test(nothing_is_below_zero),
    };
    return cmocka_run_group_tests_name("base/random", tests, NULL, NULL);
}
