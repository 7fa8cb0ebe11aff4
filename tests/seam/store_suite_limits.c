/* SPDX-License-Identifier: Apache-2.0 */
/* Limits over a period: per user, over all sales of a group, and per payment identity. */
#include "contract/archive.h"
#include "contract/limit_uses.h"
#include "tests/seam/store_suite_money.h"

static const uint64_t PERIOD_MS = 30ull * 24 * 3600 * 1000;
enum { CARD = 77, OTHER_CARD = 78 };

static const struct limit_store_ops *limits(struct fixture *f)
{
    if (ops(f)->limits == NULL)
        skip();
    return ops(f)->limits;
}

static void limits_are_set(struct fixture *f, item_id item, struct item_limits wanted, enum status status)
{
    (void)limits(f);
    assert_int_equal(ops(f)->item_limits(f->store, item, &wanted), status);
}

/* An item in a sale of its own. */
static item_id item_of_another_sale(struct fixture *f, uint32_t product, struct item_limits wanted)
{
    struct sale sale = { .title = "Another", .start_ms = START_MS, .end_ms = END_MS };
    struct item item = { .product = product,
        .flash_price = FLASH_PRICE,
        .limit_per_user = 0,
        .pay_window_ms = WINDOW_MS,
        .total = UNITS,
        .channel_units = { UNITS },
        .limits = wanted };
    (void)limits(f);
    assert_int_equal(ops(f)->sale_insert(f->store, &sale), STATUS_OK);
    item.sale = sale.id;
    assert_int_equal(ops(f)->item_insert(f->store, &item), STATUS_OK);
    return item.id;
}

static const struct item_limits two_in_a_month = { .period_limit = 2, .period_days = 30 };
static const struct item_limits one_in_a_month = { .period_limit = 1, .period_days = 30 };
static const struct item_limits one_payer = { .payer_limit = 1, .period_days = 30 };

/* An order that is won at this time, in a batch of its own. */
static ticket_number win_at(
    struct fixture *f, item_id item, user_id user, uint32_t quantity, uint64_t time_ms)
{
    const ticket_number ticket = suite_add_win(f, item, user, quantity);
    f->records[f->count - 1].command.time_ms = time_ms;
    f->records[f->count - 1].outcome.pay_by_ms = time_ms + WINDOW_MS;
    suite_must_send(f);
    return ticket;
}

static bool was_limited(struct fixture *f, ticket_number ticket, enum limit_kind kind)
{
    const struct order order = suite_order_of(f, ticket);
    assert_int_equal(order.limited, order.state == ORDER_CLOSED ? kind : LIMIT_NONE);
    if (order.state == ORDER_CLOSED)
        assert_int_equal(order.reason, REASON_REJECTED);
    return order.state == ORDER_CLOSED;
}

static void uses_fit_orders(struct fixture *f)
{
    ticket_number wrong = 1;
    assert_int_equal(limits(f)->check(f->store, START_MS, &wrong), STATUS_OK);
    assert_int_equal(wrong, 0);
}

static void the_unit_past_the_limit_is_rejected_in_any_sale_of_the_product(void **state)
{
    struct fixture *f = *state;
    struct stock_event events[4];
    const uint32_t product = suite_item_of(f, f->free).product;
    const item_id other = item_of_another_sale(f, product, two_in_a_month);
    uint64_t used = 9;
    limits_are_set(f, f->free, two_in_a_month, STATUS_OK);
    const ticket_number one = win_at(f, f->free, 7, 1, START_MS + 5);
    const ticket_number two = win_at(f, other, 7, 1, START_MS + 6);
    const ticket_number three = win_at(f, other, 7, 1, START_MS + 7);
    const ticket_number next = win_at(f, other, 8, 2, START_MS + 8);
    assert_false(was_limited(f, one, LIMIT_PERIOD) || was_limited(f, two, LIMIT_PERIOD));
    assert_true(was_limited(f, three, LIMIT_PERIOD));
    assert_false(was_limited(f, next, LIMIT_PERIOD));
    assert_int_equal(suite_open_events(f, events, 4), 1);
    assert_int_equal(events[0].settle.ticket, three);
    assert_int_equal(events[0].settle.step, SETTLE_RETURN);
    assert_int_equal(suite_item_of(f, other).sold, 3);
    assert_int_equal(
        limits(f)->used(f->store, product, &two_in_a_month, 7, START_MS + 9, &used), STATUS_OK);
    assert_int_equal(used, 2);
    uses_fit_orders(f);
    suite_add_settle(f, three, SETTLE_RETURN); /* the unit is back: it only confirms */
    suite_must_send(f);
    assert_int_equal(suite_open_events(f, events, 4), 0);
    assert_int_equal(suite_item_of(f, other).sold, 3);
    uses_fit_orders(f);
}

