/* SPDX-License-Identifier: Apache-2.0 */
/* News as one transaction. The rules are in tests/seam/store_suite_payments.c. */
#include "tests/unit/store/money_kit.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A trigger stands for whatever may fail in the middle: nothing of the news is kept. */
static void news_are_kept_whole_or_not_at_all(void **state)
{
    struct place *place = *state;
    uint8_t answer;
    assert_int_equal(row_started(place, 1, "a1"), STATUS_OK);
    place_execute(place,
        "CREATE TRIGGER no BEFORE INSERT ON stock_events BEGIN SELECT raise(ABORT, 'x'); END");
    assert_int_not_equal(row_captured(place, "a1", &answer), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT state FROM payments"), PAYMENT_STARTED);
    assert_int_equal(place_number(place, "SELECT state FROM orders"), ORDER_PENDING);
    assert_int_equal(place_number(place, "SELECT version FROM orders"), 1);
    place_execute(place, "DROP TRIGGER no");
    assert_int_equal(row_captured(place, "a1", &answer), STATUS_OK);
    assert_int_equal(answer, LEARN_PAID);
    assert_int_equal(place_number(place, "SELECT count(*) FROM stock_events WHERE step = 0"), 1);
}

static void a_refund_that_can_not_be_written_takes_its_news_with_it(void **state)
{
    struct place *place = *state;
    uint8_t answer;
    assert_int_equal(row_started(place, 1, "a1"), STATUS_OK);
    row_paid_by_another(place);
    place_execute(place, "CREATE TRIGGER no BEFORE INSERT ON refunds BEGIN SELECT raise(ABORT, 'x'); END");
    assert_int_not_equal(row_captured(place, "a1", &answer), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT state FROM payments WHERE id = 1"), PAYMENT_STARTED);
    place_execute(place, "DROP TRIGGER no");
    assert_int_equal(row_captured(place, "a1", &answer), STATUS_OK);
    assert_int_equal(answer, LEARN_REFUND);
    assert_int_equal(place_number(place, "SELECT count(*) FROM refunds WHERE refund_key = 'ra1'"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, money_rows_setup, money_rows_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(news_are_kept_whole_or_not_at_all),
        TEST(a_refund_that_can_not_be_written_takes_its_news_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
