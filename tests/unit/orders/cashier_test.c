/* SPDX-License-Identifier: Apache-2.0 */
/* Payments from their start to their end, as long as their order waits for them. */
#include "tests/unit/orders/cashier_kit.h"

/* ---- started and open ---- */

static void a_started_payment_is_created_opened_and_asked_about_until_paid(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_open(shop, ticket, "r-1");
    assert_string_equal(shop->reference, "r-1");
    assert_int_equal(shop->opened, 1);
    assert_string_equal(shop->opened_error, "");
    assert_int_equal(payment_of(shop, id).state, PAYMENT_OPEN);
    assert_string_equal(payment_of(shop, id).url, "https://pay/1");
    asks_nothing(shop, QUERY_MS - 1);
    asks(shop, 1, PROVIDER_QUERY);
    says(shop, WORD_OPEN);
    asks_nothing(shop, QUERY_MS - 1);
    asks(shop, 1, PROVIDER_QUERY); /* then more and more seldom */
    says(shop, WORD_OPEN);
    asks_nothing(shop, 2 * QUERY_MS - 1);
    asks(shop, 1, PROVIDER_QUERY);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    assert_true(shop->changed > 0);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
    money_is_at_rest(shop);
}

static void questions_are_never_further_apart_than_the_most(void **state)
{
    struct shop *shop = *state;
    payment_open(shop, order_make(shop), "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    for (uint32_t i = 0; i < 7; i++) { /* 0.4 s … 51.2 s, then a minute */
        says(shop, WORD_OPEN);
        asks(shop, CASHIER_AGAIN_MAX_MS, PROVIDER_QUERY);
    }
}

static void a_create_without_an_answer_is_repeated_with_growing_pauses(void **state)
{
    struct shop *shop = *state;
    const uint64_t id = payment_make(shop, order_make(shop), "r-1");
    asks(shop, 0, PROVIDER_CREATE);
    says(shop, WORD_AGAIN);
    asks_nothing(shop, CASHIER_CREATE_AGAIN_MS - 1);
    asks(shop, 1, PROVIDER_CREATE);
    says(shop, WORD_FORGED);
    asks_nothing(shop, 2 * CASHIER_CREATE_AGAIN_MS - 1);
    asks(shop, 1, PROVIDER_CREATE);
    says(shop, WORD_OPEN);
    assert_int_equal(payment_of(shop, id).state, PAYMENT_OPEN);
    asks_nothing(shop, QUERY_MS - 1); /* the pauses begin anew */
    asks(shop, 1, PROVIDER_QUERY);
}

static void a_refused_create_is_told_and_the_order_may_try_again(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_make(shop, ticket, "r-1");
    asks(shop, 0, PROVIDER_CREATE);
    struct provider_said said = word(WORD_REFUSED);
    snprintf(said.error, sizeof said.error, "no such merchant");
    cashier_said(&shop->cashier, shop->flight, &said, shop->now_ms);
    assert_string_equal(shop->opened_error, "no such merchant");
    assert_int_equal(payment_of(shop, id).state, PAYMENT_CLOSED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
    payment_open(shop, ticket, "r-2");
}

static void a_create_that_finds_the_payment_paid_or_closed_is_news(void **state)
{
    struct shop *shop = *state;
    const ticket_number paid = order_make(shop), closed = order_make(shop);
    payment_make(shop, paid, "r-1");
    asks(shop, 0, PROVIDER_CREATE);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, paid).state, ORDER_PAID);
    const uint64_t id = payment_make(shop, closed, "r-2");
    asks(shop, 0, PROVIDER_CREATE);
    says(shop, WORD_CLOSED);
    assert_int_equal(payment_of(shop, id).state, PAYMENT_CLOSED);
}

