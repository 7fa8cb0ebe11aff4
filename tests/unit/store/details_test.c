/* SPDX-License-Identifier: Apache-2.0 */
/* Details as rows. The rules are in tests/seam/store_suite_refunds.c. */
#include "tests/unit/store/money_kit.h"

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

/* Each within its bounds, all together more than 63 bits. */
static void a_sum_of_large_amounts_is_a_sum_and_no_error(void **state)
{
    struct place *place = *state;
    struct money_totals totals;
    const uint64_t each = UINT64_C(1) << 62;
    place_execute(place,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3)"
        " INSERT INTO payments(ticket, paid_ticket, provider, reference, provider_id, url, amount,"
        " currency, captured, state, used_for, tries, created_ms, captured_ms, next_ms, pay_by_ms,"
        " closing_ms) SELECT 1, 0, 'alpha', 'x' || i, '', '', 1 << 62, 'CNY', 1 << 62, 4, 2, 0, 1,"
        " 1, 1, 1, 0 FROM n");
    assert_int_equal(place->store->ops->payment->totals(place->store, &totals), STATUS_OK);
    assert_true(totals.captured == 3 * each && totals.late == 3 * each);
    assert_true(money_shown(totals.captured) == INT64_MAX && money_shown(7) == 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, money_rows_setup, money_rows_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(details_belong_to_an_order),
        TEST(a_sum_of_large_amounts_is_a_sum_and_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
