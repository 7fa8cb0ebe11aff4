/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/suspicion.h"

#include "base/random.h"
#include "tests/unit/base/unit.h"

enum { HALF_S = 60, NOW_S = 1700000000 - 1700000000 % HALF_S, BOTS = 5000, PEOPLE = 10000 };

static void it_grows_is_bounded_and_fades_by_half(void **state)
{
    (void)state;
    struct arena arena;
    assert_int_equal(arena_open(&arena, suspicion_bytes()), STATUS_OK);
    struct suspicion *suspicion = suspicion_create(&arena, HALF_S);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S), 0);
    for (uint32_t i = 1; i <= 4; i++) {
        suspicion_add(suspicion, 1, 10, NOW_S);
        assert_int_equal(suspicion_of(suspicion, 1, NOW_S), i * 10);
    }
    assert_int_equal(suspicion_of(suspicion, 2, NOW_S), 0);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S + HALF_S), 20);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S + 2 * HALF_S), 10);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S - 1), 40); /* a clock that is a little behind */
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S + 1000 * HALF_S), 0);
    for (uint32_t i = 0; i < 100000; i++)
        suspicion_add(suspicion, 1, 10, NOW_S);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S), SUSPICION_MAX);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S + 8 * HALF_S), SUSPICION_MAX >> 8);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S + 16 * HALF_S), 0);
    arena_close(&arena);
}

static void each_table_has_its_own_time_to_fade(void **state)
{
    (void)state;
    struct arena arena;
    assert_int_equal(arena_open(&arena, suspicion_bytes()), STATUS_OK);
    struct suspicion *slow = suspicion_create(&arena, 10 * HALF_S);
    const uint32_t begin_s = NOW_S - NOW_S % (10 * HALF_S);
    suspicion_add(slow, 1, 8, begin_s);
    assert_int_equal(suspicion_of(slow, 1, begin_s + 10 * HALF_S - 1), 8);
    assert_int_equal(suspicion_of(slow, 1, begin_s + 10 * HALF_S), 4);
    arena_close(&arena);
}

static void nobody_answers_for_the_points_of_others(void **state)
{
    (void)state;
    struct arena arena;
    struct random random;
    assert_int_equal(arena_open(&arena, suspicion_bytes()), STATUS_OK);
    struct suspicion *suspicion = suspicion_create(&arena, HALF_S);
    random_seed(&random, 11);
    for (uint32_t i = 0; i < BOTS; i++)
        suspicion_add(suspicion, random_next(&random), 80, NOW_S);
    uint32_t blamed = 0;
    for (uint32_t i = 0; i < PEOPLE; i++)
        blamed += suspicion_of(suspicion, random_next(&random), NOW_S) > 0;
    assert_int_equal(blamed, 0);
    arena_close(&arena);
}

static void in_a_full_table_those_with_few_points_are_forgotten_first(void **state)
{
    (void)state;
    struct arena arena;
    struct random random;
    assert_int_equal(arena_open(&arena, suspicion_bytes()), STATUS_OK);
    struct suspicion *suspicion = suspicion_create(&arena, HALF_S);
    random_seed(&random, 12);
    const uint64_t worst = random_next(&random), newcomer = random_next(&random);
    suspicion_add(suspicion, worst, 80, NOW_S);
    for (uint32_t i = 0; i < 4 * SUSPICION_PLACES; i++)
        suspicion_add(suspicion, random_next(&random), 10, NOW_S);
    suspicion_add(suspicion, newcomer, 10, NOW_S);
    assert_int_equal(suspicion_of(suspicion, newcomer, NOW_S), 10);
    assert_int_equal(suspicion_of(suspicion, worst, NOW_S), 80);
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_is_bounded_and_fades_by_half),
        cmocka_unit_test(each_table_has_its_own_time_to_fade),
        cmocka_unit_test(nobody_answers_for_the_points_of_others),
        cmocka_unit_test(in_a_full_table_those_with_few_points_are_forgotten_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