static void an_answer_that_cannot_be_trusted_changes_nothing(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    says(shop, WORD_FORGED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
    asks(shop, QUERY_MS, PROVIDER_QUERY);
}

static void at_most_one_question_about_a_payment_is_under_way(void **state)
{
    struct shop *shop = *state;
    payment_make(shop, order_make(shop), "r-1");
    asks(shop, 0, PROVIDER_CREATE);
    for (uint32_t i = 0; i < 5; i++) {
        cashier_look(&shop->cashier);
        asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
    }
    says(shop, WORD_OPEN);
    asks(shop, QUERY_MS, PROVIDER_QUERY);
}

static void no_more_questions_are_under_way_than_are_allowed(void **state)
{
    enum { ALLOWED = 32 };
    struct shop *shop = *state;
    char reference[16];
    shop->cashier.config.calls_max = ALLOWED;
    for (uint32_t i = 0; i <= ALLOWED; i++) {
        snprintf(reference, sizeof reference, "r-%u", i);
        payment_make(shop, order_make(shop), reference);
    }
    turn(shop);
    assert_int_equal(shop->asked, ALLOWED);
    asks_nothing(shop, CASHIER_LATE_AGAIN_MS);
    says(shop, WORD_OPEN);
    asks(shop, CASHIER_LATE_AGAIN_MS, PROVIDER_CREATE); /* the last one has a place now */
}

static void a_provider_that_cannot_be_asked_now_is_asked_soon(void **state)
{
    struct shop *shop = *state;
    payment_make(shop, order_make(shop), "r-1");
    shop->no_room = true;
    asks_nothing(shop, 0);
    shop->no_room = false;
    asks_nothing(shop, CASHIER_LATE_AGAIN_MS - 1);
    asks(shop, 1, PROVIDER_CREATE);
}

/* ---- callbacks ---- */

static void a_callback_brings_the_news_and_its_double_changes_nothing(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    const uint64_t version = order_of(shop, ticket).version;
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_REPEATED);
    assert_int_equal(called_back(shop, "r-1", WORD_CLOSED, PRICE), LEARN_REPEATED);
    assert_int_equal(order_of(shop, ticket).version, version);
    assert_int_equal(called_back(shop, "r-9", WORD_CAPTURED, PRICE), LEARN_UNKNOWN);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
    money_is_at_rest(shop);
}

static void a_callback_with_another_amount_only_brings_the_question_forward(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE - 1), LEARN_AMOUNT);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
    asks(shop, 0, PROVIDER_QUERY);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
}

static void an_answer_that_comes_after_the_callback_changes_nothing(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    says(shop, WORD_OPEN); /* as it was when the provider looked */
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
}

static void a_callback_can_be_sooner_than_the_answer_to_create(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_make(shop, ticket, "r-1");
    asks(shop, 0, PROVIDER_CREATE);
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE), LEARN_PAID);
    says(shop, WORD_OPEN);
    assert_int_equal(payment_of(shop, id).state, PAYMENT_CAPTURED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
}

static void a_wrong_amount_during_a_question_is_asked_again_at_once(void **state)
{
    struct shop *shop = *state;
    payment_open(shop, order_make(shop), "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    shop->now_ms++;
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE + 1), LEARN_AMOUNT);
    asks_nothing(shop, 0);
    says(shop, WORD_OPEN);
    asks(shop, 0, PROVIDER_QUERY);
}

/* ---- closing ---- */

static void a_payment_is_closed_at_the_provider_before_its_order_expires(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    says(shop, WORD_OPEN);
    shop->now_ms = order_of(shop, ticket).pay_by_ms;
    turn(shop); /* it becomes CLOSING */
    asks(shop, 0, PROVIDER_CLOSE);
    const uint32_t changed = shop->changed;
    says(shop, WORD_CLOSED);
    assert_int_equal(payment_of(shop, id).state, PAYMENT_CLOSED);
    assert_int_equal(shop->changed, changed + 1); /* the expiry must look: nothing holds it open now */
    asks_nothing(shop, CASHIER_AGAIN_MAX_MS);
}

static void closing_asks_in_turn_and_money_that_was_quicker_pays(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    order_cancel(shop, ticket);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_AGAIN);
    asks_nothing(shop, CASHIER_CLOSE_AGAIN_MS - 1);
    asks(shop, 1, PROVIDER_QUERY);
    says(shop, WORD_OPEN);
    asks(shop, CASHIER_CLOSE_AGAIN_MS, PROVIDER_CLOSE);
    says(shop, WORD_REFUSED); /* "it is paid": the next question tells how much */
    asks(shop, 2 * CASHIER_CLOSE_AGAIN_MS, PROVIDER_QUERY);
    says(shop, WORD_CAPTURED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    money_is_at_rest(shop);
}

