/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/server_name.h"

#include "tests/unit/base/unit.h"

static bool matches(const char *pattern, const char *name)
{
    return server_name_matches(span_from_string(pattern), span_from_string(name));
}

static void a_name_matches_itself_in_any_case_and_a_star_one_label(void **state)
{
    (void)state;
    assert_true(matches("shop.example", "shop.example"));
    assert_true(matches("Shop.example", "sHOP.EXAMPLE"));
    assert_false(matches("shop.example", "shop.example.org"));
    assert_false(matches("shop.example", "a.shop.example"));
    assert_false(matches("shop.example", ""));
    assert_true(matches("*.shop.example", "a.shop.example"));
    assert_true(matches("*.shop.example", "A.SHOP.example"));
    assert_false(matches("*.shop.example", "shop.example"));
    assert_false(matches("*.shop.example", ".shop.example"));
    assert_false(matches("*.shop.example", "a.b.shop.example"));
    assert_false(matches("*.shop.example", "a.myshop.example"));
    assert_false(matches("a*.shop.example", "ab.shop.example"));
}

static void the_exact_name_goes_before_the_star_and_the_first_before_all_others(void **state)
{
    static struct server_names a = { .count = 1, .list = { "*.shop.example" } },
                               b = { .count = 2, .list = { "other.example", "pay.shop.example" } },
                               none;
    const struct server_names *all[] = { &none, &a, &b };
    (void)state;
    assert_int_equal(server_name_choose(all, 3, SPAN("x.shop.example")), 1);
    assert_int_equal(server_name_choose(all, 3, SPAN("pay.shop.example")), 2);
    assert_int_equal(server_name_choose(all, 3, SPAN("other.example")), 2);
    assert_int_equal(server_name_choose(all, 3, SPAN("unknown.example")), 0);
    assert_int_equal(server_name_choose(all, 3, SPAN_NONE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_matches_itself_in_any_case_and_a_star_one_label),
        cmocka_unit_test(the_exact_name_goes_before_the_star_and_the_first_before_all_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
