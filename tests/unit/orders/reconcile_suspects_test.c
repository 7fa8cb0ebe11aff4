/* SPDX-License-Identifier: Apache-2.0 */
/* Reconciliation beside a database that moves while it is read, or lags behind the log: what was
 * only in motion is never accused. */
#include "tests/unit/orders/reconcile_kit.h"

/* ---- a database that moves ---- */

static void an_order_that_was_only_in_motion_is_no_finding(void **state)
{
    struct shop *shop = *state;
    shop->tickets[2].detail = TICKET_SOLD; /* paid, and the database learns of it later */
    shop->orders[1].order.state = ORDER_PENDING;
    assert_true(reconcile_begin(shop->reconcile, shop->now_ms, true, false));
    for (int i = 0; i < 8; i++)
        (void)turn(shop);
    shop->orders[1].order.state = ORDER_PAID;
    shop->orders[1].confirmed = 1 << SETTLE_SOLD;
    shop->orders[1].payments_paid = 1;
    shop->orders[1].order.version++;
    for (int i = 0; i < 200; i++)
        (void)turn(shop);
    finds_nothing(reconcile_report(shop->reconcile));
}

static void an_order_that_moves_at_every_look_is_skipped_and_not_accused(void **state)
{
    struct shop *shop = *state;
    shop->tickets[2].detail = TICKET_SOLD;
    assert_true(reconcile_begin(shop->reconcile, shop->now_ms, false, false));
    for (int i = 0; i < 400 && reconcile_running(shop->reconcile); i++) {
        shop->orders[1].order.version++;
        (void)turn(shop);
    }
    const struct reconcile_report *report = reconcile_report(shop->reconcile);
    assert_int_equal(report->state, RECONCILE_DONE);
    assert_int_equal(report->found, 0);
    assert_int_equal(report->skipped, 1);
}

static void what_stands_still_and_does_not_fit_is_found_after_two_looks(void **state)
{
    struct shop *shop = *state;
    shop->tickets[2].detail = TICKET_SOLD;
    const uint64_t began_ms = shop->now_ms;
    finds_one(run(shop, false), FINDING_STATE_DIFFERS);
    assert_true(shop->now_ms >= began_ms + RECONCILE_ROUND_MS);
}

static void a_buyer_mark_that_moves_is_no_finding(void **state)
{
    struct shop *shop = *state;
    shop->marked = 4;
    assert_true(reconcile_begin(shop->reconcile, shop->now_ms, false, false));
    for (int i = 0; i < 8; i++)
        (void)turn(shop);
    shop->marked = 3;
    for (int i = 0; i < 200; i++)
        (void)turn(shop);
    finds_nothing(reconcile_report(shop->reconcile));
    shop->marked = 4;
    finds_one(run(shop, false), FINDING_MARK);
}

static void an_item_that_never_rests_is_skipped_and_not_accused(void **state)
{
    struct shop *shop = *state;
    board_set(shop, 2, 0); /* would be a finding */
    shop->event_count = 1; /* a stock event is always on its way */
    const struct reconcile_report *report = run(shop, false);
    assert_int_equal(report->state, RECONCILE_DONE);
    assert_int_equal(report->found, 0);
    assert_int_equal(report->skipped, 1);
    shop->event_count = 0;
    shop->item_now.item.version++; /* the stock was changed after the moment of the sums */
    report = run(shop, false);
    assert_int_equal(report->found, 0);
    assert_int_equal(report->skipped, 1);
}

/* ---- a database that lags ---- */

static void a_database_behind_the_log_is_waited_for_before_anybody_is_accused(void **state)
{
    struct shop *shop = *state;
    shop->tickets[2].detail = TICKET_SOLD;
    log_end_set(shop, 60); /* the record that explains it is not applied yet */
    assert_true(reconcile_begin(shop->reconcile, shop->now_ms, false, false));
    for (int i = 0; i < 100; i++)
        assert_true(turn(shop));
    assert_int_equal(reconcile_report(shop->reconcile)->found, 0);
    shop->position = 60;
    shop->orders[1].order.state = ORDER_PAID;
    shop->orders[1].payments_paid = 1;
    shop->orders[1].order.version++;
    for (int i = 0; i < 200; i++)
        (void)turn(shop);
    const struct reconcile_report *report = reconcile_report(shop->reconcile);
    assert_int_equal(report->state, RECONCILE_DONE);
    assert_int_equal(report->found, 0);
}

static void a_database_that_never_catches_up_ends_the_run_without_accusing_anybody(void **state)
{
    struct shop *shop = *state;
    shop->tickets[2].detail = TICKET_SOLD;
    log_end_set(shop, 60);
    const uint64_t began_ms = shop->now_ms;
    const struct reconcile_report *report = run(shop, true);
    assert_int_equal(report->state, RECONCILE_FAILED);
    assert_non_null(report->trouble);
    assert_int_equal(shop->repair_count, 0);
    assert_in_range(shop->now_ms - began_ms, RECONCILE_ANSWER_MS, RECONCILE_ANSWER_MS + 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_order_that_was_only_in_motion_is_no_finding),
        TEST(an_order_that_moves_at_every_look_is_skipped_and_not_accused),
        TEST(what_stands_still_and_does_not_fit_is_found_after_two_looks),
        TEST(a_buyer_mark_that_moves_is_no_finding),
        TEST(an_item_that_never_rests_is_skipped_and_not_accused),
        TEST(a_database_behind_the_log_is_waited_for_before_anybody_is_accused),
        TEST(a_database_that_never_catches_up_ends_the_run_without_accusing_anybody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