static void a_payment_that_the_provider_never_had_is_closed(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_make(shop, ticket, "r-1");
    order_cancel(shop, ticket);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_UNKNOWN);
    assert_int_equal(order_of(shop, ticket).state, ORDER_CLOSED);
    assert_int_equal(order_of(shop, ticket).reason, REASON_CANCELLED);
}

static void an_open_payment_that_the_provider_does_not_know_yet_is_asked_again(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    const uint64_t id = payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    says(shop, WORD_UNKNOWN);
    assert_int_equal(payment_of(shop, id).state, PAYMENT_OPEN);
    asks(shop, QUERY_MS, PROVIDER_QUERY);
}

static void closing_is_given_up_after_its_time_and_not_before(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    order_cancel(shop, ticket);
    const uint64_t end_ms = shop->now_ms + CLOSE_WAIT_MS;
    asks(shop, 0, PROVIDER_CLOSE);
    while (shop->now_ms < end_ms) {
        assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
        says(shop, WORD_AGAIN);
        const uint32_t before = shop->asked;
        while (shop->asked == before && shop->now_ms < end_ms)
            turn_after(shop, 100);
    }
    if (shop->cashier.under_way > 0)
        says(shop, WORD_AGAIN);
    turn_after(shop, CASHIER_AGAIN_MAX_MS);
    assert_int_equal(order_of(shop, ticket).state, ORDER_CLOSED);
    assert_int_equal(order_of(shop, ticket).reason, REASON_CANCELLED);
}

/* The provider is away until the order is closed; its answer to the last question never comes. */
static uint64_t closed_alone(struct shop *shop, ticket_number ticket)
{
    const uint64_t id = payment_open(shop, ticket, "r-1");
    order_cancel(shop, ticket);
    asks(shop, 0, PROVIDER_CLOSE);
    shop->now_ms += CLOSE_WAIT_MS;
    says(shop, WORD_AGAIN);
    turn_after(shop, CASHIER_AGAIN_MAX_MS);
    assert_int_equal(order_of(shop, ticket).state, ORDER_CLOSED);
    const struct payment payment = payment_of(shop, id);
    assert_true(payment_is_unanswered(&payment));
    return id;
}

static void a_payment_closed_alone_is_asked_about_more_and_more_seldom(void **state)
{
    struct shop *shop = *state;
    closed_alone(shop, order_make(shop));
    asks_nothing(shop, QUERY_MS - 1);
    asks(shop, 1, PROVIDER_QUERY);
    says(shop, WORD_AGAIN);
    asks(shop, QUERY_MS, PROVIDER_CLOSE); /* it may be open there still */
    says(shop, WORD_REFUSED);
    asks(shop, CASHIER_CLOSE_AGAIN_MS, PROVIDER_QUERY);
    says(shop, WORD_AGAIN);
    asks_nothing(shop, 2 * QUERY_MS - 1);
    asks(shop, 1, PROVIDER_CLOSE);
    for (uint32_t i = 0; i < 16; i++) {
        says(shop, WORD_AGAIN);
        asks(shop, CASHIER_UNANSWERED_MAX_MS,
            shop->act == PROVIDER_CLOSE ? PROVIDER_QUERY : PROVIDER_CLOSE);
    }
}

static void money_that_is_found_later_goes_back_once(void **state)
{
    struct shop *shop = *state;
    closed_alone(shop, order_make(shop));
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    says(shop, WORD_CAPTURED); /* and no unit is there for it */
    asks(shop, 0, PROVIDER_REFUND);
    says(shop, WORD_REFUNDED);
    asks_nothing(shop, CASHIER_UNANSWERED_MAX_MS);
    money_is_at_rest(shop);
}

