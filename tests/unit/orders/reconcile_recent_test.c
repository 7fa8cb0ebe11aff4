/* SPDX-License-Identifier: Apache-2.0 */
/* Runs over what has changed since the last run that found nothing wrong. */
#include "tests/unit/orders/reconcile_kit.h"

static const struct reconcile_report *recent(struct shop *shop)
{
    return run_of(shop, false, true);
}

static void the_first_run_looks_at_everything_and_the_next_at_what_is_new(void **state)
{
    struct shop *shop = *state;
    const struct reconcile_report *report = recent(shop);
    assert_false(report->recent);
    assert_int_equal(report->orders, 3);
    report = recent(shop);
    assert_true(report->recent);
    assert_int_equal(report->found, 0);
    assert_int_equal(report->orders, 0);
    assert_int_equal(report->items, 0);
    sell(shop, 5);
    report = recent(shop);
    assert_int_equal(report->found, 0);
    assert_int_equal(report->orders, 2);
    assert_int_equal(report->users, 2);
    assert_int_equal(report->items, 1);
    assert_int_equal(run(shop, false)->orders, 5); /* on demand everything */
}

static void an_old_order_that_was_moved_is_looked_at(void **state)
{
    struct shop *shop = *state;
    assert_int_equal(recent(shop)->found, 0);
    shop->orders[1].order.state = ORDER_PAID; /* without an event that its ticket could follow */
    shop->orders[1].payments_paid = 1;
    shop->moved_ticket = 2;
    shop->moved_event = 9;
    finds_one(recent(shop), FINDING_EVENT_MISSING);
    finds_one(recent(shop), FINDING_EVENT_MISSING); /* until it is right: the mark stays where it was */
    shop->tickets[2].detail = TICKET_SOLD;
    board_set(shop, 2, 1);
    const struct reconcile_report *report = recent(shop);
    assert_int_equal(report->found, 0);
    assert_int_equal(report->orders, 1);
    assert_int_equal(recent(shop)->orders, 0);
}

static void users_counters_and_items_of_what_is_new_are_checked(void **state)
{
    struct shop *shop = *state;
    assert_int_equal(recent(shop)->found, 0);
    sell(shop, 4);
    shop->marked = 3;
    finds_one(recent(shop), FINDING_MARK);
    shop->marked = 4;
    shop->counter = (struct look_counter){ .scope = ITEM, .user = 7, .used = 5, .counted = 4 };
    finds_one(recent(shop), FINDING_COUNTER);
    shop->counter.used = 4;
    shop->item.item.sold = shop->item_now.item.sold = 5;
    finds_one(recent(shop), FINDING_SOLD);
    shop->item.item.sold = shop->item_now.item.sold = 4;
    board_set(shop, 3, 0);
    finds_one(recent(shop), FINDING_COUNTS);
    board_set(shop, 4, 0);
    assert_int_equal(recent(shop)->found, 0);
    assert_int_equal(recent(shop)->items, 0);
}

static void an_item_that_never_rested_is_looked_at_by_the_next_run(void **state)
{
    struct shop *shop = *state;
    assert_int_equal(recent(shop)->found, 0);
    sell(shop, 4);
    shop->event_count = 1; /* something is under way */
    const struct reconcile_report *report = recent(shop);
    assert_int_equal(report->skipped, 1);
    assert_int_equal(report->orders, 1);
    shop->event_count = 0;
    board_set(shop, 3, 0);
    report = recent(shop);
    assert_int_equal(report->orders, 0);
    finds_one(report, FINDING_COUNTS);
}

static void what_waits_for_a_provider_is_found_again_and_holds_up_nothing(void **state)
{
    struct shop *shop = *state;
    shop->payment_last = 40;
    shop->money = (struct look_money){ .code = FINDING_UNANSWERED, .payment = 3 };
    finds_one(recent(shop), FINDING_UNANSWERED);
    const struct reconcile_report *report = recent(shop);
    assert_true(report->recent);
    finds_one(report, FINDING_UNANSWERED);
    shop->payment_last = 41;
    shop->money = (struct look_money){ .code = FINDING_MONEY_UNUSED, .payment = 41 };
    finds_one(recent(shop), FINDING_MONEY_UNUSED);
}

static void kept_sums_are_compared_by_a_whole_run(void **state)
{
    struct shop *shop = *state;
    shop->item.state_orders[ORDER_PAID]++;
    finds_one(run(shop, false), FINDING_SUMS);
}

static void a_repair_is_a_whole_run(void **state)
{
    struct shop *shop = *state;
    assert_int_equal(recent(shop)->found, 0);
    const struct reconcile_report *report = run_of(shop, true, true);
    assert_false(report->recent);
    assert_int_equal(report->orders, 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_first_run_looks_at_everything_and_the_next_at_what_is_new),
        TEST(an_old_order_that_was_moved_is_looked_at),
        TEST(users_counters_and_items_of_what_is_new_are_checked),
        TEST(an_item_that_never_rested_is_looked_at_by_the_next_run),
        TEST(what_waits_for_a_provider_is_found_again_and_holds_up_nothing),
        TEST(kept_sums_are_compared_by_a_whole_run),
        TEST(a_repair_is_a_whole_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
