/* SPDX-License-Identifier: Apache-2.0 */
#include "rehearse/due.h"

#include "base/random.h"
#include "tests/unit/base/unit.h"

enum { MANY = 1000 };

static void the_earliest_comes_first_and_equal_moments_by_number(void **state)
{
    (void)state;
    static struct due_entry entries[MANY];
    struct due due = { .entries = entries, .capacity = MANY };
    struct due_entry entry, last = { 0, 0 };
    struct random random;
    random_seed(&random, 7);
    for (uint32_t i = 0; i < MANY; i++)
        due_put(&due, random_below(&random, 50), i);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_true(due_take(&due, 50, &entry));
        if (i > 0)
            assert_true(entry.due_ns > last.due_ns
                || (entry.due_ns == last.due_ns && entry.visitor > last.visitor));
        last = entry;
    }
    assert_false(due_take(&due, UINT64_MAX, &entry));
}

static void nobody_is_taken_before_the_moment(void **state)
{
    (void)state;
    struct due_entry entries[1], entry;
    struct due due = { .entries = entries, .capacity = 1 };
    uint64_t next_ns;
    assert_false(due_next(&due, &next_ns));
    due_put(&due, 100, 3);
    assert_true(due_next(&due, &next_ns));
    assert_int_equal(next_ns, 100);
    assert_false(due_take(&due, 99, &entry));
    assert_true(due_take(&due, 100, &entry));
    assert_int_equal(entry.visitor, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_comes_first_and_equal_moments_by_number),
        cmocka_unit_test(nobody_is_taken_before_the_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
