/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/limits.h"

#include "tests/unit/base/unit.h"

#define NOW_MS (UINT64_C(1700000000) * 1000)

/* Ten in ten seconds. */
static struct limits *made(uint32_t users)
{
    struct limits *limits;
    const struct limits_config config = { .addresses = 8,
        .users = users,
        .user_requests_max = 12,
        .v6_bits = ADDRESS_GROUP_BITS,
        .key = { 1, 2 },
        .rates = { .user_requests = 10, .user_window_ms = 10000 } };
    assert_int_equal(limits_create(&limits, &config), STATUS_OK);
    return limits;
}

static void ten_in_ten_seconds_and_refused_ones_count_too(void **state)
{
    struct limits *limits = made(1 << 12);
    (void)state;
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(limits_user(limits, 5, NOW_MS + i), 0);
    assert_int_equal(limits_user(limits, 6, NOW_MS + 9), 0);
    /* The oldest of the last ten is now the second. */
    assert_int_equal(limits_user(limits, 5, NOW_MS + 10), 9991);
    assert_int_equal(limits_user(limits, 5, NOW_MS + 10000), 2);
    assert_int_equal(limits_user(limits, 5, NOW_MS + 10002), 0);
    /* Twelve more at once: nothing until they are a window old. */
    for (int i = 0; i < 12; i++)
        (void)!limits_user(limits, 5, NOW_MS + 30000);
    assert_int_equal(limits_user(limits, 5, NOW_MS + 39999), 1);
    assert_int_equal(limits_user(limits, 5, NOW_MS + 40000), 0);
    limits_free(limits);
}

/* Users are keyed hashes: nobody can choose a line as this test does. */
static void a_line_of_those_who_hammer_is_not_given_away(void **state)
{
    struct limits *limits = made(8);
    uint64_t in = 0;
    (void)state;
    for (user_id user = 2; user <= 2 * 64; user += 2)
        for (uint32_t i = 0; i < 20; i++)
            in += limits_user(limits, user, NOW_MS) == 0;
    /* Four rows, and the bucket that the others share. */
    assert_in_range(in, 4 * 10, 4 * 10 + 10 * LIMITS_OVERFLOW_SHARE);
    limits_free(limits);
}

/* A newcomer has the whole limit, whatever is left of the row's former user. */
static void who_takes_a_place_over_begins_with_nothing_used(void **state)
{
    struct limits *limits = made(8);
    (void)state;
    for (user_id user = 2; user <= 8; user += 2)
        for (uint32_t i = 0; i < 5; i++)
            assert_int_equal(limits_user(limits, user, NOW_MS + i), 0);
    assert_int_equal(limits_evicted(limits), 0);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(limits_user(limits, 10, NOW_MS + 10), 0);
    assert_int_equal(limits_evicted(limits), 1);
    assert_int_not_equal(limits_user(limits, 10, NOW_MS + 10), 0);
    limits_free(limits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_in_ten_seconds_and_refused_ones_count_too),
        cmocka_unit_test(a_line_of_those_who_hammer_is_not_given_away),
        cmocka_unit_test(who_takes_a_place_over_begins_with_nothing_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