static void an_answer_that_no_money_came_ends_the_questions(void **state)
{
    static const enum provider_word words[] = { WORD_CLOSED, WORD_UNKNOWN };
    struct shop *shop = *state;
    const uint64_t id = closed_alone(shop, order_make(shop));
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    says(shop, words[0]);
    assert_int_equal(payment_of(shop, id).next_ms, 0);
    assert_int_equal(called_back(shop, "r-1", WORD_CAPTURED, PRICE - 1), LEARN_AMOUNT);
    asks(shop, 0, PROVIDER_QUERY); /* a callback with another amount begins them anew, until answered */
    says(shop, WORD_AGAIN);
    asks(shop, QUERY_MS, PROVIDER_CLOSE);
    says(shop, words[1]);
    assert_int_equal(payment_of(shop, id).next_ms, 0);
    asks_nothing(shop, CASHIER_UNANSWERED_MAX_MS);
}

static void an_unanswered_payment_is_asked_about_by_itself_for_so_many_days_only(void **state)
{
    struct shop *shop = *state;
    const uint64_t id = closed_alone(shop, order_make(shop));
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    shop->now_ms = payment_of(shop, id).created_ms + ASK_MS;
    says(shop, WORD_AGAIN);
    const struct payment payment = payment_of(shop, id);
    assert_true(payment.next_ms == PAYMENT_ASK_NEVER_MS);
    assert_true(payment_is_unanswered(&payment));
    asks_nothing(shop, ASK_MS);
    assert_int_equal(whole->again(shop->store, id, shop->now_ms), STATUS_OK); /* somebody asks for it */
    cashier_look(&shop->cashier);
    asks(shop, 0, PROVIDER_QUERY);
    says(shop, WORD_CLOSED);
    assert_int_equal(payment_of(shop, id).next_ms, 0);
}

static void cancelling_during_a_question_is_not_put_off_by_its_answer(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    payment_open(shop, ticket, "r-1");
    asks(shop, QUERY_MS, PROVIDER_QUERY);
    shop->now_ms++;
    order_cancel(shop, ticket);
    asks_nothing(shop, 0);
    says(shop, WORD_OPEN);
    asks(shop, 0, PROVIDER_CLOSE);
    says(shop, WORD_CLOSED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_CLOSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SHOP_RULE(a_started_payment_is_created_opened_and_asked_about_until_paid),
        SHOP_RULE(questions_are_never_further_apart_than_the_most),
        SHOP_RULE(a_create_without_an_answer_is_repeated_with_growing_pauses),
        SHOP_RULE(a_refused_create_is_told_and_the_order_may_try_again),
        SHOP_RULE(a_create_that_finds_the_payment_paid_or_closed_is_news),
        SHOP_RULE(an_answer_that_cannot_be_trusted_changes_nothing),
        SHOP_RULE(at_most_one_question_about_a_payment_is_under_way),
        SHOP_RULE(no_more_questions_are_under_way_than_are_allowed),
        SHOP_RULE(a_provider_that_cannot_be_asked_now_is_asked_soon),
        SHOP_RULE(a_callback_brings_the_news_and_its_double_changes_nothing),
        SHOP_RULE(a_callback_with_another_amount_only_brings_the_question_forward),
        SHOP_RULE(an_answer_that_comes_after_the_callback_changes_nothing),
        SHOP_RULE(a_callback_can_be_sooner_than_the_answer_to_create),
        SHOP_RULE(a_wrong_amount_during_a_question_is_asked_again_at_once),
        SHOP_RULE(a_payment_is_closed_at_the_provider_before_its_order_expires),
        SHOP_RULE(closing_asks_in_turn_and_money_that_was_quicker_pays),
        SHOP_RULE(a_payment_that_the_provider_never_had_is_closed),
        SHOP_RULE(an_open_payment_that_the_provider_does_not_know_yet_is_asked_again),
        SHOP_RULE(closing_is_given_up_after_its_time_and_not_before),
        SHOP_RULE(a_payment_closed_alone_is_asked_about_more_and_more_seldom),
        SHOP_RULE(money_that_is_found_later_goes_back_once),
        SHOP_RULE(an_answer_that_no_money_came_ends_the_questions),
        SHOP_RULE(an_unanswered_payment_is_asked_about_by_itself_for_so_many_days_only),
        SHOP_RULE(cancelling_during_a_question_is_not_put_off_by_its_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