enum { HOLDERS = 20, PER_PART = 3 };

/* All holders are read in parts; answers how often this one is told. */
static uint32_t holder_told(struct fixture *f, uint64_t group, user_id user)
{
    struct limit_holder after = { 0 }, part[PER_PART];
    uint32_t count = 0, told = 0;
    bool more = true;
    for (uint32_t parts = 0; more; parts++) {
        assert_true(parts < 4 * HOLDERS);
        assert_int_equal(limits(f)->holders(f->store, &after, part, PER_PART, &count, &more), STATUS_OK);
        assert_true(count <= PER_PART);
        for (uint32_t i = 0; i < count; i++)
            told += part[i].group == group && part[i].user == user;
    }
    assert_int_equal(after.group >> 33, 0); /* no payer's */
    return told;
}

/* Of all groups, in parts; users whose number is above half of the range are not left out. */
static void users_with_uses_are_told_and_payers_are_not(void **state)
{
    struct fixture *f = *state;
    const uint32_t product = suite_item_of(f, f->free).product;
    const struct item_limits grouped = {
        .period_limit = 9, .payer_limit = 9, .period_days = 30, .period_group = 5
    };
    const uint64_t group = UINT64_C(1) << 32 | 5, high = UINT64_C(1) << 63;
    const item_id other = item_of_another_sale(f, product, grouped);
    assert_int_equal(holder_told(f, product, 1), 0);
    limits_are_set(f, f->free, two_in_a_month, STATUS_OK);
    for (user_id user = 1; user <= HOLDERS / 4; user++) {
        win_at(f, f->free, user, 1, START_MS + 5);
        win_at(f, other, high | user, 1, START_MS + 6);
    }
    for (user_id user = 1; user <= HOLDERS / 4; user++) {
        assert_int_equal(holder_told(f, product, user), 1);
        assert_int_equal(holder_told(f, product, high | user), 0);
        assert_int_equal(holder_told(f, group, high | user), 1);
        assert_int_equal(holder_told(f, group, user), 0);
    }
}

static void a_batch_counts_its_own_orders(void **state)
{
    struct fixture *f = *state;
    ticket_number tickets[5];
    limits_are_set(f, f->free, two_in_a_month, STATUS_OK);
    for (uint32_t i = 0; i < 4; i++)
        tickets[i] = suite_add_win(f, f->free, 7, 1);
    tickets[4] = suite_add_win(f, f->free, 8, 3);
    suite_must_send(f);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(was_limited(f, tickets[i], LIMIT_PERIOD), i >= 2);
    suite_check_accounting(f, f->free, 0);
    uses_fit_orders(f);
}

