/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/late_payment.h"

#include "tests/unit/orders/cashier_kit.h"

static void late_money_with_a_unit_pays_a_new_order(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = late_money(shop, ticket);
    shop->unit = (struct outcome){ .answer = ANSWER_WON, .ticket = ticket + 1 };
    turn(shop); /* its order is not written yet */
    assert_int_equal(payment_of(shop, id).use, USE_LATE);
    shop->unit.answer = ANSWER_REPEATED; /* the same key finds the same ticket */
    assert_int_equal(order_make(shop), ticket + 1);
    turn_after(shop, CASHIER_LATE_AGAIN_MS);
    assert_int_equal(shop->unit_asked, 2);
    assert_int_equal(payment_of(shop, id).use, USE_RELINKED);
    assert_int_equal(shop->changed_last, ticket); /* its page names the new one, which was told before */
    assert_int_equal(order_of(shop, ticket).state, ORDER_CLOSED);
    assert_int_equal(order_of(shop, ticket + 1).state, ORDER_PAID);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
    money_is_at_rest(shop);
}

static void late_money_without_a_unit_goes_back(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    late_money(shop, ticket);
    const uint32_t changed = shop->changed;
    shop->changed_last = 0;
    turn(shop);
    assert_int_equal(refund_of(shop).why, REFUND_OF_LATE);
    assert_true(shop->changed > changed && shop->changed_last == ticket); /* its page shows the refund */
    if (shop->act != PROVIDER_REFUND)
        asks(shop, 0, PROVIDER_REFUND);
    assert_string_equal(shop->key, refund_of(shop).key);
    says(shop, WORD_REFUNDED);
    assert_int_equal(refund_of(shop).state, REFUND_DONE);
    money_is_at_rest(shop);
}

static void late_money_waits_for_an_inventory_that_is_away_and_then_goes_back(void **state)
{
    struct shop *shop = *state;
    const uint64_t id = late_money(shop, order_make(shop));
    const uint64_t end_ms = payment_of(shop, id).captured_ms + LATE_WAIT_MS;
    shop->unit_status = STATUS_AWAY;
    while (shop->now_ms < end_ms) {
        turn(shop);
        assert_int_equal(payment_of(shop, id).use, USE_LATE);
        shop->now_ms += CASHIER_CLOSE_AGAIN_MS;
    }
    turn(shop);
    assert_int_equal(payment_of(shop, id).use, USE_REFUND);
    assert_true(shop->unit_asked > 10);
}

static void late_money_is_not_written_to_while_its_answer_is_on_its_way(void **state)
{
    struct shop *shop = *state;
    const uint64_t id = late_money(shop, order_make(shop));
    const uint64_t end_ms = payment_of(shop, id).captured_ms + LATE_WAIT_MS;
    shop->unit_status = STATUS_BUSY;
    turn(shop);
    const uint32_t asked = shop->unit_asked;
    shop->now_ms += CASHIER_LATE_AGAIN_MS - 1;
    turn(shop);
    assert_int_equal(shop->unit_asked, asked);
    cashier_look(&shop->cashier); /* as its owner does when the answer is there */
    turn(shop);
    assert_int_equal(shop->unit_asked, asked + 1);
    shop->now_ms += CASHIER_LATE_AGAIN_MS;
    turn(shop);
    assert_int_equal(shop->unit_asked, asked + 2);
    assert_int_equal(payment_of(shop, id).tries, 0);
    shop->now_ms = end_ms + 1; /* the server was away for long: the answer counts all the same */
    turn(shop);
    assert_int_equal(payment_of(shop, id).use, USE_LATE);
    shop->unit_status = STATUS_OK;
    cashier_look(&shop->cashier);
    turn(shop);
    assert_int_equal(payment_of(shop, id).use, USE_REFUND);
}

static void late_money_whose_unit_is_being_decided_waits_for_it_however_long(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = late_money(shop, ticket);
    const uint64_t end_ms = payment_of(shop, id).captured_ms + LATE_WAIT_MS;
    shop->unit = (struct outcome){ .answer = ANSWER_DECIDING, .ticket = ticket + 1 };
    turn(shop);
    assert_int_equal(payment_of(shop, id).use, USE_LATE);
    shop->now_ms = end_ms + 1;
    turn(shop);
    assert_int_equal(payment_of(shop, id).use, USE_LATE);
    shop->unit.answer = ANSWER_REPEATED; /* kept: the same key finds the ticket */
    assert_int_equal(order_make(shop), ticket + 1);
    turn_after(shop, CASHIER_LATE_AGAIN_MS);
    assert_int_equal(payment_of(shop, id).use, USE_RELINKED);
    assert_int_equal(order_of(shop, ticket + 1).state, ORDER_PAID);
}

static void late_money_that_came_during_a_question_does_not_wait_for_another_event(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_open(shop, ticket, "r-1");
    order_cancel(shop, ticket);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_AGAIN);
    asks(shop, CASHIER_CLOSE_AGAIN_MS, PROVIDER_QUERY);
    assert_int_equal(called_back(shop, "r-1", WORD_CLOSED, PRICE), LEARN_CLOSED);
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_LATE);
    turn(shop); /* passed over: the question is under way */
    assert_int_equal(payment_of(shop, id).use, USE_LATE);
    says(shop, WORD_CAPTURED); /* nothing new */
    turn(shop);
    assert_int_equal(payment_of(shop, id).use, USE_REFUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOP_RULE(late_money_with_a_unit_pays_a_new_order),
        SHOP_RULE(late_money_without_a_unit_goes_back),
        SHOP_RULE(late_money_is_not_written_to_while_its_answer_is_on_its_way),
        SHOP_RULE(late_money_waits_for_an_inventory_that_is_away_and_then_goes_back),
        SHOP_RULE(late_money_whose_unit_is_being_decided_waits_for_it_however_long),
        SHOP_RULE(late_money_that_came_during_a_question_does_not_wait_for_another_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
