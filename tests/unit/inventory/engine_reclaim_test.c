/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/engine_apply.h"

#include "tests/unit/inventory/engine_kit.h"

enum { LATER = 10 * SALE_END };

static struct kit kit;

static enum answer reclaim(uint64_t before_ms, uint32_t from, uint32_t rows)
{
    const struct command command = { .type = COMMAND_RECLAIM,
        .reclaim = { .before_ms = before_ms, .from = from, .rows = rows } };
    return kit_do(&kit, command, LATER);
}

static enum answer ask_ticket(ticket_number ticket)
{
    return kit_do(
        &kit, (struct command){ .type = COMMAND_ASK_TICKET, .ask = { .ticket = ticket } }, LATER);
}

/* Late money: after the end. */
static enum answer buy_late(user_id user, uint64_t key)
{
    const struct command command = { .type = COMMAND_RESERVE,
        .reserve = { .user = user, .key = key, .item = 1, .quantity = 1, .flags = RESERVE_AFTER_END } };
    return kit_do(&kit, command, LATER);
}

/* 1 held, 2 sold, 3 returned, 4 written off, 5 returned after it was sold. */
static void one_of_each(void)
{
    for (user_id user = 1; user <= 5; user++)
        assert_int_equal(kit_buy(&kit, user, 100 + user, 1), ANSWER_WON);
    assert_int_equal(kit_settle(&kit, 2, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 3, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 4, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 4, SETTLE_WRITE_OFF), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 5, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 5, SETTLE_RETURN), ANSWER_DONE);
}

static void only_returned_tickets_of_a_past_sale_are_forgotten(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    one_of_each();
    kit_expect_same(&kit, assert_int_equal(reclaim(SALE_END - 1, 0, RECLAIM_ROWS_MAX), ANSWER_UNCHANGED));
    assert_int_equal(reclaim(SALE_END, 0, RECLAIM_ROWS_MAX), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 2);
    assert_int_equal(kit.out.number, 0);
    assert_int_equal(tickets_used(&kit.engine.tickets), 3);
    kit_expect_same(&kit, assert_int_equal(ask_ticket(3), ANSWER_FORGOTTEN));
    assert_int_equal(kit.out.ticket, 3);
    assert_int_equal(kit.out.user, 0);
    assert_int_equal(ask_ticket(5), ANSWER_FORGOTTEN);
    assert_int_equal(ask_ticket(2), ANSWER_FOUND);
    assert_int_equal(ask_ticket(6), ANSWER_UNKNOWN_TICKET);
    kit_expect_same(&kit, assert_int_equal(reclaim(LATER, 0, RECLAIM_ROWS_MAX), ANSWER_UNCHANGED));
    kit_stop(&kit);
}

static void what_was_won_after_the_end_is_kept_until_its_time_to_pay_is_over(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(buy_late(ANNA, 9), ANSWER_WON);
    assert_int_equal(kit_settle(&kit, 1, SETTLE_RETURN), ANSWER_DONE);
    const struct command command = { .type = COMMAND_RECLAIM,
        .reclaim = { .before_ms = LATER + PAY_WINDOW - 1, .rows = 1 } };
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, LATER + PAY_WINDOW), ANSWER_UNCHANGED));
    kit_stop(&kit);
}

static void a_number_is_given_once_and_a_forgotten_key_buys_anew(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    one_of_each();
    assert_int_equal(buy_late(3, 103), ANSWER_REPEATED);
    assert_int_equal(reclaim(LATER, 0, RECLAIM_ROWS_MAX), ANSWER_DONE);
    assert_int_equal(buy_late(2, 102), ANSWER_REPEATED);
    assert_int_equal(buy_late(3, 103), ANSWER_WON);
    assert_int_equal(kit.out.ticket, 6);
    assert_int_equal(buy_late(3, 103), ANSWER_REPEATED);
    assert_int_equal(kit.out.ticket, 6);
    assert_int_equal(ask_ticket(3), ANSWER_FORGOTTEN);
    assert_int_equal(ask_ticket(6), ANSWER_FOUND);
    assert_int_equal(kit_settle(&kit, 6, SETTLE_SOLD), ANSWER_DONE);
    kit_stop(&kit);
}

static void a_forgotten_ticket_was_returned_and_no_step_is_taken_twice(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    one_of_each();
    assert_int_equal(reclaim(LATER, 0, RECLAIM_ROWS_MAX), ANSWER_DONE);
    const uint32_t free_units = kit_free(&kit, 0);
    kit_expect_same(&kit, assert_int_equal(kit_settle(&kit, 3, SETTLE_RETURN), ANSWER_UNCHANGED));
    kit_expect_same(&kit, assert_int_equal(kit_settle(&kit, 3, SETTLE_SOLD), ANSWER_CONFLICT));
    kit_expect_same(&kit, assert_int_equal(kit_settle(&kit, 5, SETTLE_WRITE_OFF), ANSWER_CONFLICT));
    kit_expect_same(&kit, assert_int_equal(kit_settle(&kit, 9, SETTLE_RETURN), ANSWER_UNKNOWN_TICKET));
    assert_int_equal(kit_free(&kit, 0), free_units);
    kit_stop(&kit);
}

