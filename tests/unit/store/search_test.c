/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/payment.h"

#include "tests/unit/store/money_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void a_search_that_can_not_be_written_whole_is_not_written(void **state)
{
    struct place *place = *state;
    assert_int_equal(place_sell(place, 6), STATUS_OK);
    struct payment_search list[2] = {
        { .ticket = 1, .provider = "alpha", .reference = "a1" },
        { .ticket = 2, .provider = "alpha", .reference = "a2" },
    };
    const struct payment_store_ops *ops = place->store->ops->payment;
    place_execute(place,
        "CREATE TRIGGER no BEFORE INSERT ON payments WHEN new.ticket = 2 BEGIN"
        " SELECT raise(ABORT, 'x'); END");
    assert_int_not_equal(ops->search(place->store, list, 2, 5), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM payments"), 0);
    place_execute(place, "DROP TRIGGER no");
    assert_int_equal(ops->search(place->store, list, 2, 5), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM payments WHERE searched = 1"), 2);
}

static void a_payment_that_is_known_is_not_searched_for(void **state)
{
    struct place *place = *state;
    const struct payment_search search = { .ticket = 1, .provider = "beta", .reference = "a1" };
    assert_int_equal(row_started(place, 1, "a1"), STATUS_OK);
    assert_int_equal(place->store->ops->payment->search(place->store, &search, 1, 5), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM payments WHERE searched = 0"), 1);
    assert_int_equal(place_number(place, "SELECT count(*) FROM payments"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, money_rows_setup, money_rows_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_search_that_can_not_be_written_whole_is_not_written),
        TEST(a_payment_that_is_known_is_not_searched_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
