/* SPDX-License-Identifier: Apache-2.0 */
/* Money that came: double, of another amount, given back; and trouble on the way. */
#include "tests/unit/orders/cashier_kit.h"

/* ---- refunds ---- */

static void order_refund(struct shop *shop, ticket_number ticket)
{
    const struct order_move move = { .ticket = ticket, .now_ms = shop->now_ms, .event = ORDER_EVENT_REFUND };
    struct order after;
    uint8_t answer;
    assert_int_equal(shop->store->ops->orders_move(shop->store, &move, 1, &after, &answer), STATUS_OK);
    assert_int_equal(answer, MOVE_DONE);
    cashier_look(&shop->cashier);
}

static void a_refund_is_asked_for_until_it_is_confirmed(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    order_refund(shop, ticket);
    asks(shop, 0, PROVIDER_REFUND);
    cashier_look(&shop->cashier);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS); /* one question at a time */
    says(shop, WORD_AGAIN);
    asks_nothing(shop, CASHIER_REFUND_AGAIN_MS - 1);
    asks(shop, 1, PROVIDER_REFUND_QUERY);
    says(shop, WORD_REFUND_PENDING);
    asks(shop, CASHIER_REFUND_AGAIN_MS, PROVIDER_REFUND);
    const uint32_t changed = shop->changed;
    says(shop, WORD_REFUNDED);
    assert_int_equal(refund_of(shop).state, REFUND_DONE);
    assert_true(shop->changed == changed + 1 && shop->changed_last == ticket); /* its page shows it */
    asks_nothing(shop, CASHIER_STUCK_MS);
    money_is_at_rest(shop);
}

static void a_refused_refund_is_stuck_told_and_tried_slowly(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    order_refund(shop, ticket);
    asks(shop, 0, PROVIDER_REFUND);
    const uint32_t changed = shop->changed;
    says(shop, WORD_REFUSED);
    assert_int_equal(refund_of(shop).state, REFUND_STUCK);
    assert_int_equal(shop->stuck, 1);
    assert_true(shop->changed == changed + 1 && shop->changed_last == ticket);
    asks_nothing(shop, CASHIER_STUCK_MS - 1);
    asks(shop, 1, PROVIDER_REFUND_QUERY);
    says(shop, WORD_REFUNDED);
    assert_int_equal(refund_of(shop).state, REFUND_DONE);
    money_is_at_rest(shop);
}

static void a_second_payment_of_a_paid_order_is_closed_or_goes_back(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    struct payment_start start = { .ticket = ticket, .now_ms = shop->now_ms, .provider = "other" };
    struct payment second;
    struct order after;
    uint8_t answer;
    payment_open(shop, ticket, "r-1");
    snprintf(start.reference, sizeof start.reference, "r-2");
    assert_int_equal(whole->start(shop->store, &start, &second, &after, &answer), STATUS_OK);
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    asks(shop, 0, PROVIDER_CLOSE);
    assert_string_equal(shop->reference, "r-2");
    says(shop, WORD_CAPTURED);
    assert_int_equal(refund_of(shop).why, REFUND_OF_DOUBLE);
    asks(shop, 0, PROVIDER_REFUND);
    says(shop, WORD_REFUNDED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    money_is_at_rest(shop);
}

static void money_of_another_amount_goes_back_and_the_order_may_still_be_paid(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    struct provider_said said = word(WORD_CAPTURED);
    said.amount = PRICE - 1;
    const uint32_t changed = shop->changed;
    cashier_said(&shop->cashier, shop->flight, &said, shop->now_ms);
    assert_int_equal(refund_of(shop).why, REFUND_OF_AMOUNT);
    assert_int_equal(refund_of(shop).amount, PRICE - 1);
    assert_int_equal(shop->changed, changed + 1); /* it may expire again */
    asks(shop, 0, PROVIDER_REFUND);
    says(shop, WORD_REFUNDED);
    payment_open(shop, ticket, "r-2");
    assert_int_equal(called_back(shop, "r-2", WORD_CAPTURED, PRICE), LEARN_PAID);
    money_is_at_rest(shop);
}

/* ---- trouble ---- */

static void a_store_that_is_away_loses_nothing(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    struct provider_said said = word(WORD_CAPTURED);
    uint8_t answer;
    payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    store_away = true;
    says(shop, WORD_CAPTURED); /* can't be kept: it is asked again */
    snprintf(said.reference, sizeof said.reference, "r-1");
    assert_int_equal(cashier_news(&shop->cashier, "bank", &said, shop->now_ms, &answer), STATUS_AWAY);
    shop->now_ms += CASHIER_AWAY_MS;
    assert_int_equal(cashier_turn(&shop->cashier, shop->now_ms), STATUS_AWAY);
    store_away = false;
    assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
    asks_nothing(shop, CASHIER_AWAY_MS - 1);
    asks(shop, 1, PROVIDER_QUERY);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
}

static void a_new_cashier_on_the_same_store_goes_on(void **state)
{
    struct shop *shop = *state;
    const ticket_number first = order_make(shop), second = order_make(shop), third = order_make(shop);
    payment_make(shop, first, "r-1");
    asks(shop, 0, PROVIDER_CREATE); /* the answer is lost with the process */
    cashier_begin(shop);
    asks(shop, 0, PROVIDER_CREATE);
    says(shop, WORD_OPEN);
    cashier_begin(shop);
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    cashier_begin(shop);
    asks(shop, 0, PROVIDER_QUERY);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, first).state, ORDER_PAID);
    order_refund(shop, first);
    asks(shop, 0, PROVIDER_REFUND);
    cashier_begin(shop);
    asks(shop, 0, PROVIDER_REFUND);
    says(shop, WORD_REFUNDED);
    payment_open(shop, second, "r-2");
    order_cancel(shop, second);
    cashier_begin(shop);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_CLOSED);
    assert_int_equal(order_of(shop, second).state, ORDER_CLOSED);
    assert_int_equal(order_of(shop, third).state, ORDER_PENDING);
    money_is_at_rest(shop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOP_RULE(a_refund_is_asked_for_until_it_is_confirmed),
        SHOP_RULE(a_refused_refund_is_stuck_told_and_tried_slowly),
        SHOP_RULE(a_second_payment_of_a_paid_order_is_closed_or_goes_back),
        SHOP_RULE(money_of_another_amount_goes_back_and_the_order_may_still_be_paid),
        SHOP_RULE(a_store_that_is_away_loses_nothing),
        SHOP_RULE(a_new_cashier_on_the_same_store_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