static void who_has_nothing_left_is_counted_no_more(void **state)
{
    (void)state;
    kit_ready(&kit, 5, 5);
    assert_int_equal(kit_buy(&kit, ANNA, 1, 1), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, BERT, 2, 1), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, BERT, 3, 2), ANSWER_WON);
    assert_int_equal(kit_settle(&kit, 1, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 3, SETTLE_RETURN), ANSWER_DONE);
    const uint64_t room = buyers_room(&kit.engine.buyers);
    assert_int_equal(reclaim(LATER, 0, RECLAIM_ROWS_MAX), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 2);
    assert_int_equal(buyers_room(&kit.engine.buyers), room + 2); /* of the item and of the sale */
    assert_null(buyers_find(&kit.engine.buyers, buyers_scope_item(1), ANNA));
    assert_int_equal(buyers_find(&kit.engine.buyers, buyers_scope_item(1), BERT)->used, 1);
    assert_int_equal(buyers_find(&kit.engine.buyers, buyers_scope_sale(1), BERT)->used, 1);
    kit_stop(&kit);
}

static void a_command_looks_at_its_rows_only_and_says_where_to_go_on(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    for (uint32_t i = 1; i <= 10; i++) {
        assert_int_equal(kit_buy(&kit, i, i, 1), ANSWER_WON);
        assert_int_equal(kit_settle(&kit, i, SETTLE_RETURN), ANSWER_DONE);
    }
    assert_int_equal(reclaim(LATER, 0, 4), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 4);
    assert_int_equal(kit.out.number, 4);
    assert_int_equal(reclaim(LATER, 4, 6), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 6);
    assert_int_equal(kit.out.number, 0);
    assert_int_equal(tickets_used(&kit.engine.tickets), 0);
    kit_expect_same(&kit, assert_int_equal(reclaim(LATER, 99, 4), ANSWER_UNCHANGED));
    assert_int_equal(kit.out.number, 0);
    kit_expect_same(&kit, assert_int_equal(reclaim(LATER, UINT32_MAX, 4), ANSWER_UNCHANGED));
    kit_stop(&kit);
}

static void the_future_and_too_many_rows_are_refused(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    one_of_each();
    kit_expect_same(&kit, assert_int_equal(reclaim(LATER + 1, 0, 1), ANSWER_CONFLICT));
    kit_expect_same(&kit, assert_int_equal(reclaim(LATER, 0, RECLAIM_ROWS_MAX + 1), ANSWER_CONFLICT));
    kit_expect_same(&kit, assert_int_equal(reclaim(LATER, 0, 0), ANSWER_CONFLICT));
    struct command command = {
        .time_ms = LATER, .type = COMMAND_RECLAIM, .reclaim = { .before_ms = LATER, .rows = 8 }
    };
    kit_expect_same(&kit, engine_apply(&kit.engine, &command, false, &kit.out)); /* no room in the log */
    assert_int_equal(kit.out.answer, ANSWER_UNAVAILABLE);
    kit_stop(&kit);
}

static void a_full_table_sells_again(void **state)
{
    (void)state;
    kit_start(&kit, 4);
    assert_int_equal(kit_sale(&kit, 0, false), ANSWER_DONE);
    assert_int_equal(kit_preheat(&kit, 1, 0), ANSWER_DONE);
    for (uint32_t i = 1; i <= 4; i++) {
        assert_int_equal(kit_buy(&kit, i, i, 1), ANSWER_WON);
        assert_int_equal(kit_settle(&kit, i, SETTLE_RETURN), ANSWER_DONE);
    }
    assert_int_equal(buy_late(ANNA, 50), ANSWER_UNAVAILABLE);
    assert_true(engine_full(&kit.engine));
    assert_int_equal(reclaim(LATER, 1, 2), ANSWER_DONE);
    assert_int_equal(buy_late(ANNA, 50), ANSWER_WON);
    assert_int_equal(kit.out.ticket, 5);
    assert_int_equal(buy_late(BERT, 51), ANSWER_WON);
    assert_int_equal(buy_late(CLEO, 52), ANSWER_UNAVAILABLE);
    assert_int_equal(ask_ticket(5), ANSWER_FOUND);
    assert_int_equal(kit.out.user, ANNA);
    assert_int_equal(ask_ticket(1), ANSWER_FOUND);
    kit_stop(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_returned_tickets_of_a_past_sale_are_forgotten),
        cmocka_unit_test(what_was_won_after_the_end_is_kept_until_its_time_to_pay_is_over),
        cmocka_unit_test(a_number_is_given_once_and_a_forgotten_key_buys_anew),
        cmocka_unit_test(a_forgotten_ticket_was_returned_and_no_step_is_taken_twice),
        cmocka_unit_test(who_has_nothing_left_is_counted_no_more),
        cmocka_unit_test(a_command_looks_at_its_rows_only_and_says_where_to_go_on),
        cmocka_unit_test(the_future_and_too_many_rows_are_refused),
        cmocka_unit_test(a_full_table_sells_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
