/* SPDX-License-Identifier: Apache-2.0 */
/* Money that came too late, money that goes back, and what a sale wants to know before money. */
#include "tests/seam/store_suite_money.h"

/* An order that was closed before its money came. */
static struct payment late_money(struct fixture *f, user_id user, const char *reference)
{
    struct payment payment;
    struct order after;
    uint32_t live;
    const ticket_number ticket = money_pending(f, user);
    money_started(f, ticket, "alpha", reference);
    assert_int_equal(money(f)->closing(f->store, ticket, REASON_EXPIRED, NEWS_MS, &live), STATUS_OK);
    assert_int_equal(money_closed(f, "alpha", reference, &after), LEARN_CLOSED);
    assert_int_equal(after.state, ORDER_CLOSED);
    assert_int_equal(money_captured(f, "alpha", reference, &payment, &after), LEARN_LATE);
    assert_int_equal(after.state, ORDER_CLOSED); /* it is never reopened */
    assert_int_equal(after.version, 3);
    return payment;
}

static void late_money_waits_for_a_unit(void **state)
{
    struct fixture *f = *state;
    struct payment list[2];
    struct order after;
    uint32_t count;
    uint64_t next_ms;
    struct payment payment = late_money(f, 7, "a1");
    assert_int_equal(payment.state, PAYMENT_CAPTURED);
    assert_int_equal(payment.use, USE_LATE);
    assert_int_equal(payment.paid_ticket, 0);
    assert_int_equal(payment.next_ms, NEWS_MS);
    assert_int_equal(money(f)->due(f->store, NEWS_MS, list, 2, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].id, payment.id);
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_REPEATED);
    money_totals_are(f, (struct money_totals){ .captured = FLASH_PRICE, .late = FLASH_PRICE });
    assert_int_equal(money(f)->again(f->store, payment.id, NEWS_MS + 5), STATUS_OK);
    assert_int_equal(money(f)->due(f->store, NEWS_MS, list, 2, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(next_ms, NEWS_MS + 5);
}

static void late_money_pays_a_new_order_of_its_user_and_item(void **state)
{
    struct fixture *f = *state;
    struct order after;
    bool done;
    const struct payment payment = late_money(f, 7, "a1");
    const ticket_number ticket = f->ticket + 1;
    assert_int_equal(
        money(f)->relink(f->store, payment.id, ticket, NEWS_MS, &after, &done), STATUS_NOT_FOUND);
    assert_int_equal(money_of(f, "a1").use, USE_LATE); /* not written yet: nothing was decided */
    assert_int_equal(money_pending(f, 7), ticket);
    money_started(f, ticket, "beta", "b1"); /* the user was quick */
    for (int i = 0; i < 2; i++) {           /* told again after a crash: the same */
        assert_int_equal(
            money(f)->relink(f->store, payment.id, ticket, NEWS_MS, &after, &done), STATUS_OK);
        assert_true(done);
        assert_int_equal(after.state, ORDER_PAID);
        assert_int_equal(after.version, 2);
        suite_restart(f);
    }
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_PAID);
    assert_int_equal(money_of(f, "a1").use, USE_RELINKED);
    assert_int_equal(money_of(f, "a1").paid_ticket, ticket);
    assert_int_equal(money_of(f, "a1").next_ms, 0);
    assert_int_equal(money_of(f, "b1").state, PAYMENT_CLOSING);
    money_totals_are(f, (struct money_totals){ .captured = FLASH_PRICE, .paid = FLASH_PRICE });
    suite_check_accounting(f, f->one, 0);
    /* It is used: it does not go back too. */
    assert_int_equal(money(f)->give_back(f->store, payment.id, REFUND_OF_LATE, NEWS_MS), STATUS_OK);
    assert_int_equal(money_of(f, "a1").use, USE_RELINKED);
    /* The shop takes the order back: so does its money go. */
    assert_int_equal(money_move(f, ticket, ORDER_EVENT_REFUND, &after), MOVE_DONE);
    const struct refund refund = money_only_refund(f);
    assert_int_equal(refund.payment, payment.id);
    assert_int_equal(refund.why, REFUND_OF_ORDER);
    assert_int_equal(refund.state, REFUND_WANTED);
    struct refund same;
    assert_int_equal(money(f)->refund_of_order(f->store, ticket, &same), STATUS_OK);
    assert_int_equal(same.id, refund.id);
}

