#include "funnel/suspicion.h"

#include "tests/unit/base/unit.h"

enum { NOW_S = 1700000000 - 1700000000 % SUSPICION_HALF_S };

static void it_grows_is_bounded_and_fades_by_half(void **state)
{
    (void)state;
    struct arena arena;
    assert_int_equal(arena_open(&arena, suspicion_bytes()), STATUS_OK);
    struct suspicion *suspicion = suspicion_create(&arena);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S), 0);
    for (uint32_t i = 1; i <= 4; i++) {
        suspicion_add(suspicion, 1, NOW_S);
        assert_int_equal(suspicion_of(suspicion, 1, NOW_S), i * SUSPICION_PER_FAILURE);
    }
    assert_int_equal(suspicion_of(suspicion, 2, NOW_S), 0);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S + SUSPICION_HALF_S), 20);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S + 2 * SUSPICION_HALF_S), 10);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S - 1), 40); /* a clock that is a little behind */
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S + 1000 * SUSPICION_HALF_S), 0);
    for (uint32_t i = 0; i < 100000; i++)
        suspicion_add(suspicion, 1, NOW_S);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S), SUSPICION_MAX);
    assert_int_equal(suspicion_of(suspicion, 1, NOW_S + 10 * SUSPICION_HALF_S), 0);
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_grows_is_bounded_and_fades_by_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
