/* SPDX-License-Identifier: Apache-2.0 */
/* How many units are kept back: the base from finished sales, between its bounds. */
#include "policy/safety_stock.h"

#include "tests/unit/base/unit.h"

static const struct safety_bounds standard = { 50, 150 };

static struct safety_suggestion suggest(struct safety_history history, uint32_t units)
{
    return safety_stock_suggest(&history, &standard, units);
}

static void the_base_is_the_sum_of_all_five(void **state)
{
    (void)state;
    const struct safety_suggestion one =
        suggest((struct safety_history){ 1000, 40, 30, 10, 5, 15 }, 100);
    assert_int_equal(one.base, 100);
    assert_int_equal(one.rate, 100);
    assert_int_equal(one.units, 10);
}

static void the_rate_stays_between_its_bounds(void **state)
{
    (void)state;
    assert_int_equal(suggest((struct safety_history){ 1000, 49, 0, 0, 0, 0 }, 100).rate, 50);
    assert_int_equal(suggest((struct safety_history){ 1000, 49, 0, 0, 0, 0 }, 100).base, 49);
    assert_int_equal(suggest((struct safety_history){ 1000, 51, 0, 0, 0, 0 }, 100).rate, 51);
    assert_int_equal(suggest((struct safety_history){ 1000, 0, 0, 0, 0, 149 }, 100).rate, 149);
    assert_int_equal(suggest((struct safety_history){ 1000, 0, 0, 0, 0, 151 }, 100).rate, 150);
    assert_int_equal(suggest((struct safety_history){ 10, 10, 10, 0, 0, 0 }, 100).base, 1000);
}

static void without_a_sale_the_standard_counts(void **state)
{
    (void)state;
    assert_int_equal(suggest((struct safety_history){ 0 }, 100).base, 100);
    assert_int_equal(suggest((struct safety_history){ 0 }, 100).units, 10);
}

static void units_are_rounded_up_and_never_more_than_there_are(void **state)
{
    (void)state;
    assert_int_equal(suggest((struct safety_history){ 0 }, 11).units, 2);
    assert_int_equal(suggest((struct safety_history){ 0 }, 1).units, 1);
    assert_int_equal(suggest((struct safety_history){ 0 }, 0).units, 0);
    assert_int_equal(suggest((struct safety_history){ 0 }, 100000000).units, 10000000);
    const struct safety_bounds all = { 1000, 1000 };
    assert_int_equal(safety_stock_suggest(&(struct safety_history){ 0 }, &all, 7).units, 7);
}

int main(void)
{
    const struct CMUnitTest rules[] = {
        cmocka_unit_test(the_base_is_the_sum_of_all_five),
        cmocka_unit_test(the_rate_stays_between_its_bounds),
        cmocka_unit_test(without_a_sale_the_standard_counts),
        cmocka_unit_test(units_are_rounded_up_and_never_more_than_there_are),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}
