/* SPDX-License-Identifier: Apache-2.0 */
#include "server/housekeeper.h"

#include "tests/unit/base/unit.h"

/* 2,000 records of the log a second. */
static void many_come_if_the_log_grows_fast_and_for_three_seconds_after_it(void **state)
{
    struct housekeeper housekeeper = { .host = NULL };
    const uint64_t start_ms = UINT64_C(1700000000000);
    (void)state;
    assert_false(housekeeper_many_come(&housekeeper, 5000000, start_ms)); /* a log of years, at the start */
    assert_false(housekeeper_many_come(&housekeeper, 5000200, start_ms + 100));
    assert_true(housekeeper_many_come(&housekeeper, 5000401, start_ms + 200));
    assert_true(housekeeper_many_come(&housekeeper, 5100000, start_ms + 1200));
    assert_true(housekeeper_many_come(&housekeeper, 5100000, start_ms + 1200 + 2999));
    assert_false(housekeeper_many_come(&housekeeper, 5100000, start_ms + 1200 + 3000));
}

static void nothing_is_not_many_however_soon_the_next_round_comes(void **state)
{
    struct housekeeper housekeeper = { .host = NULL };
    (void)state;
    assert_false(housekeeper_many_come(&housekeeper, 10, 1000));
    assert_false(housekeeper_many_come(&housekeeper, 10, 1000));
    assert_true(housekeeper_many_come(&housekeeper, 11, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_come_if_the_log_grows_fast_and_for_three_seconds_after_it),
        cmocka_unit_test(nothing_is_not_many_however_soon_the_next_round_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