static void a_unit_counts_until_its_period_is_over(void **state)
{
    struct fixture *f = *state;
    bool more = true;
    limits_are_set(f, f->free, two_in_a_month, STATUS_OK);
    const uint64_t at_ms = START_MS + 5;
    (void)win_at(f, f->free, 7, 2, at_ms);
    assert_true(was_limited(f, win_at(f, f->free, 7, 1, at_ms + PERIOD_MS - 1), LIMIT_PERIOD));
    assert_false(was_limited(f, win_at(f, f->free, 7, 1, at_ms + PERIOD_MS), LIMIT_PERIOD));
    for (uint32_t i = 0; i < 9 && more; i++)
        assert_int_equal(limits(f)->prune(f->store, at_ms + PERIOD_MS, &more), STATUS_OK);
    assert_false(more);
    assert_false(was_limited(f, win_at(f, f->free, 7, 1, at_ms + PERIOD_MS + 1), LIMIT_PERIOD));
    assert_true(was_limited(f, win_at(f, f->free, 7, 1, at_ms + PERIOD_MS + 2), LIMIT_PERIOD));
    ticket_number wrong = 1;
    assert_int_equal(limits(f)->check(f->store, at_ms + PERIOD_MS, &wrong), STATUS_OK);
    assert_int_equal(wrong, 0);
}

static void what_is_closed_or_refunded_counts_no_more(void **state)
{
    struct fixture *f = *state;
    struct order after;
    limits_are_set(f, f->free, one_in_a_month, STATUS_OK);
    const ticket_number cancelled = win_at(f, f->free, 7, 1, START_MS + 5);
    assert_int_equal(money_move(f, cancelled, ORDER_EVENT_CANCEL, &after), MOVE_DONE);
    const ticket_number paid = win_at(f, f->free, 7, 1, START_MS + 6);
    assert_false(was_limited(f, paid, LIMIT_PERIOD));
    assert_int_equal(money_shop_pays(f, paid, "bill", &after), MOVE_DONE);
    assert_true(was_limited(f, win_at(f, f->free, 7, 1, START_MS + 7), LIMIT_PERIOD));
    assert_int_equal(money_move(f, paid, ORDER_EVENT_REFUND, &after), MOVE_DONE);
    uses_fit_orders(f);
    const ticket_number last = win_at(f, f->free, 7, 1, START_MS + 8);
    assert_false(was_limited(f, last, LIMIT_PERIOD));
    suite_add_settle(f, last, SETTLE_RETURN); /* the log alone says so */
    suite_must_send(f);
    assert_false(was_limited(f, win_at(f, f->free, 7, 1, START_MS + 9), LIMIT_PERIOD));
    uses_fit_orders(f);
}

static void a_ticket_that_is_told_again_counts_once(void **state)
{
    struct fixture *f = *state;
    limits_are_set(f, f->free, two_in_a_month, STATUS_OK);
    const ticket_number ticket = suite_add_win(f, f->free, 7, 2);
    suite_must_send(f);
    f->ticket--; /* the same ticket under another position */
    assert_int_equal(suite_add_win(f, f->free, 7, 2), ticket);
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_PENDING);
    assert_int_equal(suite_item_of(f, f->free).sold, 2);
    uses_fit_orders(f);
}

static void items_of_a_numbered_group_count_together_and_others_do_not(void **state)
{
    struct fixture *f = *state;
    struct product product = { .name = "Case", .images = "[]", .currency = "CNY", .list_price = 10 };
    struct item_limits group = two_in_a_month;
    group.period_group = 5;
    (void)limits(f);
    assert_int_equal(ops(f)->product_insert(f->store, &product), STATUS_OK);
    const item_id other = item_of_another_sale(f, product.id, group);
    limits_are_set(f, f->free, group, STATUS_OK);
    limits_are_set(f, f->many, two_in_a_month, STATUS_OK);
    (void)win_at(f, f->free, 7, 2, START_MS + 5);
    assert_true(was_limited(f, win_at(f, other, 7, 1, START_MS + 6), LIMIT_PERIOD));
    assert_false(was_limited(f, win_at(f, f->many, 7, 2, START_MS + 7), LIMIT_PERIOD));
    uses_fit_orders(f);
}

