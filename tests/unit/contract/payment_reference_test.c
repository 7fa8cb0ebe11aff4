/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/payment_reference.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void a_reference_names_its_order_and_attempt(void **state)
{
    (void)state;
    char reference[REFERENCE_BYTES_MAX + 1];
    uint64_t order_id = 0;
    uint32_t attempt = 0;
    payment_reference_write(0x5eaffff855408254u, 1, reference);
    assert_string_equal(reference, "5eaffff855408254-1"); /* as they were before: never change it */
    assert_true(payment_reference_read(reference, &order_id, &attempt));
    assert_int_equal(order_id, 0x5eaffff855408254u);
    assert_int_equal(attempt, 1);
    payment_reference_write(1, PAYMENTS_PER_ORDER, reference);
    assert_true(payment_reference_read(reference, &order_id, &attempt));
    assert_int_equal(attempt, PAYMENTS_PER_ORDER);
}

static void what_others_call_a_payment_is_no_reference_of_ours(void **state)
{
    (void)state;
    static const char *const others[] = { "", "bill 7", "5eaffff855408254", "5eaffff855408254-",
        "5eaffff855408254-0", "5eaffff855408254-9", "5eaffff855408254-12", "5eaffff85540825g-1",
        "5eaffff855408254+1", "05eaffff855408254-1" };
    uint64_t order_id;
    uint32_t attempt;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(payment_reference_read(others[i], &order_id, &attempt));
}

static void the_next_attempt_is_one_that_was_not_made(void **state)
{
    (void)state;
    struct payment payments[2] = { { .reference = "5eaffff855408254-3" },
        { .reference = "by the shop" } };
    assert_int_equal(payment_reference_next(payments, 0), 1);
    assert_int_equal(payment_reference_next(payments, 2), 4);
    const struct payment first = { .reference = "5eaffff855408254-1" };
    assert_int_equal(payment_reference_next(&first, 1), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reference_names_its_order_and_attempt),
        cmocka_unit_test(what_others_call_a_payment_is_no_reference_of_ours),
        cmocka_unit_test(the_next_attempt_is_one_that_was_not_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
