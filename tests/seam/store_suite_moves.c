/* SPDX-License-Identifier: Apache-2.0 */
/* Moves: paid, expired, cancelled, refunded; who comes second, and what the log confirms. */
#include "tests/seam/store_suite_parts.h"

static const struct order_move nothing;

static struct order_move pay(ticket_number ticket, uint64_t amount, const char *reference)
{
    struct order_move move = nothing;
    move.ticket = ticket;
    move.event = ORDER_EVENT_PAY;
    move.now_ms = START_MS + 5;
    move.amount = amount;
    snprintf(move.currency, sizeof move.currency, "CNY");
    snprintf(move.reference, sizeof move.reference, "%s", reference);
    return move;
}

static struct order_move other(ticket_number ticket, enum order_event event)
{
    struct order_move move = nothing;
    move.ticket = ticket;
    move.event = (uint8_t)event;
    move.now_ms = START_MS + 10 * WINDOW_MS; /* long due */
    return move;
}

static enum move_answer made(struct fixture *f, struct order_move move, struct order *after)
{
    uint8_t answer = MOVE_ANSWERS;
    assert_int_equal(ops(f)->orders_move(f->store, &move, 1, after, &answer), STATUS_OK);
    if (answer != MOVE_UNKNOWN) {
        const struct order stored = suite_order_of(f, move.ticket);
        assert_int_equal(after->state, stored.state);
        assert_int_equal(after->reason, stored.reason);
        assert_int_equal(after->version, stored.version);
    }
    suite_check_accounting(f, f->one, 0);
    suite_check_accounting(f, f->many, 0);
    return (enum move_answer)answer;
}

static ticket_number pending(struct fixture *f, item_id item, user_id user, uint32_t quantity)
{
    const ticket_number ticket = suite_add_win(f, item, user, quantity);
    f->records[f->count - 1].command.reserve.channel = 2;
    suite_must_send(f);
    return ticket;
}

/* The engine has done it: the record confirms, and nothing else changes but the channels. */
static void confirm(struct fixture *f, ticket_number ticket, enum settle_step step)
{
    const struct order before = suite_order_of(f, ticket);
    const struct item stock = suite_item_of(f, before.item);
    suite_add_settle(f, ticket, step)->command.settle.to = before.channel;
    suite_must_send(f);
    const struct order after = suite_order_of(f, ticket);
    assert_int_equal(after.state, before.state);
    assert_int_equal(after.reason, before.reason);
    assert_int_equal(after.version, before.version);
    assert_int_equal(suite_item_of(f, before.item).sold, stock.sold);
    assert_int_equal(suite_item_of(f, before.item).locked, stock.locked);
    suite_check_accounting(f, before.item, 0);
}

static struct stock_event only_event(struct fixture *f)
{
    struct stock_event events[4];
    assert_int_equal(suite_open_events(f, events, 4), 1);
    return events[0];
}

static void a_payment_makes_the_order_paid_and_its_unit_sold(void **state)
{
    struct fixture *f = *state;
    struct order after;
    const ticket_number ticket = pending(f, f->many, 7, 2);
    assert_int_equal(made(f, pay(ticket, 2 * FLASH_PRICE, "p1"), &after), MOVE_DONE);
    assert_int_equal(after.state, ORDER_PAID);
    assert_int_equal(after.reason, REASON_NONE);
    assert_int_equal(after.version, 2);
    assert_int_equal(suite_item_of(f, f->many).sold, 2);
    const struct stock_event event = only_event(f);
    assert_int_equal(event.settle.ticket, ticket);
    assert_int_equal(event.settle.step, SETTLE_SOLD);
    confirm(f, ticket, SETTLE_SOLD);
    assert_int_equal(suite_open_events(f, &(struct stock_event){ 0 }, 1), 0);
}

static void another_amount_or_currency_pays_nothing(void **state)
{
    struct fixture *f = *state;
    struct order after;
    const ticket_number ticket = pending(f, f->many, 7, 2);
    assert_int_equal(made(f, pay(ticket, 2 * FLASH_PRICE - 1, "p1"), &after), MOVE_AMOUNT);
    assert_int_equal(made(f, pay(ticket, 2 * FLASH_PRICE + 1, "p1"), &after), MOVE_AMOUNT);
    struct order_move dollars = pay(ticket, 2 * FLASH_PRICE, "p1");
    snprintf(dollars.currency, sizeof dollars.currency, "USD");
    assert_int_equal(made(f, dollars, &after), MOVE_AMOUNT);
    assert_int_equal(after.state, ORDER_PENDING);
    assert_int_equal(after.version, 1);
    assert_int_equal(suite_open_events(f, &(struct stock_event){ 0 }, 1), 0);
    assert_int_equal(made(f, pay(ticket, 2 * FLASH_PRICE, "p1"), &after), MOVE_DONE);
    assert_int_equal(made(f, dollars, &after), MOVE_AMOUNT);
}