static void limits_stay_once_there_are_orders(void **state)
{
    struct fixture *f = *state;
    const struct item_limits three = { .period_limit = 3, .period_days = 30 };
    limits_are_set(f, f->free, two_in_a_month, STATUS_OK);
    limits_are_set(f, f->free, three, STATUS_OK);
    assert_int_equal(suite_item_of(f, f->free).limits.period_limit, 3);
    (void)win_at(f, f->free, 7, 1, START_MS + 5);
    limits_are_set(f, f->free, two_in_a_month, STATUS_CONFLICT);
    limits_are_set(f, f->free, three, STATUS_OK);
    assert_int_equal(suite_item_of(f, f->free).limits.period_limit, 3);
}

static void orders_in_a_bundle_still_count(void **state)
{
    struct fixture *f = *state;
    struct order after;
    bool more = true;
    const item_id other = item_of_another_sale(f, suite_item_of(f, f->free).product, one_in_a_month);
    const struct archive row = { .sale = f->sale, .orders = 1 };
    struct archive_look made = { 0 }, now = { 0 };
    limits_are_set(f, f->free, one_in_a_month, STATUS_OK);
    if (ops(f)->archive == NULL)
        skip();
    const ticket_number ticket = win_at(f, f->free, 7, 1, START_MS + 5);
    assert_int_equal(money_shop_pays(f, ticket, "bill", &after), MOVE_DONE);
    suite_add_settle(f, ticket, SETTLE_SOLD);
    suite_must_send(f);
    assert_int_equal(ops(f)->archive->look(f->store, f->sale, &made), STATUS_OK);
    assert_int_equal(ops(f)->archive->begin(f->store, &row, &made, &now), STATUS_OK);
    for (uint32_t i = 0; i < 99 && more; i++)
        assert_int_equal(ops(f)->archive->remove(f->store, f->sale, &more), STATUS_OK);
    assert_false(suite_has_order(f, ticket));
    uses_fit_orders(f);
    assert_true(was_limited(f, win_at(f, other, 7, 1, START_MS + 6), LIMIT_PERIOD));
    assert_false(was_limited(f, win_at(f, other, 7, 1, START_MS + 5 + PERIOD_MS), LIMIT_PERIOD));
}

/* ---- payers ---- */

static struct payment_news paid_by(const char *reference, uint64_t payer)
{
    struct payment_news news = money_news("stripe", reference, NEWS_CAPTURED);
    news.payer = payer;
    return news;
}

static void money_past_the_limit_of_its_payer_goes_back_and_its_order_is_closed(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    struct stock_event events[4];
    limits_are_set(f, f->one, one_payer, STATUS_OK);
    const ticket_number first = money_pending(f, 7), second = money_pending(f, 8);
    money_started(f, first, "stripe", "a");
    money_started(f, second, "stripe", "b");
    assert_int_equal(money_learn(f, paid_by("a", CARD), &payment, &after), LEARN_PAID);
    assert_int_equal(payment.payer, CARD);
    assert_int_equal(money_learn(f, paid_by("b", CARD), &payment, &after), LEARN_REFUND);
    assert_int_equal(after.state, ORDER_CLOSED);
    assert_int_equal(after.limited, LIMIT_PAYER);
    assert_true(was_limited(f, second, LIMIT_PAYER));
    assert_int_equal(money_only_refund(f).why, REFUND_OF_PAYER);
    assert_int_equal(money_learn(f, paid_by("b", CARD), &payment, &after), LEARN_REPEATED);
    assert_int_equal(money_only_refund(f).amount, FLASH_PRICE);
    assert_int_equal(suite_open_events(f, events, 4), 2); /* one is sold, one comes back */
    assert_int_equal(events[1].settle.ticket, second);
    assert_int_equal(events[1].settle.step, SETTLE_RETURN);
    suite_check_accounting(f, f->one, 0);
    money_totals_are(f,
        (struct money_totals){ .captured = 2 * FLASH_PRICE, .wanted = FLASH_PRICE, .paid = FLASH_PRICE });
    uses_fit_orders(f);
}

