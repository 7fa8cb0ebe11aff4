/* SPDX-License-Identifier: Apache-2.0 */
/* After a restore: what the log tells and no payment explains, payments that are searched for, and
 * numbers that are never given again. */
#include "contract/restore.h"
#include "tests/seam/store_suite_money.h"

/* Paid by the log only. */
static ticket_number paid_by_the_log(struct fixture *f, user_id user)
{
    const ticket_number ticket = money_pending(f, user);
    suite_add_settle(f, ticket, SETTLE_SOLD);
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_PAID);
    return ticket;
}

static void search_for(struct fixture *f, ticket_number ticket, const char *provider, const char *reference)
{
    struct payment_search search = { .ticket = ticket };
    snprintf(search.provider, sizeof search.provider, "%s", provider);
    snprintf(search.reference, sizeof search.reference, "%s", reference);
    assert_int_equal(money(f)->search(f->store, &search, 1, NEWS_MS), STATUS_OK);
}

static void an_order_paid_by_the_log_is_not_refunded_before_its_payment_is_known(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct payment payment;
    const ticket_number ticket = paid_by_the_log(f, 7);
    assert_int_equal(money_move(f, ticket, ORDER_EVENT_REFUND, &after), MOVE_NO_PAYMENT);
    assert_int_equal(after.state, ORDER_PAID);
    search_for(f, ticket, "alpha", "a1");
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    assert_int_equal(payment.use, USE_ORDER);
    assert_int_equal(payment.paid_ticket, ticket);
    assert_int_equal(suite_open_events(f, (struct stock_event[1]){ 0 }, 1), 0); /* it was sold */
    money_totals_are(f, (struct money_totals){ .captured = FLASH_PRICE, .paid = FLASH_PRICE });
    assert_int_equal(money_move(f, ticket, ORDER_EVENT_REFUND, &after), MOVE_DONE);
    assert_int_equal(money_only_refund(f).payment, payment.id);
}

static void the_shop_tells_again_what_it_was_paid(void **state)
{
    struct fixture *f = *state;
    struct order after;
    const ticket_number ticket = paid_by_the_log(f, 7);
    assert_int_equal(money_shop_pays(f, ticket, "bill 1", &after), MOVE_DONE);
    assert_int_equal(money_shop_pays(f, ticket, "bill 1", &after), MOVE_REPEATED);
    assert_int_equal(money_shop_pays(f, ticket, "bill 2", &after), MOVE_REFUSED);
    money_totals_are(f, (struct money_totals){ .captured = FLASH_PRICE, .paid = FLASH_PRICE });
}

static void money_of_an_order_that_the_log_refunded_goes_back_once(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct payment payment;
    const ticket_number ticket = paid_by_the_log(f, 7);
    suite_add_settle(f, ticket, SETTLE_RETURN);
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_REFUNDED);
    search_for(f, ticket, "alpha", "a1");
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_REFUND);
    assert_int_equal(money_only_refund(f).why, REFUND_OF_ORDER);
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_REPEATED);
    money_totals_are(f, (struct money_totals){ .captured = FLASH_PRICE, .wanted = FLASH_PRICE });
}

static void a_second_payment_of_an_order_paid_by_the_log_is_one_too_many(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct payment payment;
    const ticket_number ticket = paid_by_the_log(f, 7);
    search_for(f, ticket, "alpha", "a1");
    search_for(f, ticket, "beta", "b1");
    assert_int_equal(money_captured(f, "beta", "b1", &payment, &after), LEARN_PAID);
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_REFUND);
    assert_int_equal(money_only_refund(f).why, REFUND_OF_DOUBLE);
}