static void late_money_pays_nobody_elses_order(void **state)
{
    struct fixture *f = *state;
    struct order after;
    bool done;
    const ticket_number others = money_pending(f, 9);
    const ticket_number item = suite_add_win(f, f->many, 7, 1), units = suite_add_win(f, f->many, 8, 2);
    suite_must_send(f);
    static const char *const names[] = { "a1", "a2", "a3", "a4" };
    const ticket_number wrong[] = { others, item, units, 0 };
    for (uint32_t i = 0; i < 4; i++) {
        const struct payment payment = late_money(f, 7, names[i]);
        const ticket_number ticket = wrong[i] != 0 ? wrong[i] : payment.ticket; /* or a closed one */
        assert_int_equal(
            money(f)->relink(f->store, payment.id, ticket, NEWS_MS, &after, &done), STATUS_OK);
        assert_false(done);
        assert_int_equal(money_of(f, names[i]).use, USE_REFUND);
        assert_int_equal(suite_order_of(f, ticket).state, wrong[i] != 0 ? ORDER_PENDING : ORDER_CLOSED);
    }
    struct refund list[8];
    uint32_t count;
    assert_int_equal(money(f)->refunds(f->store, 0, REFUND_WANTED, list, 8, &count), STATUS_OK);
    assert_int_equal(count, 4);
    assert_int_equal(list[0].why, REFUND_OF_LATE);
    money_totals_are(f, (struct money_totals){ .captured = 4 * FLASH_PRICE, .wanted = 4 * FLASH_PRICE });
}

static void late_money_goes_back_once(void **state)
{
    struct fixture *f = *state;
    struct order after;
    bool done = true;
    const struct payment payment = late_money(f, 7, "a1");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(money(f)->give_back(f->store, payment.id, REFUND_OF_LATE, NEWS_MS), STATUS_OK);
        suite_restart(f);
    }
    const struct refund refund = money_only_refund(f);
    assert_int_equal(refund.why, REFUND_OF_LATE);
    assert_int_equal(refund.amount, FLASH_PRICE);
    assert_string_equal(refund.provider, "alpha");
    assert_string_equal(refund.currency, "CNY");
    assert_int_equal(refund.next_ms, NEWS_MS);
    const ticket_number ticket = money_pending(f, 7);
    assert_int_equal(money(f)->relink(f->store, payment.id, ticket, NEWS_MS, &after, &done), STATUS_OK);
    assert_false(done); /* too late for that too */
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_PENDING);
    assert_int_equal(
        money(f)->give_back(f->store, payment.id + 9, REFUND_OF_LATE, NEWS_MS), STATUS_NOT_FOUND);
}

static void money_for_an_order_that_was_refunded_is_late(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    const ticket_number ticket = money_pending(f, 7);
    money_started(f, ticket, "alpha", "a1");
    money_started(f, ticket, "beta", "b1");
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    assert_int_equal(money_move(f, ticket, ORDER_EVENT_REFUND, &after), MOVE_DONE);
    assert_int_equal(money_captured(f, "beta", "b1", &payment, &after), LEARN_LATE);
    assert_int_equal(after.state, ORDER_REFUNDED);
}

static void a_refund_of_an_order_is_wanted_from_its_provider(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    struct refund refund, same;
    const ticket_number ticket = money_pending(f, 7), shop = money_pending(f, 8);
    assert_int_equal(money(f)->refund_of_order(f->store, ticket, &refund), STATUS_NOT_FOUND);
    money_started(f, ticket, "alpha", "a1");
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    assert_int_equal(money_move(f, ticket, ORDER_EVENT_REFUND, &after), MOVE_DONE);
    refund = money_only_refund(f);
    assert_int_equal(refund.state, REFUND_WANTED);
    assert_int_equal(refund.why, REFUND_OF_ORDER);
    assert_int_equal(refund.next_ms, START_MS + 10 * WINDOW_MS);
    assert_true(refund.key[0] != '\0');
    assert_int_equal(money_move(f, ticket, ORDER_EVENT_REFUND, &after), MOVE_REPEATED);
    assert_int_equal(money_only_refund(f).id, refund.id);
    /* What the shop has moved itself is done. */
    assert_int_equal(money_shop_pays(f, shop, "s1", &after), MOVE_DONE);
    assert_int_equal(money_move(f, shop, ORDER_EVENT_REFUND, &after), MOVE_DONE);
    assert_int_equal(money(f)->refund_of_order(f->store, shop, &same), STATUS_OK);
    assert_int_equal(same.state, REFUND_DONE);
    assert_int_equal(same.done_ms, START_MS + 10 * WINDOW_MS);
    assert_string_not_equal(same.key, refund.key);
    assert_int_equal(money(f)->refund_of_order(f->store, ticket, &same), STATUS_OK);
    assert_int_equal(same.id, refund.id);
    money_totals_are(f,
        (struct money_totals){
            .captured = 2 * FLASH_PRICE, .refunded = FLASH_PRICE, .wanted = FLASH_PRICE });
}