static void the_same_payment_twice_is_one_and_another_one_is_refused(void **state)
{
    struct fixture *f = *state;
    struct order after;
    const ticket_number ticket = pending(f, f->one, 7, 1), second = pending(f, f->one, 8, 1);
    assert_int_equal(made(f, pay(ticket, FLASH_PRICE, "p1"), &after), MOVE_DONE);
    assert_int_equal(made(f, pay(ticket, FLASH_PRICE, "p1"), &after), MOVE_REPEATED);
    assert_int_equal(after.version, 2);
    assert_int_equal(made(f, pay(ticket, FLASH_PRICE, "p2"), &after), MOVE_REFUSED);
    assert_int_equal(after.state, ORDER_PAID);
    assert_int_equal(made(f, pay(second, FLASH_PRICE, "p1"), &after), MOVE_REFERENCE_USED);
    assert_int_equal(after.state, ORDER_PENDING);
    assert_int_equal(made(f, pay(second, FLASH_PRICE, "p2"), &after), MOVE_DONE);
    assert_int_equal(made(f, pay(ticket + 99, FLASH_PRICE, "p3"), &after), MOVE_UNKNOWN);
}

static void an_order_expires_at_its_deadline_and_never_before(void **state)
{
    struct fixture *f = *state;
    struct order after;
    const ticket_number ticket = pending(f, f->one, 7, 1);
    struct order_move expire = other(ticket, ORDER_EVENT_EXPIRE);
    expire.now_ms = suite_order_of(f, ticket).pay_by_ms - 1;
    assert_int_equal(made(f, expire, &after), MOVE_EARLY);
    assert_int_equal(after.state, ORDER_PENDING);
    expire.now_ms++;
    assert_int_equal(made(f, expire, &after), MOVE_DONE);
    assert_int_equal(after.state, ORDER_CLOSED);
    assert_int_equal(after.reason, REASON_EXPIRED);
    const struct stock_event event = only_event(f);
    assert_int_equal(event.settle.step, SETTLE_RETURN);
    assert_true(event.settle.let_go);
    assert_int_equal(event.settle.to, 2);
    assert_int_equal(suite_item_of(f, f->one).sold, 0);
    assert_int_equal(made(f, other(ticket, ORDER_EVENT_EXPIRE), &after), MOVE_REPEATED);
    assert_int_equal(made(f, other(ticket, ORDER_EVENT_CANCEL), &after), MOVE_REFUSED);
    confirm(f, ticket, SETTLE_RETURN);
    pending(f, f->one, 7, 1); /* the user may buy again */
}

static void paid_beats_the_timer_and_the_timer_beats_late_money(void **state)
{
    struct fixture *f = *state;
    struct order after;
    const ticket_number first = pending(f, f->one, 7, 1), second = pending(f, f->one, 8, 1);
    assert_int_equal(made(f, pay(first, FLASH_PRICE, "p1"), &after), MOVE_DONE);
    assert_int_equal(made(f, other(first, ORDER_EVENT_EXPIRE), &after), MOVE_REFUSED);
    assert_int_equal(after.state, ORDER_PAID);
    assert_int_equal(made(f, other(first, ORDER_EVENT_CANCEL), &after), MOVE_REFUSED);
    assert_int_equal(made(f, other(second, ORDER_EVENT_EXPIRE), &after), MOVE_DONE);
    assert_int_equal(made(f, pay(second, FLASH_PRICE, "p2"), &after), MOVE_REFUSED);
    assert_int_equal(after.state, ORDER_CLOSED);
    assert_int_equal(after.reason, REASON_EXPIRED);
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
}

