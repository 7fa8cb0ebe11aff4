/* SPDX-License-Identifier: Apache-2.0 */
/* Payments: how they start, what news do to them and to their order, and who comes second. The
 * refunds and details are in store_suite_refunds.c. */
#include "tests/seam/store_suite_money.h"

static void a_payment_is_stored_before_the_provider_hears_of_it(void **state)
{
    struct fixture *f = *state;
    struct payment payment, same;
    struct order after;
    const ticket_number ticket = money_pending(f, 7);
    const struct order before = suite_order_of(f, ticket);
    assert_int_equal(money_start(f, ticket, "alpha", "a1", &payment, &after), START_DONE);
    assert_int_equal(payment.ticket, ticket);
    assert_int_equal(payment.paid_ticket, 0);
    assert_string_equal(payment.provider, "alpha");
    assert_string_equal(payment.reference, "a1");
    assert_int_equal(payment.amount, FLASH_PRICE);
    assert_string_equal(payment.currency, "CNY");
    assert_int_equal(payment.state, PAYMENT_STARTED);
    assert_int_equal(payment.use, USE_NONE);
    assert_int_equal(payment.next_ms, PAY_MS);
    assert_int_equal(payment.created_ms, PAY_MS);
    assert_int_equal(payment.pay_by_ms, before.pay_by_ms);
    assert_int_equal(after.version, before.version); /* nothing that the user sees has changed */
    suite_restart(f);
    assert_int_equal(money(f)->get(f->store, payment.id, &same), STATUS_OK);
    assert_memory_equal(&same, &payment, sizeof same);
    assert_int_equal(money(f)->by_reference(f->store, "a1", &same), STATUS_OK);
    assert_int_equal(same.id, payment.id);
    assert_int_equal(money(f)->get(f->store, payment.id + 1, &same), STATUS_NOT_FOUND);
    assert_int_equal(money(f)->by_reference(f->store, "a2", &same), STATUS_NOT_FOUND);
}

