/* SPDX-License-Identifier: Apache-2.0 */
/* orders/statement.h: one row of a statement against our books. */
#include "orders/statement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct statement_row paid = {
    .kind = STATEMENT_CAPTURED, .reference = "0123456789abcdef-1", .amount = 500, .currency = "CNY"
};
static const struct statement_row back = {
    .kind = STATEMENT_REFUNDED, .reference = "0123456789abcdef-1", .amount = 500, .currency = "CNY"
};

static void our_references_are_told_from_others(void **state)
{
    static const char *const ours[] = { "0123456789abcdef-1", "ffffffffffffffff-8",
        "0000000000000000-12" };
    static const char *const others[] = { "", "0123456789abcdef", "0123456789abcdef-",
        "0123456789abcdeg-1", "0123456789abcdef_1", "0123456789abcdef-x", "0123456789abcdef-123",
        "ORDER-1" };
    (void)state;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        assert_true(statement_reference_is_ours(span_from_string(ours[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(statement_reference_is_ours(span_from_string(others[i])));
}

static void money_there_is_compared_with_money_here(void **state)
{
    struct payment payment = { .state = PAYMENT_CAPTURED, .captured = 500, .currency = "CNY" };
    struct statement_row foreign = paid;
    (void)state;
    assert_int_equal(statement_judge(&paid, &payment, NULL), STATEMENT_AGREES);
    assert_int_equal(statement_judge(&paid, NULL, NULL), STATEMENT_UNKNOWN_PAYMENT);
    memcpy(foreign.reference, "laundry 7", sizeof "laundry 7");
    assert_int_equal(statement_judge(&foreign, NULL, NULL), STATEMENT_OF_OTHERS);
    payment.captured = 499;
    assert_int_equal(statement_judge(&paid, &payment, NULL), STATEMENT_OTHER_AMOUNT);
    payment.captured = 500;
    memcpy(payment.currency, "USD", sizeof "USD");
    assert_int_equal(statement_judge(&paid, &payment, NULL), STATEMENT_OTHER_AMOUNT);
    for (int at = PAYMENT_STARTED; at < PAYMENT_STATES; at++) {
        payment.state = (uint8_t)at;
        if (at != PAYMENT_CAPTURED)
            assert_int_equal(statement_judge(&paid, &payment, NULL), STATEMENT_NOT_CAPTURED);
    }
}

static void money_that_went_back_is_compared_with_refunds(void **state)
{
    const struct payment payment = { .state = PAYMENT_CAPTURED, .captured = 500, .currency = "CNY" };
    struct refund refund = { .state = REFUND_DONE, .amount = 500, .currency = "CNY" };
    (void)state;
    assert_int_equal(statement_judge(&back, &payment, &refund), STATEMENT_AGREES);
    assert_int_equal(statement_judge(&back, &payment, NULL), STATEMENT_UNKNOWN_REFUND);
    refund.state = REFUND_WANTED;
    assert_int_equal(statement_judge(&back, &payment, &refund), STATEMENT_REFUND_OPEN);
    refund.amount = 1;
    assert_int_equal(statement_judge(&back, &payment, &refund), STATEMENT_OTHER_REFUND);
    assert_int_equal(statement_judge(&back, NULL, NULL), STATEMENT_UNKNOWN_PAYMENT);
    for (int at = 0; at < STATEMENT_VERDICTS; at++)
        assert_non_null(statement_verdict_name((enum statement_verdict)at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_references_are_told_from_others),
        cmocka_unit_test(money_there_is_compared_with_money_here),
        cmocka_unit_test(money_that_went_back_is_compared_with_refunds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