static void another_payer_or_one_whose_order_was_refunded_may_pay(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    limits_are_set(f, f->one, one_payer, STATUS_OK);
    const ticket_number first = money_pending(f, 7), second = money_pending(f, 8),
                        third = money_pending(f, 9);
    money_started(f, first, "stripe", "a");
    money_started(f, second, "stripe", "b");
    money_started(f, third, "stripe", "c");
    assert_int_equal(money_learn(f, paid_by("a", CARD), &payment, &after), LEARN_PAID);
    assert_int_equal(money_learn(f, paid_by("b", OTHER_CARD), &payment, &after), LEARN_PAID);
    assert_int_equal(money_move(f, first, ORDER_EVENT_REFUND, &after), MOVE_DONE);
    assert_int_equal(money_learn(f, paid_by("c", CARD), &payment, &after), LEARN_PAID);
    uses_fit_orders(f);
}

static void a_callback_that_does_not_say_who_paid_makes_us_ask(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    struct payment_news news = paid_by("a", 0);
    limits_are_set(f, f->one, one_payer, STATUS_OK);
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "stripe", "a");
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_ASK);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_PENDING);
    assert_int_equal(money_of(f, "a").next_ms, NEWS_MS);
    news.asked = true; /* the provider itself does not know */
    assert_int_equal(money_learn(f, news, &payment, &after), LEARN_PAID);
    uses_fit_orders(f);
}

static void late_money_past_the_limit_of_its_payer_gets_no_unit(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    bool done = true;
    limits_are_set(f, f->one, one_payer, STATUS_OK);
    const ticket_number first = money_pending(f, 7), late = money_pending(f, 8);
    money_started(f, first, "stripe", "a");
    money_started(f, late, "stripe", "b");
    assert_int_equal(money_closed(f, "stripe", "b", &after), LEARN_CLOSED);
    assert_int_equal(money_move(f, late, ORDER_EVENT_CANCEL, &after), MOVE_DONE);
    assert_int_equal(money_learn(f, paid_by("b", CARD), &payment, &after), LEARN_LATE);
    assert_int_equal(money_learn(f, paid_by("a", CARD), &payment, &after), LEARN_PAID);
    const ticket_number again = win_at(f, f->one, 8, 1, START_MS + 99);
    assert_int_equal(
        money(f)->relink(f->store, money_of(f, "b").id, again, START_MS + 100, &after, &done), STATUS_OK);
    assert_false(done);
    assert_true(was_limited(f, again, LIMIT_PAYER));
    assert_int_equal(money_only_refund(f).why, REFUND_OF_PAYER);
    uses_fit_orders(f);
}

int suite_run_limits(void)
{
    const struct CMUnitTest tests[] = {
        SUITE_RULE(the_unit_past_the_limit_is_rejected_in_any_sale_of_the_product),
        SUITE_RULE(users_with_uses_are_told_and_payers_are_not),
        SUITE_RULE(a_batch_counts_its_own_orders),
        SUITE_RULE(a_unit_counts_until_its_period_is_over),
        SUITE_RULE(what_is_closed_or_refunded_counts_no_more),
        SUITE_RULE(a_ticket_that_is_told_again_counts_once),
        SUITE_RULE(items_of_a_numbered_group_count_together_and_others_do_not),
        SUITE_RULE(limits_stay_once_there_are_orders),
        SUITE_RULE(orders_in_a_bundle_still_count),
        SUITE_RULE(money_past_the_limit_of_its_payer_goes_back_and_its_order_is_closed),
        SUITE_RULE(another_payer_or_one_whose_order_was_refunded_may_pay),
        SUITE_RULE(a_callback_that_does_not_say_who_paid_makes_us_ask),
        SUITE_RULE(late_money_past_the_limit_of_its_payer_gets_no_unit),
    };
    return cmocka_run_group_tests_name("order store: limits", tests, NULL, NULL);
}
