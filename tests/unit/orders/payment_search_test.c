/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/payment_search.h"

#include "tests/unit/orders/cashier_kit.h"

static const char first[] = "00000000000000aa-1", second[] = "00000000000000aa-2",
                  third[] = "00000000000000aa-3";

static void search(struct shop *shop, ticket_number ticket)
{
    struct payment_search one = { .ticket = ticket, .provider = "bank" };
    memcpy(one.reference, first, sizeof first);
    assert_int_equal(whole->search(shop->store, &one, 1, shop->now_ms), STATUS_OK);
    cashier_look(&shop->cashier);
}

/* The next question is about this one, at this provider. */
static void asks_about(struct shop *shop, const char *reference, const char *provider)
{
    struct payment payment;
    asks(shop, 0, PROVIDER_CLOSE);
    assert_string_equal(shop->reference, reference);
    assert_int_equal(whole->by_reference(shop->store, reference, &payment), STATUS_OK);
    assert_string_equal(payment.provider, provider);
}

static void every_provider_is_asked_about_two_attempts_and_then_the_order_goes_on(void **state)
{
    struct shop *shop = *state;
    struct payment payment;
    const ticket_number ticket = order_make(shop);
    search(shop, ticket);
    asks_about(shop, first, "bank");
    says(shop, WORD_UNKNOWN);
    asks_about(shop, first, "purse");
    says(shop, WORD_UNKNOWN);
    assert_int_equal(whole->by_reference(shop->store, first, &payment), STATUS_NOT_FOUND);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
    asks_about(shop, second, "bank");
    says(shop, WORD_UNKNOWN);
    asks_about(shop, second, "purse");
    const uint32_t changed = shop->changed;
    says(shop, WORD_UNKNOWN);
    assert_int_equal(shop->changed, changed + 1); /* it may expire now */
    asks_nothing(shop, WINDOW_MS);
    assert_int_equal(whole->by_reference(shop->store, second, &payment), STATUS_NOT_FOUND);
    money_is_at_rest(shop);
}

static void money_that_one_of_them_has_pays_the_order(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    search(shop, ticket);
    asks_about(shop, first, "bank");
    says(shop, WORD_UNKNOWN);
    asks_about(shop, first, "purse");
    says(shop, WORD_CAPTURED);
    assert_int_equal(shop->act, PROVIDER_REFUND_QUERY); /* it may have gone back */
    assert_string_equal(shop->key, "r00000000000000aa-1");
    says(shop, WORD_UNKNOWN);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    asks_about(shop, second, "bank"); /* it may have been paid twice */
    says(shop, WORD_UNKNOWN);
    asks_about(shop, second, "purse");
    says(shop, WORD_UNKNOWN);
    asks_nothing(shop, 0);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
    money_is_at_rest(shop);
}

static void an_attempt_that_was_closed_leads_to_the_next(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    search(shop, ticket);
    asks_about(shop, first, "bank");
    says(shop, WORD_CLOSED);
    asks_about(shop, second, "bank");
    says(shop, WORD_CLOSED);
    asks_about(shop, third, "bank");
    says(shop, WORD_CAPTURED);
    says(shop, WORD_REFUSED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PAID);
}

static void money_that_went_back_before_pays_nothing(void **state)
{
    struct shop *shop = *state;
    const ticket_number ticket = order_make(shop);
    search(shop, ticket);
    asks_about(shop, first, "bank");
    says(shop, WORD_CAPTURED);
    says(shop, WORD_REFUNDED);
    assert_int_equal(order_of(shop, ticket).state, ORDER_PENDING);
    assert_int_equal(refund_of(shop).why, REFUND_OF_DOUBLE);
    assert_int_equal(totals_of(shop).wanted, PRICE); /* asked for again it is the same refund */
}

#define TEST(name) SHOP_RULE(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_provider_is_asked_about_two_attempts_and_then_the_order_goes_on),
        TEST(money_that_one_of_them_has_pays_the_order),
        TEST(money_that_went_back_before_pays_nothing),
        TEST(an_attempt_that_was_closed_leads_to_the_next),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
