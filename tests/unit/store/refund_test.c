/* SPDX-License-Identifier: Apache-2.0 */
/* Refund intents as rows. The rules are in tests/seam/store_suite_refunds.c. */
#include "tests/unit/store/money_kit.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void a_reference_that_fills_its_column_still_gets_a_key(void **state)
{
    struct place *place = *state;
    uint8_t answer;
    char reference[REFERENCE_BYTES_MAX + 1];
    memset(reference, 'x', REFERENCE_BYTES_MAX);
    reference[REFERENCE_BYTES_MAX] = '\0';
    assert_int_equal(row_started(place, 1, reference), STATUS_OK);
    row_paid_by_another(place);
    assert_int_equal(row_captured(place, reference, &answer), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM refunds WHERE refund_key = 'r-1'"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, money_rows_setup, money_rows_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_reference_that_fills_its_column_still_gets_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
