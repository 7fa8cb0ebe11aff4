/* SPDX-License-Identifier: Apache-2.0 */
/* A run of reconciliation from its first turn to its report, and what ends one early: a database
 * that can't be read, an inventory that does not answer. */
#include "tests/unit/orders/reconcile_kit.h"

/* ---- what agrees, and what does not ---- */

static void what_agrees_has_no_finding_and_everything_was_looked_at(void **state)
{
    struct shop *shop = *state;
    shop->payment_last = 3;
    shop->captured = shop->accounted = 15;
    shop->counter = (struct look_counter){ .scope = ITEM, .user = 7, .used = 3, .counted = 3 };
    const struct reconcile_report *report = run(shop, false);
    finds_nothing(report);
    assert_int_equal(report->orders, 3);
    assert_int_equal(report->users, 1);
    assert_int_equal(report->items, 1);
    assert_int_equal(report->counters, 1);
    assert_int_equal(report->payments, 3);
    assert_int_equal(report->position.seq, 50);
    assert_false(reconcile_running(shop->reconcile));
}

static void more_orders_than_a_slice_are_all_looked_at(void **state)
{
    struct shop *shop = *state;
    sell(shop, RECONCILE_SLICE + 20);
    shop->item = (struct look_item){ 0 }; /* the board has no room for so many */
    shop->user.user = 0;
    shop->tickets[RECONCILE_SLICE + 10].quantity = 2;
    const struct reconcile_report *report = run(shop, false);
    finds_one(report, FINDING_TICKET_DIFFERS);
    assert_int_equal(report->findings[0].ticket, RECONCILE_SLICE + 10);
    assert_int_equal(report->orders, RECONCILE_SLICE + 20);
}

static void a_ticket_without_an_order_is_found_between_orders_and_after_the_last(void **state)
{
    struct shop *shop = *state;
    for (ticket_number ticket = 2; ticket <= 4; ticket += 2) {
        sell(shop, 3);
        shop->item = (struct look_item){ 0 };
        if (ticket == 2) {
            shop->orders[1] = shop->orders[2];
            shop->order_count = 2;
        } else {
            shop->tickets[4] = shop->tickets[3];
        }
        const struct reconcile_report *report = run(shop, false);
        finds_one(report, FINDING_TICKET_WITHOUT_ORDER);
        assert_int_equal(report->findings[0].ticket, ticket);
    }
    shop->dead = 4; /* a dead letter explains it */
    finds_nothing(run(shop, false));
}

static void only_what_can_be_repaired_is_and_whoever_waits_for_it_is_told(void **state)
{
    struct shop *shop = *state;
    shop->counter = (struct look_counter){ .scope = ITEM, .user = 7, .used = 9, .counted = 3 };
    shop->captured = 5;
    shop->payment_last = 1;
    const struct reconcile_report *report = run(shop, true);
    assert_int_equal(report->found, 2);
    assert_int_equal(report->repaired, 1);
    assert_int_equal(shop->repair_count, 1);
    assert_int_equal(shop->repairs[0].code, FINDING_COUNTER);
    assert_int_equal(shop->told, 1);
    shop->repair_answer = STATUS_CONFLICT; /* no longer so */
    report = run(shop, true);
    assert_int_equal(report->repaired, 0);
    assert_int_equal(shop->told, 1);
}

static void nothing_is_repaired_unless_it_was_asked_for(void **state)
{
    struct shop *shop = *state;
    shop->counter = (struct look_counter){ .scope = ITEM, .user = 7, .used = 9, .counted = 3 };
    finds_one(run(shop, false), FINDING_COUNTER);
    assert_int_equal(shop->repair_count, 0);
}

static void a_sum_that_is_wrong_because_a_ticket_is_wrong_is_not_repaired(void **state)
{
    struct shop *shop = *state;
    shop->orders[1] = shop->orders[2]; /* order 2 is gone: sold is too high, and rightly so */
    shop->order_count = 2;
    shop->user.live = shop->user.channel_live[0] = 2;
    shop->item.item.sold = 3;
    const struct reconcile_report *report = run(shop, true);
    finds_one(report, FINDING_TICKET_WITHOUT_ORDER);
    assert_int_equal(shop->repair_count, 0);
}