static void an_order_is_not_closed_while_its_payments_are_searched_for(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct payment payment, due[2];
    uint32_t count = 0;
    uint64_t next_ms;
    const ticket_number ticket = money_pending(f, 7);
    search_for(f, ticket, "alpha", "a1");
    search_for(f, ticket, "beta", "a1"); /* the reference is there */
    assert_int_equal(money(f)->due(f->store, NEWS_MS, due, 2, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(due[0].state, PAYMENT_CLOSING);
    assert_true(due[0].searched);
    assert_int_equal(due[0].amount, FLASH_PRICE);
    assert_string_equal(due[0].currency, "CNY");
    assert_int_equal(money_move(f, ticket, ORDER_EVENT_EXPIRE, &after), MOVE_PAYMENT_OPEN);
    assert_int_equal(money(f)->search_next(f->store, due[0].id, "beta", NEWS_MS + 1), STATUS_OK);
    assert_string_equal(money_of(f, "a1").provider, "beta");
    uint32_t live = 0;
    assert_int_equal(money(f)->closing(f->store, ticket, REASON_CANCELLED, NEWS_MS, &live), STATUS_OK);
    assert_int_equal(live, 1);
    assert_int_equal(money(f)->search_end(f->store, due[0].id, NEWS_MS + 2, &after), STATUS_OK);
    assert_int_equal(after.state, ORDER_CLOSED); /* it waited for that */
    assert_int_equal(money(f)->by_reference(f->store, "a1", &payment), STATUS_NOT_FOUND);
    suite_check_accounting(f, f->one, 0);
}

static void a_payment_that_was_found_stays_when_the_search_ends(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct payment payment;
    const ticket_number ticket = money_pending(f, 7);
    search_for(f, ticket, "alpha", "a1");
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    assert_int_equal(money(f)->search_end(f->store, payment.id, NEWS_MS, &after), STATUS_OK);
    assert_int_equal(money(f)->search_next(f->store, payment.id, "beta", NEWS_MS), STATUS_OK);
    assert_string_equal(money_of(f, "a1").provider, "alpha");
    assert_int_equal(after.state, ORDER_PAID);
}

static void a_search_goes_on_when_its_first_provider_was_away_for_long(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct payment payment;
    search_for(f, money_pending(f, 7), "alpha", "a1");
    struct payment_news news = money_news("alpha", "a1", NEWS_CLOSED);
    news.ask_ms = NEWS_MS + 50; /* closed without its word */
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_CLOSED);
    assert_int_equal(money(f)->search_next(f->store, payment.id, "beta", NEWS_MS + 60), STATUS_OK);
    payment = money_of(f, "a1");
    assert_string_equal(payment.provider, "beta");
    assert_int_equal(payment.next_ms, NEWS_MS + 60);
    assert_true(payment_is_unanswered(&payment));
}

static void late_money_is_linked_to_the_order_that_it_had_paid_before(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct payment payment;
    bool done = false;
    const ticket_number first = money_pending(f, 7);
    assert_int_equal(money_move(f, first, ORDER_EVENT_CANCEL, &after), MOVE_DONE);
    const ticket_number second = paid_by_the_log(f, 7); /* by this money, in the database that is lost */
    search_for(f, first, "alpha", "a1");
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_LATE);
    assert_int_equal(money(f)->relink(f->store, payment.id, second, NEWS_MS, &after, &done), STATUS_OK);
    assert_true(done);
    assert_int_equal(money_of(f, "a1").paid_ticket, second);
    money_totals_are(f, (struct money_totals){ .captured = FLASH_PRICE, .paid = FLASH_PRICE });
}

/* ---- only where an older copy can be put back ---- */

static uint64_t last_of(struct fixture *f, const char *name)
{
    struct store_sequence list[SEQUENCES_MAX];
    uint32_t count = 0;
    const struct restore_store_ops *restore = ops(f)->restore;
    invariant(restore != NULL);
    assert_int_equal(restore->sequences(f->store, list, SEQUENCES_MAX, &count), STATUS_OK);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].last;
    return 0;
}

static void raise_to(struct fixture *f, const char *name, uint64_t last)
{
    struct store_sequence sequence = { .last = last };
    snprintf(sequence.name, sizeof sequence.name, "%s", name);
    assert_int_equal(ops(f)->restore->raise(f->store, &sequence), STATUS_OK);
}

static void numbers_that_were_given_are_never_given_again(void **state)
{
    struct fixture *f = *state;
    if (ops(f)->restore == NULL)
        skip();
    struct payment payment;
    struct order after;
    assert_int_equal(last_of(f, "items"), f->free);
    raise_to(f, "items", 40);
    raise_to(f, "sales", 30);
    raise_to(f, "products", 20);
    raise_to(f, "payments", 1000);
    assert_int_equal(last_of(f, "items"), f->free); /* of the rows that are there */
    assert_int_equal(last_of(f, "payments"), 1000);
    assert_int_equal(suite_add_item(f, 1, 1), 41);
    assert_int_equal(suite_add_item(f, 1, 1), 42);
    struct product product = { .name = "A", .images = "[]", .currency = "CNY" };
    assert_int_equal(ops(f)->product_insert(f->store, &product), STATUS_OK);
    assert_int_equal(product.id, 21);
    struct sale sale = { .title = "B", .start_ms = 1, .end_ms = 2 };
    assert_int_equal(ops(f)->sale_insert(f->store, &sale), STATUS_OK);
    assert_int_equal(sale.id, 31);
    const ticket_number ticket = money_pending(f, 7);
    assert_int_equal(money_start(f, ticket, "alpha", "a1", &payment, &after), START_DONE);
    assert_int_equal(payment.id, 1001);
    raise_to(f, "payments", 5); /* never back */
    raise_to(f, "audit", 99);   /* its numbers have no gaps */
    assert_int_equal(last_of(f, "payments"), 1001);
    assert_int_equal(last_of(f, "audit"), 0);
    assert_int_equal(ops(f)->restore->raise(f->store, &(struct store_sequence){ .name = "no such" }),
        STATUS_NOT_FOUND);
}

