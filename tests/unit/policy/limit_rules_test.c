/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/limit_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const uint64_t DAY_MS = 24ull * 3600 * 1000;

static void the_limit_is_reached_and_not_passed(void **state)
{
    (void)state;
    assert_true(limit_allows(1, 1, 2));
    assert_false(limit_allows(2, 1, 2));
    assert_true(limit_allows(0, 2, 2));
    assert_false(limit_allows(0, 3, 2));
    assert_true(limit_allows(UINT32_MAX, UINT32_MAX, 0));  /* no limit */
    assert_false(limit_allows(UINT64_MAX, 1, UINT32_MAX)); /* no sum that wraps */
}

static void a_unit_counts_to_the_last_millisecond_of_its_period(void **state)
{
    const struct item_limits limits = { .period_limit = 1, .period_days = 30 };
    const uint64_t bought_ms = 50 * DAY_MS, until_ms = limit_until_ms(&limits, bought_ms);
    (void)state;
    assert_int_equal(until_ms, 80 * DAY_MS);
    assert_true(bought_ms > limit_since_ms(&limits, until_ms - 1));
    assert_false(bought_ms > limit_since_ms(&limits, until_ms));
    assert_int_equal(limit_since_ms(&limits, 5), 0); /* before the first period of all time is over */
}

static void groups_products_users_and_payers_count_apart(void **state)
{
    const struct item_limits product = { .period_days = 1 };
    const struct item_limits group = { .period_days = 1, .period_group = 7 };
    (void)state;
    const uint64_t scopes[] = { limit_scope(&product, 7, LIMIT_PERIOD),
        limit_scope(&product, 8, LIMIT_PERIOD), limit_scope(&group, 7, LIMIT_PERIOD),
        limit_scope(&product, 7, LIMIT_PAYER), limit_scope(&group, 7, LIMIT_PAYER) };
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(scopes[i], scopes[j]);
    assert_int_equal(limit_scope(&group, 8, LIMIT_PERIOD), limit_scope(&group, 7, LIMIT_PERIOD));
    assert_int_equal(limit_scope(&product, UINT32_MAX, LIMIT_PERIOD), UINT32_MAX);
    /* Numbers in the database. */
    assert_int_equal(limit_scope(&group, 7, LIMIT_PAYER), ((uint64_t)3 << 32) + 7);
}

static void each_kind_has_its_own_limit(void **state)
{
    const struct item_limits limits = { .period_limit = 2, .payer_limit = 3, .period_days = 1 };
    (void)state;
    assert_int_equal(limit_most(&limits, LIMIT_PERIOD), 2);
    assert_int_equal(limit_most(&limits, LIMIT_PAYER), 3);
    assert_int_equal(limit_most(&limits, LIMIT_NONE), 0);
    assert_null(limit_kind_name(LIMIT_NONE));
    assert_string_equal(limit_kind_name(LIMIT_PERIOD), "period");
    assert_string_equal(limit_kind_name(LIMIT_PAYER), "payer");
}

static void fields_that_need_each_other_come_together(void **state)
{
    const struct {
        struct item_limits limits;
        bool good;
    } rows[] = {
        { { 0 }, true },
        { { .period_limit = 1, .period_days = 1 }, true },
        { { .payer_limit = 1, .period_days = 1 }, true },
        { { .period_limit = 1, .payer_limit = 2, .period_days = 1, .period_group = 4 }, true },
        { { .period_limit = 1 }, false },
        { { .payer_limit = 1 }, false },
        { { .period_days = 1 }, false },
        { { .period_group = 1 }, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(limit_rules_wrong(&rows[i].limits) == NULL, rows[i].good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_is_reached_and_not_passed),
        cmocka_unit_test(a_unit_counts_to_the_last_millisecond_of_its_period),
        cmocka_unit_test(groups_products_users_and_payers_count_apart),
        cmocka_unit_test(each_kind_has_its_own_limit),
        cmocka_unit_test(fields_that_need_each_other_come_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