static void a_second_start_through_the_same_provider_is_the_same_payment(void **state)
{
    struct fixture *f = *state;
    struct payment first, second;
    struct order after;
    const ticket_number ticket = money_pending(f, 7);
    assert_int_equal(money_start(f, ticket, "alpha", "a1", &first, &after), START_DONE);
    assert_int_equal(money_start(f, ticket, "alpha", "a2", &second, &after), START_REPEATED);
    assert_int_equal(second.id, first.id);
    assert_string_equal(second.reference, "a1");
    assert_int_equal(
        money(f)->opened(f->store, first.id, "id1", "https://pay.example/1", PAY_MS + 5), STATUS_OK);
    assert_int_equal(money_start(f, ticket, "alpha", "a2", &second, &after), START_REPEATED);
    assert_int_equal(second.state, PAYMENT_OPEN);
    assert_string_equal(second.provider_id, "id1");
    assert_string_equal(second.url, "https://pay.example/1");
    assert_int_equal(second.next_ms, PAY_MS + 5);
    assert_int_equal(money_start(f, ticket, "beta", "b1", &second, &after), START_DONE);
    assert_int_not_equal(second.id, first.id);
    assert_int_equal(money_closed(f, "alpha", "a1", &after), LEARN_CLOSED);
    assert_int_equal(money_start(f, ticket, "alpha", "a2", &second, &after), START_DONE);
    struct payment list[4];
    uint32_t count;
    assert_int_equal(money(f)->of_order(f->store, ticket, list, 4, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_string_equal(list[0].reference, "a2"); /* newest first */
    assert_string_equal(list[2].reference, "a1");
    assert_int_equal(money(f)->of_order(f->store, ticket, list, 2, &count), STATUS_OK);
    assert_int_equal(count, 2);
}

static void only_an_order_that_waits_for_money_takes_a_payment(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    const ticket_number ticket = money_pending(f, 7), closed = money_pending(f, 8);
    const uint64_t pay_by_ms = suite_order_of(f, ticket).pay_by_ms;
    assert_int_equal(money_start(f, ticket + 99, "alpha", "a0", &payment, &after), START_UNKNOWN);
    assert_int_equal(
        money_start_at(f, ticket, "alpha", "a1", pay_by_ms, 0, &payment, &after), START_TOO_LATE);
    assert_int_equal(money_start_at(f, ticket, "alpha", "a1", pay_by_ms, 1000, &payment, &after),
        START_TOO_LATE);
    assert_int_equal(
        money_start_at(f, ticket, "alpha", "a1", pay_by_ms - 1, 0, &payment, &after), START_DONE);
    assert_int_equal(money_move(f, closed, ORDER_EVENT_CANCEL, &after), MOVE_DONE);
    assert_int_equal(money_start(f, closed, "alpha", "a2", &payment, &after), START_REFUSED);
    assert_int_equal(after.state, ORDER_CLOSED);
    uint32_t live;
    assert_int_equal(money(f)->closing(f->store, ticket, REASON_CANCELLED, PAY_MS, &live), STATUS_OK);
    assert_int_equal(live, 1);
    assert_int_equal(money_start(f, ticket, "beta", "b1", &payment, &after), START_TOO_LATE);
    assert_int_equal(after.ending, REASON_CANCELLED);
}

static void a_reference_names_one_payment(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    uint8_t answer;
    const ticket_number first = money_pending(f, 7), second = money_pending(f, 8);
    const struct payment_start again = {
        .ticket = second, .now_ms = PAY_MS, .extend_ms = END_MS, .provider = "alpha", .reference = "a1"
    };
    money_started(f, first, "alpha", "a1");
    assert_int_equal(money(f)->start(f->store, &again, &payment, &after, &answer), STATUS_REFUSED);
    assert_int_equal(suite_order_of(f, second).version, 1); /* and nothing was done */
}

static void the_payment_that_paid_an_order_is_found(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    const ticket_number ticket = money_pending(f, 7), other = money_pending(f, 8);
    money_started(f, ticket, "alpha", "a1");
    money_started(f, ticket, "beta", "b1");
    assert_int_equal(money(f)->of_paid(f->store, ticket, &payment), STATUS_NOT_FOUND);
    assert_int_equal(money_captured(f, "beta", "b1", &payment, &after), LEARN_PAID);
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_REFUND);
    suite_restart(f);
    assert_int_equal(money(f)->of_paid(f->store, ticket, &payment), STATUS_OK);
    assert_string_equal(payment.reference, "b1");
    assert_int_equal(payment.paid_ticket, ticket);
    assert_int_equal(payment.captured_ms, NEWS_MS);
    assert_int_equal(money(f)->of_paid(f->store, other, &payment), STATUS_NOT_FOUND);
    assert_int_equal(money(f)->of_paid(f->store, 999, &payment), STATUS_NOT_FOUND);
}

static void attempts_are_bounded(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    const ticket_number ticket = money_pending(f, 7);
    for (int i = 0; i < PAYMENTS_PER_ORDER; i++) {
        char reference[16];
        snprintf(reference, sizeof reference, "a%d", i);
        assert_int_equal(money_start(f, ticket, "alpha", reference, &payment, &after), START_DONE);
        assert_int_equal(money_closed(f, "alpha", reference, &after), LEARN_CLOSED);
    }
    assert_int_equal(money_start(f, ticket, "alpha", "a8", &payment, &after), START_TOO_MANY);
}

static void a_start_extends_the_time_to_pay_once(void **state)
{
    struct fixture *f = *state;
    struct payment first, second;
    struct order after;
    const ticket_number ticket = money_pending(f, 7);
    const struct order before = suite_order_of(f, ticket);
    const uint64_t left_ms = before.pay_by_ms - PAY_MS;
    assert_int_equal(
        money_start_at(f, ticket, "alpha", "a1", PAY_MS, left_ms, &first, &after), START_DONE);
    assert_int_equal(after.pay_by_ms, before.pay_by_ms); /* there was that much already */
    assert_int_equal(after.version, before.version);
    assert_int_equal(
        money_start_at(f, ticket, "beta", "b1", PAY_MS, left_ms + 1, &second, &after), START_DONE);
    assert_int_equal(after.pay_by_ms, before.pay_by_ms + 1);
    assert_int_equal(after.version, before.version + 1);
    assert_int_equal(suite_order_of(f, ticket).pay_by_ms, before.pay_by_ms + 1);
    assert_int_equal(suite_order_of(f, ticket).version, after.version);
    assert_int_equal(second.pay_by_ms, before.pay_by_ms + 1);
    assert_int_equal(money(f)->get(f->store, first.id, &first), STATUS_OK);
    assert_int_equal(first.pay_by_ms, before.pay_by_ms + 1); /* the other one follows */
    assert_int_equal(
        money_start_at(f, ticket, "gamma", "c1", PAY_MS, left_ms + 500, &second, &after), START_DONE);
    assert_int_equal(after.pay_by_ms, before.pay_by_ms + 1);
    assert_int_equal(after.version, before.version + 1);
}

static void money_that_comes_pays_the_order_and_sells_its_unit(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    struct stock_event event;
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "alpha", "a1");
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    assert_int_equal(after.state, ORDER_PAID);
    assert_int_equal(after.version, 2);
    assert_int_equal(payment.state, PAYMENT_CAPTURED);
    assert_int_equal(payment.use, USE_ORDER);
    assert_int_equal(payment.paid_ticket, ticket);
    assert_int_equal(payment.captured, FLASH_PRICE);
    assert_int_equal(payment.captured_ms, NEWS_MS);
    assert_int_equal(suite_open_events(f, &event, 1), 1);
    assert_int_equal(event.settle.step, SETTLE_SOLD);
    assert_int_equal(event.settle.ticket, ticket);
    suite_restart(f);
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_REPEATED);
    assert_int_equal(money_closed(f, "alpha", "a1", &after), LEARN_REPEATED); /* too late to undo it */
    assert_int_equal(after.state, ORDER_PAID);
    assert_int_equal(after.version, 2);
    assert_int_equal(money_of(f, "a1").use, USE_ORDER);
    money_totals_are(f, (struct money_totals){ .captured = FLASH_PRICE, .paid = FLASH_PRICE });
}