static void the_log_that_returns_a_paid_unit_sends_its_money_back(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    const ticket_number ticket = money_pending(f, 7), bare = money_pending(f, 8);
    money_started(f, ticket, "alpha", "a1");
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    suite_add_settle(f, bare, SETTLE_SOLD);
    suite_add_settle(f, bare, SETTLE_RETURN); /* no money was told of: none goes back */
    suite_add_settle(f, ticket, SETTLE_RETURN);
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_REFUNDED);
    assert_int_equal(money_only_refund(f).payment, payment.id);
}

static void a_refund_is_due_until_it_is_confirmed(void **state)
{
    struct fixture *f = *state;
    struct refund list[4], refund;
    uint32_t count;
    uint64_t next_ms;
    const struct payment payment = late_money(f, 7, "a1");
    assert_int_equal(money(f)->refunds_due(f->store, NEWS_MS, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 0);
    assert_true(next_ms == UINT64_MAX);
    assert_int_equal(money(f)->give_back(f->store, payment.id, REFUND_OF_LATE, NEWS_MS), STATUS_OK);
    refund = money_only_refund(f);
    assert_int_equal(money(f)->refunds_due(f->store, NEWS_MS - 1, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(next_ms, NEWS_MS);
    assert_int_equal(money(f)->refunds_due(f->store, NEWS_MS, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(list[0].id, refund.id);
    assert_int_equal(
        money(f)->refund_again(f->store, refund.id, NEWS_MS + 9, "no balance", true), STATUS_OK);
    refund = money_only_refund(f);
    assert_int_equal(refund.state, REFUND_STUCK);
    assert_int_equal(refund.tries, 1);
    assert_string_equal(refund.error, "no balance");
    assert_int_equal(money(f)->refunds(f->store, 0, REFUND_STUCK, list, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    suite_restart(f);
    assert_int_equal(money(f)->refunds_due(f->store, NEWS_MS + 9, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1); /* it is still tried */
    money_totals_are(f, (struct money_totals){ .captured = FLASH_PRICE, .wanted = FLASH_PRICE });
    assert_int_equal(money(f)->refund_done(f->store, refund.id, "rf1", NEWS_MS + 10), STATUS_OK);
    assert_int_equal(money(f)->refund_done(f->store, refund.id, "rf2", NEWS_MS + 11), STATUS_OK);
    assert_int_equal(
        money(f)->refund_again(f->store, refund.id, NEWS_MS + 12, "late answer", false), STATUS_OK);
    refund = money_only_refund(f);
    assert_int_equal(refund.state, REFUND_DONE);
    assert_int_equal(refund.done_ms, NEWS_MS + 10);
    assert_string_equal(refund.provider_id, "rf1");
    assert_string_equal(refund.error, "");
    assert_int_equal(money(f)->refunds_due(f->store, NEWS_MS + 99, list, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(money(f)->refunds(f->store, refund.id, REFUND_NONE, list, 4, &count), STATUS_OK);
    assert_int_equal(count, 0);
    money_totals_are(f, (struct money_totals){ .captured = FLASH_PRICE, .refunded = FLASH_PRICE });
}

static void a_sale_that_wants_details_gets_them_before_money(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    struct sale sale;
    struct order_details given = { .name = "Li", .phone = "1", .address = "A road", .note = "" }, kept;
    const ticket_number ticket = money_pending(f, 7);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &sale), STATUS_OK);
    assert_false(sale.details_required);
    sale.details_required = true;
    assert_int_equal(ops(f)->sale_update(f->store, &sale), STATUS_OK);
    assert_int_equal(money_start(f, ticket, "alpha", "a1", &payment, &after), START_DETAILS);
    assert_int_equal(money(f)->details(f->store, ticket, &kept), STATUS_NOT_FOUND);
    assert_int_equal(
        money(f)->details_set(f->store, ticket + 99, &given, NEWS_MS, &after), STATUS_NOT_FOUND);
    assert_int_equal(money(f)->details_set(f->store, ticket, &given, NEWS_MS, &after), STATUS_OK);
    assert_int_equal(after.version, 2);
    assert_int_equal(money(f)->details_set(f->store, ticket, &given, NEWS_MS, &after), STATUS_OK);
    assert_int_equal(after.version, 2); /* the same: nothing changed */
    snprintf(given.note, sizeof given.note, "ring twice");
    assert_int_equal(money(f)->details_set(f->store, ticket, &given, NEWS_MS, &after), STATUS_OK);
    assert_int_equal(suite_order_of(f, ticket).version, 3);
    suite_restart(f);
    assert_int_equal(money(f)->details(f->store, ticket, &kept), STATUS_OK);
    assert_string_equal(kept.name, "Li");
    assert_string_equal(kept.phone, "1");
    assert_string_equal(kept.address, "A road");
    assert_string_equal(kept.note, "ring twice");
    assert_int_equal(money_start(f, ticket, "alpha", "a1", &payment, &after), START_DONE);
    snprintf(given.note, sizeof given.note, "ring once");
    assert_int_equal(money(f)->details_set(f->store, ticket, &given, NEWS_MS, &after), STATUS_OK);
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    assert_int_equal(money(f)->details_set(f->store, ticket, &given, NEWS_MS, &after), STATUS_CONFLICT);
    assert_int_equal(after.state, ORDER_PAID);
}

static void funnel_is(const struct sale *sale, const struct sale *same)
{
    assert_int_equal(same->human_check, sale->human_check);
    assert_int_equal(same->waiting_room, sale->waiting_room);
    assert_int_equal(same->pass_once, sale->pass_once);
    assert_int_equal(same->drop_percent, sale->drop_percent);
    assert_int_equal(same->pace_per_s, sale->pace_per_s);
}

/* Each with a value of its own, so that no two are mixed up. */
static void what_a_sale_asks_of_its_visitors_is_kept(void **state)
{
    struct fixture *f = *state;
    struct sale sale, same;
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &sale), STATUS_OK);
    sale.human_check = HUMAN_SLIDER;
    sale.waiting_room = true;
    sale.drop_percent = 100;
    sale.pace_per_s = 70000;
    assert_int_equal(ops(f)->sale_update(f->store, &sale), STATUS_OK);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &same), STATUS_OK);
    funnel_is(&sale, &same);
    sale.human_check = HUMAN_POW;
    sale.waiting_room = false;
    sale.pass_once = true;
    sale.drop_percent = 1;
    sale.pace_per_s = 2;
    assert_int_equal(ops(f)->sale_insert(f->store, &sale), STATUS_OK);
    suite_restart(f);
    assert_int_equal(ops(f)->sale_get(f->store, sale.id, &same), STATUS_OK);
    funnel_is(&sale, &same);
}

static void flags_of_sales_and_items_are_kept(void **state)
{
    struct fixture *f = *state;
    struct sale sale, same;
    struct item item = suite_item_of(f, f->one);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &sale), STATUS_OK);
    assert_false(sale.one_open_order);
    sale.one_open_order = true;
    assert_int_equal(ops(f)->sale_update(f->store, &sale), STATUS_OK);
    assert_int_equal(ops(f)->sale_get(f->store, f->sale, &same), STATUS_OK);
    assert_true(same.one_open_order);
    assert_false(same.details_required);
    sale.details_required = true;
    sale.cooldown_s = 60;
    sale.return_draw_ms = 5000;
    assert_int_equal(ops(f)->sale_insert(f->store, &sale), STATUS_OK);
    assert_int_equal(ops(f)->sale_get(f->store, sale.id, &same), STATUS_OK);
    assert_true(same.one_open_order && same.details_required);
    assert_int_equal(same.cooldown_s, 60);
    assert_int_equal(same.return_draw_ms, 5000);
    assert_false(same.waiting_room || same.pass_once);
    assert_int_equal(same.human_check + same.drop_percent + same.pace_per_s, 0);
    assert_false(item.deduct_on_payment);
    item.deduct_on_payment = true;
    assert_int_equal(ops(f)->item_insert(f->store, &item), STATUS_OK);
    suite_restart(f);
    assert_true(suite_item_of(f, item.id).deduct_on_payment);
    assert_false(suite_item_of(f, f->one).deduct_on_payment);
}

static void what_no_statement_has_is_listed(void **state)
{
    struct fixture *f = *state;
    struct payment payment;
    struct order after;
    struct refund refund;
    struct statement_missing rows[4];
    uint32_t count;
    struct unstated_query query = { .provider = "alpha", .from_ms = NEWS_MS, .to_ms = NEWS_MS };
    money_started(f, money_pending(f, 7), "alpha", "a1");
    money_started(f, money_pending(f, 8), "beta", "b1");
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    assert_int_equal(money_captured(f, "beta", "b1", &payment, &after), LEARN_PAID);
    payment = money_of(f, "a1");
    assert_int_equal(money(f)->refund_of_payment(f->store, payment.id, &refund), STATUS_NOT_FOUND);
    assert_int_equal(money(f)->unstated(f->store, &query, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].reference, "a1");
    assert_int_equal(rows[0].amount, FLASH_PRICE);
    assert_int_equal(rows[0].time_ms, NEWS_MS);
    query.from_ms++;
    assert_int_equal(money(f)->unstated(f->store, &query, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 0);
    query.from_ms--;
    assert_int_equal(money_move(f, payment.ticket, ORDER_EVENT_REFUND, &after), MOVE_DONE);
    assert_int_equal(money(f)->refund_of_payment(f->store, payment.id, &refund), STATUS_OK);
    assert_int_equal(money(f)->refund_done(f->store, refund.id, "theirs", NEWS_MS), STATUS_OK);
    query.refunds = true;
    assert_int_equal(money(f)->unstated(f->store, &query, rows, 4, &count), STATUS_OK);
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].reference, "a1");
    assert_int_equal(money(f)->stated(f->store, &payment.id, 1, &refund.id, 1, 77), STATUS_OK);
    assert_int_equal(money(f)->stated(f->store, &payment.id, 1, &refund.id, 1, 78), STATUS_OK);
    suite_restart(f);
    assert_int_equal(money_of(f, "a1").stated_ms, 77);
    for (int i = 0; i < 2; i++) {
        query.refunds = i == 1;
        assert_int_equal(money(f)->unstated(f->store, &query, rows, 4, &count), STATUS_OK);
        assert_int_equal(count, 0);
    }
}

static void a_payment_that_a_statement_has_is_asked_about(void **state)
{
    struct fixture *f = *state;
    struct payment list[2], payment;
    struct order after;
    uint32_t count;
    uint64_t next_ms;
    money_started(f, money_pending(f, 7), "alpha", "a1");
    assert_int_equal(money_closed(f, "alpha", "a1", &after), LEARN_CLOSED);
    assert_int_equal(money(f)->ask(f->store, money_of(f, "a1").id, NEWS_MS), STATUS_OK);
    assert_int_equal(money(f)->due(f->store, NEWS_MS, list, 2, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_true(payment_is_unanswered(&list[0]));
    assert_int_equal(money_captured(f, "alpha", "a1", &payment, &after), LEARN_PAID);
    assert_int_equal(money(f)->ask(f->store, payment.id, NEWS_MS + 1), STATUS_OK);
    assert_int_equal(money_of(f, "a1").next_ms, 0); /* nothing is left to ask */
}

int suite_run_refunds(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(late_money_waits_for_a_unit),
        SUITE_RULE(late_money_pays_a_new_order_of_its_user_and_item),
        SUITE_RULE(late_money_pays_nobody_elses_order),
        SUITE_RULE(late_money_goes_back_once),
        SUITE_RULE(money_for_an_order_that_was_refunded_is_late),
        SUITE_RULE(a_refund_of_an_order_is_wanted_from_its_provider),
        SUITE_RULE(the_log_that_returns_a_paid_unit_sends_its_money_back),
        SUITE_RULE(a_refund_is_due_until_it_is_confirmed),
        SUITE_RULE(a_sale_that_wants_details_gets_them_before_money),
        SUITE_RULE(what_a_sale_asks_of_its_visitors_is_kept),
        SUITE_RULE(what_no_statement_has_is_listed),
        SUITE_RULE(a_payment_that_a_statement_has_is_asked_about),
        SUITE_RULE(flags_of_sales_and_items_are_kept),
    };
    return cmocka_run_group_tests_name("order store: refunds", rules, NULL, NULL);
}
