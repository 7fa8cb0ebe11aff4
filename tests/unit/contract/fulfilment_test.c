/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/fulfilment.h"

#include "tests/unit/base/unit.h"

#include <string.h>

enum { NOW_MS = 5000 };
static const struct fulfil_move ship = {
    .ticket = 7, .event = FULFIL_SHIP, .carrier = "DHL", .tracking = "1", .now_ms = NOW_MS
};
static const struct fulfil_move other = {
    .ticket = 7, .event = FULFIL_SHIP, .carrier = "DHL", .tracking = "2", .now_ms = NOW_MS + 1
};
static const struct fulfil_move deliver = { .ticket = 7, .event = FULFIL_DELIVER, .now_ms = NOW_MS + 2 };

static struct order order_in(enum order_state state)
{
    return (struct order){ .ticket = 7, .state = (uint8_t)state };
}

static void only_a_paid_order_is_shipped(void **state)
{
    (void)state;
    for (enum order_state in = ORDER_PENDING; in < ORDER_STATES; in++) {
        const struct order order = order_in(in);
        struct shipment shipment = { 0 };
        const enum fulfil_answer wanted = in == ORDER_PAID ? FULFIL_DONE : FULFIL_NOT_PAID;
        assert_int_equal(fulfil_decide(&ship, &order, &shipment), wanted);
        assert_int_equal(shipment.state, in == ORDER_PAID ? FULFIL_SHIPPED : FULFIL_NONE);
    }
}

static void each_step_is_made_once_and_in_order(void **state)
{
    const struct order order = order_in(ORDER_PAID);
    struct shipment shipment = { 0 };
    (void)state;
    assert_int_equal(fulfil_decide(&deliver, &order, &shipment), FULFIL_NOT_SHIPPED);
    assert_int_equal(fulfil_decide(&ship, &order, &shipment), FULFIL_DONE);
    assert_string_equal(shipment.tracking, "1");
    assert_int_equal(shipment.shipped_ms, NOW_MS);
    assert_int_equal(fulfil_decide(&ship, &order, &shipment), FULFIL_REPEATED);
    assert_int_equal(fulfil_decide(&other, &order, &shipment), FULFIL_OTHER);
    struct fulfil_move corrected = other;
    corrected.replace = true;
    assert_int_equal(fulfil_decide(&corrected, &order, &shipment), FULFIL_DONE);
    assert_string_equal(shipment.tracking, "2");
    assert_int_equal(shipment.shipped_ms, NOW_MS); /* a correction is no new parcel */
    assert_int_equal(fulfil_decide(&deliver, &order, &shipment), FULFIL_DONE);
    assert_int_equal(shipment.delivered_ms, NOW_MS + 2);
    assert_int_equal(fulfil_decide(&deliver, &order, &shipment), FULFIL_REPEATED);
    assert_int_equal(fulfil_decide(&other, &order, &shipment), FULFIL_REPEATED);
    assert_int_equal(fulfil_decide(&ship, &order, &shipment), FULFIL_OVER);
}

static void what_was_sent_before_a_refund_may_arrive(void **state)
{
    const struct order paid = order_in(ORDER_PAID), refunded = order_in(ORDER_REFUNDED);
    struct shipment shipment = { 0 };
    (void)state;
    assert_int_equal(fulfil_decide(&ship, &paid, &shipment), FULFIL_DONE);
    assert_int_equal(fulfil_decide(&ship, &refunded, &shipment), FULFIL_REPEATED);
    struct fulfil_move corrected = other;
    corrected.replace = true;
    assert_int_equal(fulfil_decide(&corrected, &refunded, &shipment), FULFIL_NOT_PAID);
    assert_int_equal(fulfil_decide(&deliver, &refunded, &shipment), FULFIL_DONE);
}

static void states_and_answers_have_their_words(void **state)
{
    (void)state;
    assert_string_equal(fulfil_state_name(FULFIL_SHIPPED), "shipped");
    for (enum fulfil_answer answer = 0; answer < FULFIL_ANSWERS; answer++)
        assert_true(strlen(fulfil_answer_text(answer)) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_paid_order_is_shipped),
        cmocka_unit_test(each_step_is_made_once_and_in_order),
        cmocka_unit_test(what_was_sent_before_a_refund_may_arrive),
        cmocka_unit_test(states_and_answers_have_their_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