static void news_of_others_are_unknown(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "alpha", "a1");
    assert_int_equal(money_captured(f, "beta", "a1", &payment, &after), LEARN_UNKNOWN);
    assert_int_equal(money_captured(f, "alpha", "a2", &payment, &after), LEARN_UNKNOWN);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_PENDING);
}

static void a_callback_with_another_amount_changes_nothing_but_when_to_ask(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "alpha", "a1");
    struct payment_news news = money_news("alpha", "a1", NEWS_CAPTURED);
    assert_int_equal(money(f)->again(f->store, money_of(f, "a1").id, NEWS_MS + 500), STATUS_OK);
    news.amount = FLASH_PRICE + 1;
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_AMOUNT);
    news.amount = FLASH_PRICE - 1;
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_AMOUNT);
    news = money_news("alpha", "a1", NEWS_CAPTURED);
    snprintf(news.currency, sizeof news.currency, "USD");
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_AMOUNT);
    assert_int_equal(after.state, ORDER_PENDING);
    payment = money_of(f, "a1");
    assert_int_equal(payment.state, PAYMENT_STARTED);
    assert_int_equal(payment.captured, 0);
    assert_int_equal(payment.next_ms, NEWS_MS);
    money_totals_are(f, (struct money_totals){ 0 });
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
}

static void another_amount_that_we_asked_for_goes_back(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct refund refund;
    struct order after;
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "alpha", "a1");
    struct payment_news news = money_news("alpha", "a1", NEWS_CAPTURED);
    news.amount = FLASH_PRICE - 1;
    news.asked = true;
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_REFUND);
    assert_int_equal(after.state, ORDER_PENDING);
    assert_int_equal(payment.use, USE_REFUND);
    refund = money_only_refund(f);
    assert_int_equal(refund.amount, FLASH_PRICE - 1);
    assert_int_equal(refund.why, REFUND_OF_AMOUNT);
    assert_int_equal(refund.state, REFUND_WANTED);
    assert_int_equal(refund.payment, payment.id);
    assert_int_equal(refund.ticket, ticket);
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_REPEATED);
    assert_int_equal(money_only_refund(f).id, refund.id);
    money_started(f, ticket, "alpha", "a2"); /* the order can still be paid */
    assert_int_equal(money_captured(f, "alpha", "a2", &payment, &after), LEARN_PAID);
    money_totals_are(f,
        (struct money_totals){
            .captured = 2 * FLASH_PRICE - 1, .wanted = FLASH_PRICE - 1, .paid = FLASH_PRICE });
}

