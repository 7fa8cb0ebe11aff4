/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: changes that share one commit, kept together or not at all. */
#include "contract/waitlist.h"
#include "tests/seam/store_suite_parts.h"

static struct order_move move_of(ticket_number ticket, enum order_event event, uint64_t amount)
{
    struct order_move move = {
        .ticket = ticket, .event = (uint8_t)event, .now_ms = START_MS + 5, .amount = amount, .currency = "CNY"
    };
    snprintf(move.reference, sizeof move.reference, "p%llu", (unsigned long long)ticket);
    return move;
}

static enum move_answer made(
    struct fixture *f, ticket_number ticket, enum order_event event, uint64_t amount)
{
    const struct order_move move = move_of(ticket, event, amount);
    struct order after;
    uint8_t answer = MOVE_ANSWERS;
    assert_int_equal(ops(f)->orders_move(f->store, &move, 1, &after, &answer), STATUS_OK);
    return (enum move_answer)answer;
}

static void three_wins(struct fixture *f, ticket_number tickets[3])
{
    for (user_id user = 0; user < 3; user++)
        tickets[user] = suite_add_win(f, f->one, 7 + user, 1);
    suite_must_send(f);
}

static void join(struct fixture *f, user_id user)
{
    struct waitlist_place place = { .item = f->one, .user = user, .quantity = 1, .joined_ms = START_MS };
    uint8_t answer = JOIN_FULL;
    assert_int_equal(ops(f)->waitlist->join(f->store, &place, 10, &answer), STATUS_OK);
    assert_int_equal(answer, JOIN_DONE);
}

static bool waits(struct fixture *f, user_id user)
{
    struct waitlist_place place = { 0 };
    const enum status status = ops(f)->waitlist->place(f->store, f->one, user, &place);
    return status == STATUS_OK && place.state == PLACE_WAITING;
}

static void a_group_is_there_as_a_whole_once_it_has_ended(void **state)
{
    struct fixture *f = *state;
    ticket_number tickets[3];
    three_wins(f, tickets);
    ops(f)->group_begin(f->store);
    assert_int_equal(made(f, tickets[0], ORDER_EVENT_PAY, FLASH_PRICE), MOVE_DONE);
    assert_true(ops(f)->group_is_open(f->store));
    assert_int_equal(made(f, tickets[1], ORDER_EVENT_CANCEL, 0), MOVE_DONE);
    join(f, 99);
    assert_int_equal(suite_order_of(f, tickets[0]).state, ORDER_PAID); /* its own changes are seen */
    assert_int_equal(ops(f)->group_end(f->store), STATUS_OK);
    assert_false(ops(f)->group_is_open(f->store));
    suite_restart(f);
    assert_int_equal(suite_order_of(f, tickets[0]).state, ORDER_PAID);
    assert_int_equal(suite_order_of(f, tickets[1]).state, ORDER_CLOSED);
    assert_int_equal(suite_order_of(f, tickets[2]).state, ORDER_PENDING);
    assert_true(waits(f, 99));
    suite_check_accounting(f, f->one, 0);
}

static void nothing_of_a_group_is_there_after_a_crash_before_its_end(void **state)
{
    struct fixture *f = *state;
    ticket_number tickets[3];
    struct stock_event events[4];
    three_wins(f, tickets);
    ops(f)->group_begin(f->store);
    assert_int_equal(made(f, tickets[0], ORDER_EVENT_PAY, FLASH_PRICE), MOVE_DONE);
    assert_int_equal(made(f, tickets[1], ORDER_EVENT_CANCEL, 0), MOVE_DONE);
    join(f, 99);
    suite_restart(f);
    for (int i = 0; i < 3; i++)
        assert_int_equal(suite_order_of(f, tickets[i]).state, ORDER_PENDING);
    assert_int_equal(suite_open_events(f, events, 4), 0);
    assert_false(waits(f, 99));
    assert_false(ops(f)->group_is_open(f->store));
    suite_check_accounting(f, f->one, 0);
}

static void a_part_that_is_refused_takes_back_only_itself(void **state)
{
    struct fixture *f = *state;
    ticket_number tickets[3];
    three_wins(f, tickets);
    ops(f)->group_begin(f->store);
    assert_int_equal(made(f, tickets[0], ORDER_EVENT_PAY, FLASH_PRICE), MOVE_DONE);
    assert_int_equal(made(f, tickets[1], ORDER_EVENT_PAY, FLASH_PRICE + 1), MOVE_AMOUNT);
    assert_int_equal(made(f, tickets[0], ORDER_EVENT_CANCEL, 0), MOVE_REFUSED);
    const ticket_number good = suite_add_win(f, f->one, 50, 1);
    suite_add_win(f, 99, 51, 1); /* there is no such item: neither of the two is written */
    assert_int_equal(suite_send(f), STATUS_REFUSED);
    assert_int_equal(made(f, tickets[2], ORDER_EVENT_CANCEL, 0), MOVE_DONE);
    assert_int_equal(ops(f)->group_end(f->store), STATUS_OK);
    suite_restart(f);
    assert_int_equal(suite_order_of(f, tickets[0]).state, ORDER_PAID);
    assert_int_equal(suite_order_of(f, tickets[1]).state, ORDER_PENDING);
    assert_int_equal(suite_order_of(f, tickets[2]).state, ORDER_CLOSED);
    assert_false(suite_has_order(f, good));
    suite_check_accounting(f, f->one, 0);
}

static void a_group_follows_another_and_an_empty_one_is_no_trouble(void **state)
{
    struct fixture *f = *state;
    ticket_number tickets[3];
    three_wins(f, tickets);
    assert_int_equal(ops(f)->group_end(f->store), STATUS_OK); /* there is none */
    for (int i = 0; i < 2; i++) {
        ops(f)->group_begin(f->store);
        ops(f)->group_begin(f->store); /* the next job of the same group */
        assert_int_equal(made(f, tickets[i], ORDER_EVENT_PAY, FLASH_PRICE), MOVE_DONE);
        assert_int_equal(ops(f)->group_end(f->store), STATUS_OK);
        ops(f)->group_begin(f->store);
        assert_int_equal(suite_order_of(f, tickets[i]).state, ORDER_PAID);
        assert_int_equal(ops(f)->group_end(f->store), STATUS_OK);
    }
    assert_int_equal(made(f, tickets[2], ORDER_EVENT_CANCEL, 0), MOVE_DONE); /* alone: kept at once */
    suite_restart(f);
    assert_int_equal(suite_order_of(f, tickets[0]).state, ORDER_PAID);
    assert_int_equal(suite_order_of(f, tickets[1]).state, ORDER_PAID);
    assert_int_equal(suite_order_of(f, tickets[2]).state, ORDER_CLOSED);
}

int suite_run_groups(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(a_group_is_there_as_a_whole_once_it_has_ended),
        SUITE_RULE(nothing_of_a_group_is_there_after_a_crash_before_its_end),
        SUITE_RULE(a_part_that_is_refused_takes_back_only_itself),
        SUITE_RULE(a_group_follows_another_and_an_empty_one_is_no_trouble),
    };
    return cmocka_run_group_tests_name("order store: groups", rules, NULL, NULL);
}
