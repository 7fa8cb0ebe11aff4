/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/suspicion.h"

#include "tests/unit/base/unit.h"

enum { HALF_S = 60, NOW_S = 1700000000 - 1700000000 % HALF_S };

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_is_bounded_and_fades_by_half),
        cmocka_unit_test(each_table_has_its_own_time_to_fade),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