static void an_order_that_is_paid_twice_gives_one_back(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "alpha", "a1");
    money_started(f, ticket, "beta", "b1");
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    payment = money_of(f, "b1"); /* must not be paid too */
    assert_int_equal(payment.state, PAYMENT_CLOSING);
    assert_int_equal(payment.next_ms, NEWS_MS);
    assert_int_equal(payment.closing_ms, NEWS_MS);
    assert_int_equal(money_captured(f, "beta", "b1", &payment, &after), LEARN_REFUND);
    assert_int_equal(after.state, ORDER_PAID);
    assert_int_equal(after.version, 2);
    assert_int_equal(payment.use, USE_REFUND);
    assert_int_equal(payment.paid_ticket, 0);
    const struct refund refund = money_only_refund(f);
    assert_int_equal(refund.why, REFUND_OF_DOUBLE);
    assert_int_equal(refund.amount, FLASH_PRICE);
    assert_string_equal(refund.provider, "beta");
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
}

static void the_shops_money_closes_the_other_payments(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "alpha", "a1");
    assert_int_equal(money_shop_pays(f, ticket, "a1", &after), MOVE_REFERENCE_USED);
    assert_int_equal(money_shop_pays(f, ticket, "s1", &after), MOVE_DONE);
    assert_int_equal(money_of(f, "a1").state, PAYMENT_CLOSING);
    payment = money_of(f, "s1");
    assert_string_equal(payment.provider, PROVIDER_SHOP);
    assert_int_equal(payment.state, PAYMENT_CAPTURED);
    assert_int_equal(payment.use, USE_ORDER);
    assert_int_equal(payment.paid_ticket, ticket);
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_REFUND);
    assert_int_equal(money_closed(f, "alpha", "a1", &after), LEARN_REPEATED);
}