static void what_the_log_names_and_the_database_lost_is_made_again(void **state)
{
    struct fixture *f = *state;
    struct sale sale;
    struct product product;
    if (ops(f)->restore == NULL)
        skip();
    suite_add(f, COMMAND_SALE)->command.sale =
        (struct command_sale){ .sale = 9, .start_ms = START_MS, .end_ms = END_MS, .limit_per_user = 2 };
    assert_int_equal(suite_send_again(f), STATUS_REFUSED);
    ops(f)->restore->recover(f->store, true);
    suite_add(f, COMMAND_PREHEAT)->command.preheat = (struct command_preheat){ .item = 12,
        .sale = 9,
        .unit_price = FLASH_PRICE,
        .limit_per_user = 1,
        .pay_window_ms = WINDOW_MS,
        .total = UNITS,
        .channel_units = { UNITS },
        .currency = "EUR" };
    const ticket_number ticket = suite_add_win(f, 12, 7, 1);
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, ticket).amount, FLASH_PRICE);
    assert_int_equal(ops(f)->sale_get(f->store, 9, &sale), STATUS_OK);
    assert_string_equal(sale.title, "Recovered sale 9");
    assert_false(sale.published);
    assert_int_equal(sale.limit_per_user, 2);
    const struct item item = suite_item_of(f, 12);
    assert_int_equal(item.total, UNITS);
    assert_int_equal(item.flash_price, FLASH_PRICE);
    assert_true(item.preheated);
    assert_int_equal(ops(f)->product_get(f->store, item.product, &product), STATUS_OK);
    assert_string_equal(product.name, "Recovered item 12");
    assert_string_equal(product.currency, "EUR");
    suite_check_accounting(f, 12, 0);
    ops(f)->restore->recover(f->store, false);
    suite_add_win(f, 77, 7, 1);
    assert_int_equal(suite_send(f), STATUS_REFUSED); /* an item without a preheat is nobody's */
}

static void orders_whose_payments_may_be_lost_are_listed(void **state)
{
    struct fixture *f = *state;
    struct order list[8], after;
    uint32_t count;
    ticket_number newest = 0;
    if (ops(f)->restore == NULL)
        skip();
    const ticket_number pending = money_pending(f, 1);
    const ticket_number closed = money_pending(f, 2);
    assert_int_equal(money_move(f, closed, ORDER_EVENT_CANCEL, &after), MOVE_DONE);
    const ticket_number paid = money_pending(f, 3);
    assert_int_equal(money_shop_pays(f, paid, "bill", &after), MOVE_DONE);
    assert_int_equal(ops(f)->restore->newest(f->store, &newest), STATUS_OK);
    assert_int_equal(newest, paid);
    const ticket_number lost = paid_by_the_log(f, 4);
    const ticket_number gone = money_pending(f, 5);
    assert_int_equal(money_move(f, gone, ORDER_EVENT_CANCEL, &after), MOVE_DONE);
    assert_int_equal(ops(f)->restore->orders(f->store, 0, newest, list, 8, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(list[0].ticket, pending);
    assert_int_equal(list[1].ticket, lost);
    assert_int_equal(list[1].state, ORDER_PAID);
    assert_int_equal(list[2].ticket, gone);
    assert_int_equal(ops(f)->restore->orders(f->store, pending, INT64_MAX, list, 8, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].ticket, lost);
}

int suite_run_restore(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(an_order_paid_by_the_log_is_not_refunded_before_its_payment_is_known),
        SUITE_RULE(the_shop_tells_again_what_it_was_paid),
        SUITE_RULE(money_of_an_order_that_the_log_refunded_goes_back_once),
        SUITE_RULE(a_second_payment_of_an_order_paid_by_the_log_is_one_too_many),
        SUITE_RULE(an_order_is_not_closed_while_its_payments_are_searched_for),
        SUITE_RULE(a_payment_that_was_found_stays_when_the_search_ends),
        SUITE_RULE(a_search_goes_on_when_its_first_provider_was_away_for_long),
        SUITE_RULE(late_money_is_linked_to_the_order_that_it_had_paid_before),
        SUITE_RULE(numbers_that_were_given_are_never_given_again),
        SUITE_RULE(what_the_log_names_and_the_database_lost_is_made_again),
        SUITE_RULE(orders_whose_payments_may_be_lost_are_listed),
    };
    return cmocka_run_group_tests_name("order store: after a restore", rules, NULL, NULL);
}
