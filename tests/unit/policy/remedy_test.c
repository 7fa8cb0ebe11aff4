/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/remedy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct remedy_facts facts_of(enum order_state state, bool shipped)
{
    return (struct remedy_facts){ .order_state = (uint8_t)state, .shipped = shipped };
}

static void remedies_are_proposed_in_the_order_of_the_documents(void **state)
{
    const struct remedy_facts paid = facts_of(ORDER_PAID, false);
    enum remedy out[REMEDIES];
    (void)state;
    assert_int_equal(remedy_proposals(&paid, out), 5);
    assert_int_equal(out[0], REMEDY_REFUND);
    assert_int_equal(out[1], REMEDY_WAIT);
    assert_int_equal(out[2], REMEDY_SUBSTITUTE);
    assert_int_equal(out[3], REMEDY_SHIP_AT_LOSS);
    assert_int_equal(out[4], REMEDY_DISMISS);
}

static void what_is_not_in_the_table_is_refused(void **state)
{
    const struct remedy_facts unpaid = facts_of(ORDER_PENDING, false),
                              shipped = facts_of(ORDER_PAID, true),
                              closed = facts_of(ORDER_CLOSED, false),
                              refunded = facts_of(ORDER_REFUNDED, true);
    (void)state;
    assert_false(remedy_fits(REMEDY_SUBSTITUTE, &unpaid));
    assert_true(remedy_fits(REMEDY_REFUND, &unpaid));
    assert_false(remedy_fits(REMEDY_REFUND, &shipped)); /* after shipping it is no remedy of a case */
    assert_true(remedy_fits(REMEDY_SHIP_AT_LOSS, &shipped));
    assert_false(remedy_fits(REMEDY_REFUND, &closed));
    assert_true(remedy_fits(REMEDY_DISMISS, &closed));
    assert_true(remedy_fits(REMEDY_REFUND, &refunded));
    assert_false(remedy_fits(REMEDY_NONE, &unpaid));
    assert_false(remedy_fits(REMEDIES, &unpaid));
}

static void a_refund_moves_the_order_once(void **state)
{
    const struct remedy_facts unpaid = facts_of(ORDER_PENDING, false),
                              paid = facts_of(ORDER_PAID, false),
                              refunded = facts_of(ORDER_REFUNDED, false);
    (void)state;
    assert_int_equal(remedy_event(REMEDY_REFUND, &unpaid), ORDER_EVENT_CANCEL);
    assert_int_equal(remedy_event(REMEDY_REFUND, &paid), ORDER_EVENT_REFUND);
    assert_int_equal(remedy_event(REMEDY_REFUND, &refunded), ORDER_EVENTS);
    assert_int_equal(remedy_event(REMEDY_WAIT, &paid), ORDER_EVENTS);
}

static void a_coupon_is_rounded_up_and_never_overflows(void **state)
{
    (void)state;
    assert_int_equal(remedy_coupon_value(10000, 10), 1000);
    assert_int_equal(remedy_coupon_value(1, 10), 1);
    assert_int_equal(remedy_coupon_value(101, 10), 11);
    assert_int_equal(remedy_coupon_value(100, 0), 0);
    assert_int_equal(remedy_coupon_value(0, 10), 0);
    assert_int_equal(remedy_coupon_value(999, 100), 999);
    assert_int_equal(remedy_coupon_value(INT64_MAX, 100), INT64_MAX);
    assert_int_equal(remedy_coupon_percent(REMEDY_REFUND, 10), 10);
    assert_int_equal(remedy_coupon_percent(REMEDY_WAIT, 10), 10);
    assert_int_equal(remedy_coupon_percent(REMEDY_SUBSTITUTE, 10), 0);
}

static void as_many_orders_are_affected_as_units_are_missing(void **state)
{
    const struct order orders[] = { { .quantity = 1 }, { .quantity = 2 }, { .quantity = 1 } };
    (void)state;
    assert_int_equal(remedy_orders_enough(orders, 3, 1), 1);
    assert_int_equal(remedy_orders_enough(orders, 3, 2), 2);
    assert_int_equal(remedy_orders_enough(orders, 3, 3), 2);
    assert_int_equal(remedy_orders_enough(orders, 3, 4), 3);
    assert_int_equal(remedy_orders_enough(orders, 3, 9), 3);
    assert_int_equal(remedy_orders_enough(orders, 0, 1), 0);
}

static void a_remedy_is_found_by_its_name(void **state)
{
    (void)state;
    assert_int_equal(remedy_find("refund-coupon"), REMEDY_REFUND);
    assert_int_equal(remedy_find("dismiss"), REMEDY_DISMISS);
    assert_int_equal(remedy_find("none"), REMEDY_NONE);
    assert_int_equal(remedy_find("refund"), REMEDY_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remedies_are_proposed_in_the_order_of_the_documents),
        cmocka_unit_test(what_is_not_in_the_table_is_refused),
        cmocka_unit_test(a_refund_moves_the_order_once),
        cmocka_unit_test(a_coupon_is_rounded_up_and_never_overflows),
        cmocka_unit_test(as_many_orders_are_affected_as_units_are_missing),
        cmocka_unit_test(a_remedy_is_found_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