static void an_order_with_a_live_payment_is_not_closed(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    ticket_number due[4];
    uint32_t count;
    uint64_t next_ms;
    const ticket_number ticket = money_pending(f, 7), other = money_pending(f, 8);
    const uint64_t late_ms = START_MS + 10 * WINDOW_MS;
    money_started(f, ticket, "alpha", "a1");
    for (int i = 0; i < 3; i++) { /* started, open, closing */
        assert_int_equal(money_move(f, ticket, ORDER_EVENT_EXPIRE, &after), MOVE_PAYMENT_OPEN);
        assert_int_equal(money_move(f, ticket, ORDER_EVENT_CANCEL, &after), MOVE_PAYMENT_OPEN);
        assert_int_equal(after.state, ORDER_PENDING);
        assert_int_equal(ops(f)->orders_due(f->store, late_ms, 0, due, 4, &count, &next_ms), STATUS_OK);
        assert_int_equal(count, 1);
        assert_int_equal(due[0], other);
        payment = money_of(f, "a1");
        if (i == 0)
            assert_int_equal(money(f)->opened(f->store, payment.id, "x", "y", NEWS_MS), STATUS_OK);
        if (i == 1)
            assert_int_equal(money(f)->closing(f->store, ticket, REASON_NONE, NEWS_MS, &count), STATUS_OK);
    }
    assert_int_equal(money_closed(f, "alpha", "a1", &after), LEARN_CLOSED);
    assert_int_equal(after.state, ORDER_PENDING); /* nobody wanted it closed */
    assert_int_equal(ops(f)->orders_due(f->store, late_ms, 0, due, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(money_move(f, ticket, ORDER_EVENT_EXPIRE, &after), MOVE_DONE);
}

static void a_cancelled_order_is_closed_with_its_last_payment(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct stock_event event;
    uint32_t live;
    const ticket_number ticket = money_pending(f, 7);
    assert_int_equal(money(f)->closing(f->store, ticket, REASON_CANCELLED, NEWS_MS, &live), STATUS_OK);
    assert_int_equal(live, 0);
    assert_int_equal(suite_order_of(f, ticket).ending, REASON_NONE); /* the caller moves it */
    money_started(f, ticket, "alpha", "a1");
    money_started(f, ticket, "beta", "b1");
    assert_int_equal(money(f)->closing(f->store, ticket, REASON_CANCELLED, NEWS_MS, &live), STATUS_OK);
    assert_int_equal(live, 2);
    assert_int_equal(suite_order_of(f, ticket).ending, REASON_CANCELLED);
    assert_int_equal(suite_order_of(f, ticket).version, 2);
    assert_int_equal(money_of(f, "a1").state, PAYMENT_CLOSING);
    /* Again, for another reason: the first one stays, and nothing is counted twice. */
    assert_int_equal(money(f)->closing(f->store, ticket, REASON_EXPIRED, NEWS_MS + 9, &live), STATUS_OK);
    assert_int_equal(live, 2);
    assert_int_equal(suite_order_of(f, ticket).ending, REASON_CANCELLED);
    assert_int_equal(suite_order_of(f, ticket).version, 2);
    assert_int_equal(money_of(f, "a1").closing_ms, NEWS_MS);
    assert_int_equal(money_closed(f, "alpha", "a1", &after), LEARN_CLOSED);
    assert_int_equal(after.state, ORDER_PENDING); /* one past it */
    suite_restart(f);
    assert_int_equal(money_closed(f, "beta", "b1", &after), LEARN_CLOSED);
    assert_int_equal(after.state, ORDER_CLOSED);
    assert_int_equal(after.reason, REASON_CANCELLED);
    assert_int_equal(after.ending, REASON_NONE);
    assert_int_equal(after.version, 3);
    assert_int_equal(suite_open_events(f, &event, 1), 1);
    assert_int_equal(event.settle.step, SETTLE_RETURN);
    assert_int_equal(suite_item_of(f, f->one).sold, 0);
    assert_int_equal(money_closed(f, "beta", "b1", &after), LEARN_REPEATED);
    suite_check_accounting(f, f->one, 0);
    money_pending(f, 7); /* the user may buy again */
}

static void money_beats_a_cancellation_that_is_under_way(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    uint32_t live;
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "alpha", "a1");
    assert_int_equal(money(f)->closing(f->store, ticket, REASON_CANCELLED, NEWS_MS, &live), STATUS_OK);
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    assert_int_equal(after.state, ORDER_PAID);
    assert_int_equal(after.ending, REASON_NONE);
    assert_int_equal(suite_order_of(f, ticket).ending, REASON_NONE);
}

static void a_wrong_amount_lets_a_waiting_order_go(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    uint32_t live;
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "alpha", "a1");
    assert_int_equal(money(f)->closing(f->store, ticket, REASON_EXPIRED, NEWS_MS, &live), STATUS_OK);
    struct payment_news news = money_news("alpha", "a1", NEWS_CAPTURED);
    news.amount = 1;
    news.asked = true;
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_REFUND);
    assert_int_equal(after.state, ORDER_CLOSED);
    assert_int_equal(after.reason, REASON_EXPIRED);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_CLOSED);
    suite_check_accounting(f, f->one, 0);
}