static void both_in_one_transaction_and_the_first_one_wins(void **state)
{
    struct fixture *f = *state;
    const ticket_number first = pending(f, f->one, 7, 1), second = pending(f, f->one, 8, 1);
    const struct order_move moves[] = { pay(first, FLASH_PRICE, "p1"),
        other(first, ORDER_EVENT_EXPIRE), other(second, ORDER_EVENT_EXPIRE),
        pay(second, FLASH_PRICE, "p2"), other(second, ORDER_EVENT_CANCEL) };
    struct order after[5];
    uint8_t answers[5];
    assert_int_equal(ops(f)->orders_move(f->store, moves, 5, after, answers), STATUS_OK);
    static const uint8_t expected[] = { MOVE_DONE, MOVE_REFUSED, MOVE_DONE, MOVE_REFUSED, MOVE_REFUSED };
    assert_memory_equal(answers, expected, 5);
    assert_int_equal(after[1].state, ORDER_PAID);
    assert_int_equal(after[4].reason, REASON_EXPIRED);
    assert_int_equal(suite_item_of(f, f->one).sold, 1);
    suite_check_accounting(f, f->one, 0);
}

static void a_cancelled_order_gives_back_slot_counters_and_units_once(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct stock_event events[4];
    const ticket_number one = pending(f, f->one, 7, 1), many = pending(f, f->many, 7, 3);
    assert_int_equal(made(f, other(one, ORDER_EVENT_CANCEL), &after), MOVE_DONE);
    assert_int_equal(after.reason, REASON_CANCELLED);
    assert_int_equal(made(f, other(one, ORDER_EVENT_CANCEL), &after), MOVE_REPEATED);
    assert_int_equal(made(f, other(many, ORDER_EVENT_CANCEL), &after), MOVE_DONE);
    assert_int_equal(suite_open_events(f, events, 4), 2);
    confirm(f, one, SETTLE_RETURN);
    confirm(f, many, SETTLE_RETURN);
    pending(f, f->one, 7, 1);
    pending(f, f->many, 7, 3); /* up to the limit again */
    assert_int_equal(suite_item_of(f, f->many).sold, 3);
}

static void a_refund_returns_the_unit_to_where_it_is_told(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct stock_event events[8];
    ticket_number tickets[3];
    static const uint8_t steps[] = { SETTLE_RETURN, SETTLE_RETURN, SETTLE_WRITE_OFF };
    static const channel_index places[] = { 2, CHANNEL_SAFETY, 2 };
    for (uint8_t i = 0; i < 3; i++) {
        char reference[] = { 'p', (char)('0' + i), 0 };
        tickets[i] = pending(f, f->one, 7u + i, 1);
        struct order_move refund = other(tickets[i], ORDER_EVENT_REFUND);
        refund.refund_to = i;
        assert_int_equal(made(f, refund, &after), MOVE_REFUSED); /* not paid */
        assert_int_equal(made(f, pay(tickets[i], FLASH_PRICE, reference), &after), MOVE_DONE);
        assert_int_equal(made(f, refund, &after), MOVE_DONE);
        assert_int_equal(after.state, ORDER_REFUNDED);
        assert_int_equal(after.version, 3);
        assert_int_equal(made(f, refund, &after), MOVE_REPEATED);
        assert_int_equal(suite_open_events(f, events, 8), 2);
        assert_int_equal(events[0].settle.step, SETTLE_SOLD);
        assert_int_equal(events[1].settle.step, steps[i]);
        assert_false(events[1].settle.let_go); /* it was paid */
        assert_int_equal(events[1].settle.to, places[i]);
        confirm(f, tickets[i], SETTLE_SOLD);
        confirm(f, tickets[i], (enum settle_step)steps[i]);
        assert_int_equal(suite_open_events(f, events, 8), 0);
    }
    assert_int_equal(suite_item_of(f, f->one).sold, 0);
    assert_int_equal(suite_item_of(f, f->one).locked, 1); /* written off */
}

static void a_return_in_the_log_ends_the_sold_event_of_its_ticket(void **state)
{
    struct fixture *f = *state;
    struct order after;
    const ticket_number ticket = pending(f, f->one, 7, 1);
    assert_int_equal(made(f, pay(ticket, FLASH_PRICE, "p1"), &after), MOVE_DONE);
    suite_add_settle(f, ticket, SETTLE_RETURN); /* the inventory was told so before */
    suite_must_send(f);
    assert_int_equal(suite_order_of(f, ticket).state, ORDER_REFUNDED);
    assert_int_equal(suite_open_events(f, &(struct stock_event){ 0 }, 1), 0);
    suite_check_accounting(f, f->one, 0);
}

