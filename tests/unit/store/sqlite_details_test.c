/* Details as rows. The rules are in tests/seam/store_suite_refunds.c. */
#include "tests/unit/store/sqlite_money.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void details_belong_to_an_order(void **state)
{
    struct place *place = *state;
    struct order after;
    const struct order_details details = { .name = "n", .phone = "p", .address = "a", .note = "" };
    assert_int_equal(
        place->store->ops->payment->details_set(place->store, 1, &details, 7, &after), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT time_ms FROM order_details WHERE ticket = 1"), 7);
    assert_int_equal(
        place->store->ops->payment->details_set(place->store, 1, &details, 8, &after), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT time_ms FROM order_details"), 7); /* nothing new */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, money_rows_setup, money_rows_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(details_belong_to_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