static void due_payments_come_with_the_longest_due_first(void **state)
{
    struct fixture *f = *state;
    struct payment list[4], payment;
    struct order after;
    uint32_t count;
    uint64_t next_ms;
    const ticket_number first = money_pending(f, 7), second = money_pending(f, 8);
    const uint64_t pay_by_ms = suite_order_of(f, first).pay_by_ms;
    money_started(f, first, "alpha", "a1");
    money_started(f, second, "alpha", "a2");
    assert_int_equal(money(f)->due(f->store, PAY_MS - 1, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(next_ms, PAY_MS);
    assert_int_equal(money(f)->due(f->store, PAY_MS, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 2); /* a restart tries again */
    assert_true(next_ms == UINT64_MAX);
    payment = money_of(f, "a1");
    assert_int_equal(money(f)->again(f->store, payment.id, PAY_MS + 30), STATUS_OK);
    assert_int_equal(money_of(f, "a1").tries, 1);
    assert_int_equal(money(f)->opened(f->store, money_of(f, "a2").id, "x", "y", PAY_MS + 20), STATUS_OK);
    assert_int_equal(money(f)->due(f->store, PAY_MS + 20, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_string_equal(list[0].reference, "a2");
    assert_int_equal(next_ms, PAY_MS + 30);
    assert_int_equal(money(f)->due(f->store, PAY_MS + 30, list, 1, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_string_equal(list[0].reference, "a2");
    /* Not before the order's time is over, whatever was planned. */
    assert_int_equal(money(f)->again(f->store, payment.id, pay_by_ms + 500), STATUS_OK);
    assert_int_equal(money_captured(f, "alpha", "a2", &payment, &after), LEARN_PAID);
    assert_int_equal(money(f)->due(f->store, pay_by_ms - 1, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(next_ms, pay_by_ms);
    assert_int_equal(money(f)->due(f->store, pay_by_ms, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_string_equal(list[0].reference, "a1");
}

/* Closed with its order, and the provider has said nothing. */
static void closed_alone(struct fixture *f, ticket_number ticket, const char *reference, uint64_t ask_ms)
{
    struct payment payment;
    struct order after;
    uint32_t live;
    money_started(f, ticket, "alpha", reference);
    assert_int_equal(money(f)->closing(f->store, ticket, REASON_CANCELLED, NEWS_MS, &live), STATUS_OK);
    struct payment_news news = money_news("alpha", reference, NEWS_CLOSED);
    news.ask_ms = ask_ms;
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_CLOSED);
    assert_int_equal(after.state, ORDER_CLOSED);
    assert_true(payment_is_unanswered(&payment));
}

static void a_payment_closed_without_its_providers_word_stays_due_until_it_is_answered(void **state)
{
    struct fixture *f = *state;
    struct payment list[4], payment;
    struct order after;
    uint32_t count;
    uint64_t next_ms;
    closed_alone(f, money_pending(f, 7), "a1", NEWS_MS + 50);
    suite_restart(f);
    assert_int_equal(money(f)->due(f->store, NEWS_MS + 49, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(next_ms, NEWS_MS + 50);
    assert_int_equal(money(f)->due(f->store, NEWS_MS + 50, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_string_equal(list[0].reference, "a1");
    assert_int_equal(money(f)->again(f->store, list[0].id, NEWS_MS + 90), STATUS_OK);
    assert_int_equal(money_of(f, "a1").tries, 1);
    assert_int_equal(money_of(f, "a1").next_ms, NEWS_MS + 90);
    /* A callback may be older than the money; only an answer to our question ends it. */
    assert_int_equal(money_closed(f, "alpha", "a1", &after), LEARN_REPEATED);
    assert_int_equal(money_of(f, "a1").next_ms, NEWS_MS + 90);
    struct payment_news news = money_news("alpha", "a1", NEWS_CLOSED);
    news.asked = true;
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_CLOSED);
    assert_false(payment_is_unanswered(&payment));
    assert_int_equal(money_of(f, "a1").next_ms, 0);
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_REPEATED);
    assert_int_equal(money(f)->again(f->store, payment.id, NEWS_MS + 99), STATUS_OK);
    assert_int_equal(money_of(f, "a1").next_ms, 0);
    assert_int_equal(money(f)->due(f->store, END_MS, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 0);
    assert_true(next_ms == UINT64_MAX);
}

static void money_of_an_unanswered_payment_is_late_and_not_unanswered_any_more(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    closed_alone(f, money_pending(f, 7), "a1", NEWS_MS + 50);
    struct payment_news news = money_news("alpha", "a1", NEWS_CAPTURED);
    news.asked = true;
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_LATE);
    assert_int_equal(payment.use, USE_LATE);
    assert_false(payment_is_unanswered(&payment));
    assert_int_equal(money(f)->give_back(f->store, payment.id, REFUND_OF_LATE, NEWS_MS), STATUS_OK);
    assert_int_equal(money_only_refund(f).amount, FLASH_PRICE);
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_REPEATED);
}

static void a_callback_with_another_amount_makes_a_closed_payment_unanswered(void **state)
{
    struct fixture *f = *state;
    struct payment list[2], payment;
    struct order after;
    uint32_t count;
    uint64_t next_ms;
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "alpha", "a1");
    assert_int_equal(money_closed(f, "alpha", "a1", &after), LEARN_CLOSED);
    struct payment_news news = money_news("alpha", "a1", NEWS_CAPTURED);
    news.amount = FLASH_PRICE + 1;
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_AMOUNT);
    assert_int_equal(money(f)->due(f->store, NEWS_MS, list, 2, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_true(payment_is_unanswered(&list[0]));
}

static void unanswered_payments_are_listed_in_turn_with_the_others(void **state)
{
    struct fixture *f = *state;
    struct payment list[3];
    uint32_t count;
    uint64_t next_ms;
    money_started(f, money_pending(f, 8), "alpha", "a2");
    assert_int_equal(money(f)->again(f->store, money_of(f, "a2").id, NEWS_MS + 40), STATUS_OK);
    closed_alone(f, money_pending(f, 7), "a1", NEWS_MS + 30);
    closed_alone(f, money_pending(f, 9), "a3", NEWS_MS + 60);
    closed_alone(f, money_pending(f, 10), "a4", PAYMENT_ASK_NEVER_MS);
    assert_int_equal(money(f)->due(f->store, NEWS_MS + 40, list, 3, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 2);
    assert_string_equal(list[0].reference, "a1");
    assert_string_equal(list[1].reference, "a2");
    assert_int_equal(next_ms, NEWS_MS + 60);
}

static void a_name_that_comes_late_is_kept_and_nothing_else(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "alpha", "a1");
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    assert_int_equal(money(f)->opened(f->store, payment.id, "id1", "url", NEWS_MS + 5), STATUS_OK);
    payment = money_of(f, "a1");
    assert_int_equal(payment.state, PAYMENT_CAPTURED);
    assert_int_equal(payment.next_ms, 0);
    assert_string_equal(payment.provider_id, "id1"); /* a refund needs it */
    assert_int_equal(money(f)->opened(f->store, payment.id, "id2", "url", NEWS_MS + 5), STATUS_OK);
    assert_string_equal(money_of(f, "a1").provider_id, "id1");
    assert_int_equal(money(f)->again(f->store, payment.id, NEWS_MS + 5), STATUS_OK);
    assert_int_equal(money_of(f, "a1").tries, 0); /* nothing is under way */
}

int suite_run_payments(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(a_payment_is_stored_before_the_provider_hears_of_it),
        SUITE_RULE(a_second_start_through_the_same_provider_is_the_same_payment),
        SUITE_RULE(only_an_order_that_waits_for_money_takes_a_payment),
        SUITE_RULE(a_reference_names_one_payment),
        SUITE_RULE(the_payment_that_paid_an_order_is_found),
        SUITE_RULE(attempts_are_bounded),
        SUITE_RULE(a_start_extends_the_time_to_pay_once),
        SUITE_RULE(money_that_comes_pays_the_order_and_sells_its_unit),
        SUITE_RULE(news_of_others_are_unknown),
        SUITE_RULE(a_callback_with_another_amount_changes_nothing_but_when_to_ask),
        SUITE_RULE(another_amount_that_we_asked_for_goes_back),
        SUITE_RULE(an_order_that_is_paid_twice_gives_one_back),
        SUITE_RULE(the_shops_money_closes_the_other_payments),
        SUITE_RULE(an_order_with_a_live_payment_is_not_closed),
        SUITE_RULE(a_cancelled_order_is_closed_with_its_last_payment),
        SUITE_RULE(money_beats_a_cancellation_that_is_under_way),
        SUITE_RULE(a_wrong_amount_lets_a_waiting_order_go),
        SUITE_RULE(due_payments_come_with_the_longest_due_first),
        SUITE_RULE(a_payment_closed_without_its_providers_word_stays_due_until_it_is_answered),
        SUITE_RULE(money_of_an_unanswered_payment_is_late_and_not_unanswered_any_more),
        SUITE_RULE(a_callback_with_another_amount_makes_a_closed_payment_unanswered),
        SUITE_RULE(unanswered_payments_are_listed_in_turn_with_the_others),
        SUITE_RULE(a_name_that_comes_late_is_kept_and_nothing_else),
    };
    return cmocka_run_group_tests_name("order store: payments", rules, NULL, NULL);
}
