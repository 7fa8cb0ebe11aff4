/* SPDX-License-Identifier: Apache-2.0 */
/* What statements say, as rows. The rules are in tests/seam/store_suite_refunds.c. */
#include "tests/unit/store/money_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void marks_are_written_together_or_not_at_all(void **state)
{
    struct place *place = *state;
    const struct payment_store_ops *money = place->store->ops->payment;
    const uint64_t payments[] = { 1, 2 };
    assert_int_equal(row_started(place, 1, "a1"), STATUS_OK);
    place_execute(place,
        "CREATE TRIGGER stop BEFORE UPDATE OF stated_ms ON refunds BEGIN SELECT"
        " RAISE(ABORT, 'no'); END;"
        "INSERT INTO refunds(id, payment, ticket, provider, refund_key, provider_id, amount,"
        " currency, state, why, tries, created_ms, done_ms, next_ms, error)"
        " VALUES(1, 1, 1, 'alpha', 'k', '', 1, 'CNY', 2, 0, 0, 1, 1, 0, '')");
    assert_int_not_equal(money->stated(place->store, payments, 2, payments, 1, 9), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM payments WHERE stated_ms <> 0"), 0);
    place_execute(place, "DROP TRIGGER stop");
    assert_int_equal(money->stated(place->store, payments, 2, payments, 1, 9), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT stated_ms FROM payments"), 9);
    assert_int_equal(place_number(place, "SELECT stated_ms FROM refunds"), 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            marks_are_written_together_or_not_at_all, money_rows_setup, money_rows_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
