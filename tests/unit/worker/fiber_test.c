/* SPDX-License-Identifier: Apache-2.0 */
/* Fibers: left in the middle, gone on with later, one after another and among each other. */
#include "worker/fiber.h"

#include "tests/unit/base/unit.h"

#include <string.h>

enum { STEPS = 3, DEEP = 900 };

struct walk {
    struct fiber *fiber;
    uint32_t steps;
};

static void walk_run(void *argument)
{
    struct walk *walk = argument;
    char kept[64];
    for (uint32_t i = 0; i < STEPS; i++) {
        memset(kept, (int)('a' + i), sizeof kept);
        walk->steps++;
        fiber_park(walk->fiber);
        for (size_t at = 0; at < sizeof kept; at++)
            assert_int_equal(kept[at], 'a' + i); /* its stack is its own */
    }
}

static void a_fiber_goes_on_where_it_was_left_and_is_free_at_its_end(void **unused)
{
    struct walk walks[2] = { { 0 }, { 0 } };
    (void)unused;
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(fiber_open(&walks[i].fiber), STATUS_OK);
    for (uint32_t round = 0; round < 2; round++) { /* a fiber is used again */
        for (uint32_t i = 0; i < 2; i++) {
            assert_true(fiber_is_free(walks[i].fiber));
            fiber_start(walks[i].fiber, walk_run, &walks[i]);
        }
        for (uint32_t step = 0; step < STEPS; step++)
            for (uint32_t i = 0; i < 2; i++) {
                assert_int_equal(walks[i].steps, round * STEPS + step + 1);
                assert_false(fiber_is_free(walks[i].fiber));
                fiber_resume(walks[i].fiber);
            }
    }
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(fiber_is_free(walks[i].fiber));
        assert_int_equal(walks[i].steps, 2 * STEPS);
        fiber_close(walks[i].fiber);
    }
    fiber_close(NULL);
}

/* Uses most of the stack. */
static void deep_run(void *argument)
{
    volatile unsigned char room[DEEP * 1024];
    uint32_t *sum = argument;
    for (size_t i = 0; i < sizeof room; i += 1024)
        room[i] = 1;
    for (size_t i = 0; i < sizeof room; i += 1024)
        *sum += room[i];
}

static void a_fiber_has_the_stack_that_it_promises(void **unused)
{
    struct fiber *fiber;
    uint32_t sum = 0;
    (void)unused;
    assert_int_equal(fiber_open(&fiber), STATUS_OK);
    fiber_start(fiber, deep_run, &sum);
    assert_int_equal(sum, DEEP);
    fiber_close(fiber);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fiber_goes_on_where_it_was_left_and_is_free_at_its_end),
        cmocka_unit_test(a_fiber_has_the_stack_that_it_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