static void the_counts_of_an_item_are_compared_with_the_inventory(void **state)
{
    struct shop *shop = *state;
    board_set(shop, 2, 0);
    finds_one(run(shop, false), FINDING_COUNTS);
    board_set(shop, 3, 0);
    shop->item.item.safety = shop->item_now.item.safety = 1;
    finds_one(run(shop, false), FINDING_UNITS);
    shop->item.item.safety = shop->item_now.item.safety = 0;
    shop->sale.gate = GATE_PAUSED;
    finds_one(run(shop, false), FINDING_SALE);
}

static void money_that_nobody_accounts_for_is_told_once(void **state)
{
    struct shop *shop = *state;
    shop->payment_last = 2;
    shop->captured = 10;
    finds_one(run(shop, false), FINDING_MONEY_TOTAL);
    /* The payment that explains it is named; the total says the same again and is left out. */
    shop->money = (struct look_money){ .code = FINDING_MONEY_UNUSED, .payment = 2, .amount = 10 };
    finds_one(run(shop, false), FINDING_MONEY_UNUSED);
}

/* ---- a database or an inventory that fails ---- */

static void a_database_that_fails_ends_the_run_and_repairs_nothing(void **state)
{
    struct shop *shop = *state;
    enum status *const answers[] = { &shop->orders_answer, &shop->users_answer, &shop->money_answer };
    shop->counter = (struct look_counter){ .scope = ITEM, .user = 7, .used = 9, .counted = 3 };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        *answers[i] = STATUS_AWAY;
        const struct reconcile_report *report = run(shop, true);
        assert_int_equal(report->state, RECONCILE_FAILED);
        assert_non_null(report->trouble);
        assert_int_equal(report->repaired, 0);
        assert_int_equal(shop->repair_count, 0);
        *answers[i] = STATUS_OK;
    }
    finds_one(run(shop, true), FINDING_COUNTER); /* and the next run is whole */
    assert_int_equal(shop->repair_count, 1);
}

static void an_inventory_that_does_not_answer_ends_the_run(void **state)
{
    struct shop *shop = *state;
    shop->silent = true;
    const uint64_t began_ms = shop->now_ms;
    const struct reconcile_report *report = run(shop, false);
    assert_int_equal(report->state, RECONCILE_FAILED);
    assert_in_range(shop->now_ms - began_ms, RECONCILE_ANSWER_MS, RECONCILE_ANSWER_MS + 1000);
    /* Its answers come during the next run and are not taken for the answers of that one. */
    assert_true(reconcile_begin(shop->reconcile, shop->now_ms, false, false));
    assert_true(turn(shop));
    assert_true(turn(shop));
    shop->silent = false;
    while (turn(shop))
        continue;
    finds_nothing(reconcile_report(shop->reconcile));
}

static void one_run_at_a_time(void **state)
{
    struct shop *shop = *state;
    assert_false(reconcile_turn(shop->reconcile, shop->now_ms));
    assert_true(reconcile_begin(shop->reconcile, shop->now_ms, false, false));
    assert_false(reconcile_begin(shop->reconcile, shop->now_ms, true, false));
    assert_false(reconcile_report(shop->reconcile)->repair);
}

static void more_findings_than_are_kept_are_counted(void **state)
{
    struct shop *shop = *state;
    sell(shop, RECONCILE_FINDINGS_MAX + 30);
    shop->item = (struct look_item){ 0 };
    shop->user.user = 0;
    for (uint32_t i = 0; i < shop->order_count; i++)
        shop->orders[i].has_slot = false;
    const struct reconcile_report *report = run(shop, false);
    assert_int_equal(report->found, RECONCILE_FINDINGS_MAX + 30);
    assert_int_equal(report->count, RECONCILE_FINDINGS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_agrees_has_no_finding_and_everything_was_looked_at),
        TEST(more_orders_than_a_slice_are_all_looked_at),
        TEST(a_ticket_without_an_order_is_found_between_orders_and_after_the_last),
        TEST(only_what_can_be_repaired_is_and_whoever_waits_for_it_is_told),
        TEST(nothing_is_repaired_unless_it_was_asked_for),
        TEST(a_sum_that_is_wrong_because_a_ticket_is_wrong_is_not_repaired),
        TEST(the_counts_of_an_item_are_compared_with_the_inventory),
        TEST(money_that_nobody_accounts_for_is_told_once),
        TEST(a_database_that_fails_ends_the_run_and_repairs_nothing),
        TEST(an_inventory_that_does_not_answer_ends_the_run),
        TEST(one_run_at_a_time),
        TEST(more_findings_than_are_kept_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
