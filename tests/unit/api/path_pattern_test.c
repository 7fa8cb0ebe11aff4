/* SPDX-License-Identifier: Apache-2.0 */
/* Paths with numbers in them. */
#include "api/path_pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool fits(const char *pattern, const char *path, uint32_t *id, uint64_t *order)
{
    return path_pattern_matches(pattern, span_from_string(path), id, order);
}

static void a_path_fits_whole_or_not_at_all(void **state)
{
    uint32_t id;
    uint64_t order;
    (void)state;
    assert_true(fits("/sales/#/open", "/sales/12/open", &id, &order));
    assert_int_equal(id, 12);
    assert_int_equal(order, 0);
    assert_false(fits("/sales/#/open", "/sales/12/ope", &id, &order));
    assert_false(fits("/sales/#/open", "/sales/12/opens", &id, &order));
    assert_false(fits("/sales/#/open", "/sales//open", &id, &order));
    assert_false(fits("/sales/#/open", "/sales/4294967296/open", &id, &order));
    assert_false(fits("/sales/#", "", &id, &order));
}

static void what_is_no_order_id_is_order_0(void **state)
{
    uint32_t id;
    uint64_t order;
    (void)state;
    assert_true(fits("/orders/@/paid", "/orders/00000000000000ff/paid", &id, &order));
    assert_int_equal(order, 255);
    assert_true(fits("/orders/@/paid", "/orders/ff/paid", &id, &order));
    assert_int_equal(order, 0);
    assert_false(fits("/orders/@/paid", "/orders/00000000000000ff/x/paid", &id, &order));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_fits_whole_or_not_at_all),
        cmocka_unit_test(what_is_no_order_id_is_order_0),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