static void a_move_after_the_log_has_settled_is_refused(void **state)
{
    struct fixture *f = *state;
    struct order after;
    const ticket_number sold = pending(f, f->one, 7, 1), back = pending(f, f->one, 8, 1);
    suite_add_settle(f, sold, SETTLE_SOLD);
    suite_add_settle(f, back, SETTLE_RETURN);
    suite_must_send(f);
    assert_int_equal(made(f, other(sold, ORDER_EVENT_EXPIRE), &after), MOVE_REFUSED);
    assert_int_equal(made(f, pay(back, FLASH_PRICE, "p1"), &after), MOVE_REFUSED);
    assert_int_equal(after.state, ORDER_CLOSED);
    assert_int_equal(suite_open_events(f, &(struct stock_event){ 0 }, 1), 0);
}

static void a_restart_keeps_moves_payments_and_open_events(void **state)
{
    struct fixture *f = *state;
    struct order after;
    struct stock_event events[4];
    const ticket_number paid = pending(f, f->one, 7, 1), closed = pending(f, f->one, 8, 1);
    assert_int_equal(made(f, pay(paid, FLASH_PRICE, "p1"), &after), MOVE_DONE);
    assert_int_equal(made(f, other(closed, ORDER_EVENT_EXPIRE), &after), MOVE_DONE);
    suite_restart(f);
    assert_int_equal(suite_open_events(f, events, 4), 2);
    assert_int_equal(made(f, pay(paid, FLASH_PRICE, "p1"), &after), MOVE_REPEATED);
    assert_int_equal(made(f, other(closed, ORDER_EVENT_EXPIRE), &after), MOVE_REPEATED);
    confirm(f, paid, SETTLE_SOLD);
    confirm(f, closed, SETTLE_RETURN);
    assert_int_equal(suite_open_events(f, events, 4), 0);
}

static void only_pending_orders_are_due_the_earliest_first(void **state)
{
    struct fixture *f = *state;
    struct order after;
    ticket_number tickets[4], due[4];
    uint32_t count;
    uint64_t next_ms;
    const uint64_t base_ms = START_MS + 1;
    for (uint32_t i = 0; i < 4; i++) {
        tickets[i] = suite_add_win(f, f->one, 7 + i, 1);
        f->records[i].command.time_ms = base_ms + i;
        f->records[i].outcome.pay_by_ms = base_ms + 100 - 10 * i;
    }
    suite_must_send(f);
    assert_int_equal(made(f, pay(tickets[2], FLASH_PRICE, "p1"), &after), MOVE_DONE);
    assert_int_equal(ops(f)->orders_due(f->store, base_ms + 69, 0, due, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(next_ms, base_ms + 70);
    assert_int_equal(ops(f)->orders_due(f->store, base_ms + 90, 0, due, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(due[0], tickets[3]);
    assert_int_equal(due[1], tickets[1]);
    assert_int_equal(next_ms, base_ms + 100);
    assert_int_equal(
        ops(f)->orders_due(f->store, base_ms + 900, base_ms + 1, due, 1, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 1);
    assert_int_equal(
        ops(f)->orders_due(f->store, base_ms + 900, base_ms + 1, due, 4, &count, &next_ms), STATUS_OK);
    assert_int_equal(count, 2);
    assert_true(next_ms == UINT64_MAX);
}

int suite_run_moves(void)
{
    const struct CMUnitTest rules[] = {
        SUITE_RULE(a_payment_makes_the_order_paid_and_its_unit_sold),
        SUITE_RULE(another_amount_or_currency_pays_nothing),
        SUITE_RULE(the_same_payment_twice_is_one_and_another_one_is_refused),
        SUITE_RULE(an_order_expires_at_its_deadline_and_never_before),
        SUITE_RULE(paid_beats_the_timer_and_the_timer_beats_late_money),
        SUITE_RULE(both_in_one_transaction_and_the_first_one_wins),
        SUITE_RULE(a_cancelled_order_gives_back_slot_counters_and_units_once),
        SUITE_RULE(a_refund_returns_the_unit_to_where_it_is_told),
        SUITE_RULE(a_return_in_the_log_ends_the_sold_event_of_its_ticket),
        SUITE_RULE(a_move_after_the_log_has_settled_is_refused),
        SUITE_RULE(a_restart_keeps_moves_payments_and_open_events),
        SUITE_RULE(only_pending_orders_are_due_the_earliest_first),
    };
    return cmocka_run_group_tests_name("order store: moves", rules, NULL, NULL);
}
