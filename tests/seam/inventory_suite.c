/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/inventory_suite.h"

#include "tests/unit/base/unit.h"

enum { START = 1000, NOW = 1500, END = 4000, PRICE = 250, ANNA = 11, BERT = 12, CLEO = 13 };

static const struct inventory_suite_maker *maker;
static void *made;
static uint64_t tags;

/* ---- asking ---- */

static struct inventory_port *port_of(uint32_t index)
{
    struct inventory *inventory = maker->inventory(made);
    return inventory->ops->port(inventory, index, NULL);
}

static struct outcome ask_on(uint32_t index, struct command command, uint64_t now_ms)
{
    struct inventory_port *port = port_of(index);
    struct inventory_request *request = port->ops->reserve(port);
    assert_non_null(request);
    *request = (struct inventory_request){ .tag = ++tags, .command = command };
    port->ops->commit(port);
    port->ops->flush(port);
    maker->run(made, now_ms);
    const struct inventory_answer *answer = port->ops->collect(port);
    assert_non_null(answer);
    assert_int_equal(answer->tag, tags);
    const struct outcome outcome = answer->outcome;
    assert_null(port->ops->collect(port));
    return outcome;
}

static enum answer ask(struct command command, uint64_t now_ms)
{
    return ask_on(0, command, now_ms).answer;
}

static struct command reserve(user_id user, uint64_t key, uint32_t quantity)
{
    return (struct command){ .type = COMMAND_RESERVE,
        .reserve = { .user = user, .key = key, .item = 1, .quantity = quantity } };
}

static enum answer buy(user_id user, uint64_t key, uint32_t quantity)
{
    return ask(reserve(user, key, quantity), NOW);
}

/* Numbers of tickets are the inventory's own: a test knows those that it was told. */
static ticket_number win(user_id user, uint64_t key, uint32_t quantity)
{
    const struct outcome out = ask_on(0, reserve(user, key, quantity), NOW);
    assert_int_equal(out.answer, ANSWER_WON);
    assert_int_not_equal(out.ticket, 0);
    return out.ticket;
}

static enum answer settle(ticket_number ticket, enum settle_step step)
{
    return ask((struct command){ .type = COMMAND_SETTLE,
                   .settle = { .ticket = ticket, .step = (uint8_t)step } },
        NOW);
}

static struct outcome look_at(ticket_number ticket)
{
    return ask_on(1, (struct command){ .type = COMMAND_ASK_TICKET, .ask = { .ticket = ticket } }, NOW);
}

static uint32_t free_units(void)
{
    const struct outcome out =
        ask_on(1, (struct command){ .type = COMMAND_ASK_COUNTS, .ask = { .item = 1 } }, NOW);
    assert_int_equal(out.answer, ANSWER_FOUND);
    return out.free;
}

static struct command preheat(uint32_t units, uint32_t limit)
{
    return (struct command){ .type = COMMAND_PREHEAT,
        .preheat = { .item = 1,
            .sale = 1,
            .unit_price = PRICE,
            .limit_per_user = limit,
            .pay_window_ms = 100,
            .total = units,
            .channel_units = { units } } };
}

static void sale(uint32_t units, uint32_t limit, bool eligible_only)
{
    const struct command command = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = START, .end_ms = END, .eligible_only = eligible_only } };
    assert_int_equal(ask(command, 1), ANSWER_DONE);
    assert_int_equal(ask(preheat(units, limit), 1), ANSWER_DONE);
}

static int setup(void **state)
{
    (void)state;
    made = maker->open();
    tags = 0;
    return made == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    maker->close(made);
    return 0;
}

/* ---- the rules ---- */

static void the_last_unit_sells_once_whoever_asks_on_whatever_port(void **state)
{
    (void)state;
    sale(3, 0, false);
    const struct outcome won = ask_on(0, reserve(ANNA, 0, 2), NOW);
    assert_int_equal(won.answer, ANSWER_WON);
    assert_int_equal(won.unit_price, PRICE);
    assert_int_equal(won.pay_by_ms, NOW + 100);
    assert_int_equal(ask_on(1, reserve(BERT, 0, 2), NOW).answer, ANSWER_SOLD_OUT);
    assert_int_equal(ask_on(1, reserve(BERT, 0, 1), NOW).answer, ANSWER_WON);
    assert_int_equal(ask_on(0, reserve(CLEO, 0, 1), NOW).answer, ANSWER_SOLD_OUT);
    assert_int_equal(free_units(), 0);
}

static void bad_wishes_are_refused_and_change_nothing(void **state)
{
    (void)state;
    sale(3, 0, false);
    assert_int_equal(buy(ANNA, 0, 0), ANSWER_BAD_QUANTITY);
    assert_int_equal(buy(ANNA, 0, QUANTITY_MAX + 1), ANSWER_BAD_QUANTITY);
    assert_int_equal(buy(ANNA, 0, UINT32_MAX), ANSWER_BAD_QUANTITY);
    struct command command = reserve(ANNA, 0, 1);
    command.reserve.channel = CHANNELS_MAX;
    assert_int_equal(ask(command, NOW), ANSWER_BAD_CHANNEL);
    command = reserve(ANNA, 0, 1);
    command.reserve.item = 2;
    assert_int_equal(ask(command, NOW), ANSWER_UNKNOWN_ITEM);
    assert_int_equal(free_units(), 3);
    const ticket_number last = win(ANNA, 0, 1);
    assert_int_equal(settle(last + 1, SETTLE_RETURN), ANSWER_UNKNOWN_TICKET);
    assert_int_equal(settle(0, SETTLE_RETURN), ANSWER_UNKNOWN_TICKET);
    assert_int_equal(free_units(), 2);
}

static void the_window_is_from_start_up_to_but_without_end(void **state)
{
    (void)state;
    sale(3, 0, false);
    assert_int_equal(ask(reserve(ANNA, 0, 1), START - 1), ANSWER_NOT_STARTED);
    assert_int_equal(ask(reserve(ANNA, 0, 1), START), ANSWER_WON);
    assert_int_equal(ask(reserve(ANNA, 0, 1), END - 1), ANSWER_WON);
    assert_int_equal(ask(reserve(ANNA, 0, 1), END), ANSWER_ENDED);
}

static void gates_pause_resume_and_end(void **state)
{
    (void)state;
    struct command gate = { .type = COMMAND_GATE, .gate = { .sale = 1, .move = GATE_MOVE_PAUSE } };
    sale(3, 0, false);
    assert_int_equal(ask(gate, NOW), ANSWER_DONE);
    assert_int_equal(ask(gate, NOW), ANSWER_UNCHANGED);
    assert_int_equal(buy(ANNA, 0, 1), ANSWER_PAUSED);
    gate.gate.move = GATE_MOVE_RESUME;
    assert_int_equal(ask(gate, NOW), ANSWER_DONE);
    assert_int_equal(buy(ANNA, 0, 1), ANSWER_WON);
    gate.gate.move = GATE_MOVE_END;
    assert_int_equal(ask(gate, NOW), ANSWER_DONE);
    assert_int_equal(buy(BERT, 0, 1), ANSWER_ENDED);
}

static void limits_count_units_and_returned_units_leave_them(void **state)
{
    (void)state;
    sale(10, 3, false);
    const ticket_number ticket = win(ANNA, 1, 2);
    const struct outcome over = ask_on(0, reserve(ANNA, 2, 2), NOW);
    assert_int_equal(over.answer, ANSWER_LIMIT_REACHED);
    assert_int_equal(over.ticket, ticket);
    assert_int_equal(settle(ticket, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(buy(ANNA, 3, 3), ANSWER_WON);
}

static void a_limit_of_one_answers_with_the_ticket(void **state)
{
    (void)state;
    sale(10, 1, false);
    const struct outcome won = ask_on(0, reserve(ANNA, 0, 1), NOW);
    const struct outcome again = ask_on(1, reserve(ANNA, 0, 1), NOW);
    assert_int_equal(again.answer, ANSWER_ALREADY_BOUGHT);
    assert_int_equal(again.ticket, won.ticket);
}

static void only_listed_users_buy_where_there_is_a_list(void **state)
{
    (void)state;
    sale(10, 0, true);
    const struct command users = { .type = COMMAND_USERS,
        .users = { .sale = 1, .count = 1, .users = { ANNA } } };
    assert_int_equal(buy(ANNA, 0, 1), ANSWER_NOT_ELIGIBLE);
    assert_int_equal(ask(users, NOW), ANSWER_DONE);
    assert_int_equal(ask(users, NOW), ANSWER_UNCHANGED);
    assert_int_equal(buy(ANNA, 0, 1), ANSWER_WON);
    assert_int_equal(buy(BERT, 0, 1), ANSWER_NOT_ELIGIBLE);
}

static void a_key_has_one_outcome_also_after_a_restart_and_the_last_unit(void **state)
{
    (void)state;
    sale(2, 0, false);
    const uint64_t key = UINT64_C(0x8123456789abcdef);
    const struct outcome won = ask_on(0, reserve(ANNA, key, 2), NOW);
    assert_int_equal(won.answer, ANSWER_WON);
    for (uint32_t life = 0; life < 2; life++) {
        const struct outcome again = ask_on(1, reserve(ANNA, key, 2), NOW);
        assert_int_equal(again.answer, ANSWER_REPEATED);
        assert_int_equal(again.ticket, won.ticket);
        assert_int_equal(again.unit_price, PRICE);
        assert_int_equal(buy(ANNA, key, 1), ANSWER_KEY_REUSED);
        maker->restart(made);
    }
}

static void each_step_of_a_ticket_happens_once(void **state)
{
    (void)state;
    sale(10, 0, false);
    const ticket_number first = win(ANNA, 0, 2), second = win(BERT, 0, 2), third = win(CLEO, 0, 2);
    assert_int_equal(settle(first, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(settle(first, SETTLE_RETURN), ANSWER_UNCHANGED);
    assert_int_equal(settle(first, SETTLE_SOLD), ANSWER_CONFLICT);
    assert_int_equal(free_units(), 6);
    assert_int_equal(settle(second, SETTLE_WRITE_OFF), ANSWER_CONFLICT);
    assert_int_equal(settle(second, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(settle(second, SETTLE_WRITE_OFF), ANSWER_DONE);
    assert_int_equal(settle(second, SETTLE_RETURN), ANSWER_CONFLICT);
    assert_int_equal(settle(third, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(settle(third, SETTLE_SOLD), ANSWER_UNCHANGED);
    assert_int_equal(settle(third, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(free_units(), 8);
}

/* An implementation may have a reason why it can't have this rule. */
static void skip_for(const char *reason)
{
    if (reason == NULL)
        return;
    print_message("skipped: %s\n", reason);
    skip();
}

static void a_returned_ticket_of_a_past_sale_is_forgotten_but_not_its_number(void **state)
{
    (void)state;
    const struct command reclaim = { .type = COMMAND_RECLAIM,
        .reclaim = { .before_ms = END, .rows = RECLAIM_ROWS_MAX } };
    struct command late = reserve(CLEO, 5, 1);
    late.reserve.flags = RESERVE_AFTER_END;
    skip_for(maker->no_reclaim);
    sale(3, 0, false);
    const ticket_number returned = win(ANNA, 5, 1), other = win(BERT, 6, 1);
    assert_int_equal(settle(returned, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(ask(reclaim, END - 1), ANSWER_CONFLICT);
    const struct outcome out = ask_on(1, reclaim, END);
    assert_int_equal(out.answer, ANSWER_DONE);
    assert_int_equal(out.applied, 1);
    assert_int_equal(look_at(returned).answer, ANSWER_FORGOTTEN);
    assert_int_equal(settle(returned, SETTLE_RETURN), ANSWER_UNCHANGED);
    const ticket_number last = ask_on(0, late, END).ticket;
    assert_true(last != returned && last != other);
    maker->restart(made);
    assert_int_equal(look_at(returned).answer, ANSWER_FORGOTTEN);
    assert_int_equal(look_at(other).answer, ANSWER_FOUND);
    assert_int_equal(look_at(last).answer, ANSWER_FOUND);
    assert_int_equal(ask(late, END), ANSWER_REPEATED);
    assert_int_equal(ask(reclaim, END), ANSWER_UNCHANGED);
}

static void a_returned_unit_goes_to_the_waiter_and_to_nobody_else(void **state)
{
    (void)state;
    sale(1, 1, false);
    const ticket_number returned = win(ANNA, 0, 1);
    const struct command command = { .type = COMMAND_SETTLE,
        .settle = {
            .ticket = returned,
            .step = SETTLE_RETURN,
            .waiter_count = 1,
            .waiter_window_ms = 50,
            .waiters = { { BERT, 9, 1 } },
        } };
    const struct outcome out = ask_on(0, command, NOW);
    assert_int_equal(out.answer, ANSWER_DONE);
    assert_true(out.ticket != 0 && out.ticket != returned);
    assert_int_equal(out.pay_by_ms, NOW + 50);
    assert_int_equal(buy(CLEO, 0, 1), ANSWER_SOLD_OUT);
    assert_int_equal(look_at(out.ticket).user, BERT);
}

static void stock_is_added_removed_and_moved_as_far_as_it_is_there(void **state)
{
    (void)state;
    sale(5, 0, false);
    struct outcome out = ask_on(
        0, (struct command){ .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = -7 } }, NOW);
    assert_int_equal(out.answer, ANSWER_DONE);
    assert_int_equal(out.applied, -5);
    assert_int_equal(buy(ANNA, 0, 1), ANSWER_SOLD_OUT);
    out = ask_on(0, (struct command){ .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = 2 } }, NOW);
    assert_int_equal(out.applied, 2);
    out = ask_on(0,
        (struct command){ .type = COMMAND_MOVE, .move = { .item = 1, .from = 0, .to = 2, .quantity = 9 } },
        NOW);
    assert_int_equal(out.applied, 2);
    assert_int_equal(buy(ANNA, 0, 1), ANSWER_SOLD_OUT);
    struct command there = reserve(ANNA, 0, 2);
    there.reserve.channel = 2;
    assert_int_equal(ask(there, NOW), ANSWER_WON);
}

static void preheating_again_changes_nothing(void **state)
{
    (void)state;
    sale(5, 0, false);
    assert_int_equal(buy(ANNA, 0, 2), ANSWER_WON);
    assert_int_equal(ask(preheat(5, 0), NOW), ANSWER_UNCHANGED);
    assert_int_equal(ask(preheat(6, 0), NOW), ANSWER_CONFLICT);
    assert_int_equal(free_units(), 3);
}

static void a_full_port_refuses_and_every_request_gets_one_answer(void **state)
{
    (void)state;
    struct inventory_port *port = port_of(1);
    struct inventory_request *request;
    uint64_t asked = 0, answered = 0;
    sale(40, 0, false);
    while ((request = port->ops->reserve(port)) != NULL) {
        *request = (struct inventory_request){ .tag = asked, .command = reserve(100 + asked, 0, 1) };
        port->ops->commit(port);
        assert_true(++asked <= RING_SLOTS); /* bounded */
    }
    port->ops->flush(port);
    maker->run(made, NOW);
    static bool seen[RING_SLOTS];
    for (uint64_t i = 0; i < asked; i++)
        seen[i] = false;
    const struct inventory_answer *answer;
    while ((answer = port->ops->collect(port)) != NULL) {
        assert_true(answer->tag < asked && !seen[answer->tag]);
        seen[answer->tag] = true;
        answered++;
    }
    assert_int_equal(answered, asked);
    assert_non_null(port->ops->reserve(port));
}

static void what_was_told_is_still_true_after_a_restart(void **state)
{
    (void)state;
    sale(4, 1, false);
    const ticket_number held = win(ANNA, 0, 1), sold = win(BERT, 0, 1), returned = win(CLEO, 0, 1);
    assert_int_equal(settle(sold, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(settle(returned, SETTLE_RETURN), ANSWER_DONE);
    maker->restart(made);
    const struct outcome mine = ask_on(
        0, (struct command){ .type = COMMAND_ASK_MINE, .ask = { .user = ANNA, .item = 1 } }, NOW);
    assert_int_equal(mine.quantity, 1);
    assert_int_equal(mine.ticket, held);
    assert_int_equal(look_at(sold).detail, TICKET_SOLD);
    assert_int_equal(free_units(), 2);
    const ticket_number next = win(CLEO, 0, 1);
    assert_true(next != held && next != sold && next != returned); /* never one that was told */
}

/* ---- what is shown ---- */

static struct board_update shown(void)
{
    struct board_update view;
    assert_true(board_read(maker->inventory(made)->board, 1, &view));
    return view;
}

static uint32_t wins_stopped(void)
{
    return atomic_load(&maker->inventory(made)->board->wins_stopped);
}

static void the_board_shows_what_was_told(void **state)
{
    (void)state;
    struct board_update view;
    const struct command pause = { .type = COMMAND_GATE, .gate = { .sale = 1, .move = GATE_MOVE_PAUSE } };
    assert_false(board_read(maker->inventory(made)->board, 1, &view));
    sale(5, 2, false);
    view = shown();
    assert_true(view.sale == 1 && view.start_ms == START && view.end_ms == END);
    assert_true(view.unit_price == PRICE && view.limit_per_user == 2 && view.gate == GATE_SCHEDULED);
    assert_true(view.counts.channel_free[0] == 5 && view.counts.held == 0);
    assert_int_equal(buy(ANNA, 1, 2), ANSWER_WON);
    assert_int_equal(ask(pause, NOW), ANSWER_DONE);
    for (uint32_t life = 0; life < 2; life++) {
        const struct board *board = maker->inventory(made)->board;
        view = shown();
        assert_true(view.counts.channel_free[0] == 3 && view.counts.held == 2);
        assert_int_equal(view.gate, GATE_PAUSED);
        assert_true(board_may_have_bought(board, 1, ANNA));
        assert_int_equal(board_queued(board, 1, 0), 0);
        assert_int_equal(wins_stopped(), WINS_RUNNING);
        maker->restart(made);
    }
}

static void while_orders_are_too_far_behind_old_answers_and_other_commands_go_on(void **state)
{
    (void)state;
    skip_for(maker->no_hold);
    sale(3, 0, false);
    struct inventory *inventory = maker->inventory(made);
    const ticket_number ticket = win(ANNA, 7, 1);
    inventory->ops->wins_until(inventory, 0);
    maker->run(made, NOW);
    assert_int_equal(wins_stopped(), WINS_RUNNING); /* purchases wait */
    const uint64_t late_ms = NOW + WINS_WAIT_MS;
    assert_int_equal(ask(reserve(BERT, 0, 1), late_ms), ANSWER_UNAVAILABLE);
    assert_int_equal(wins_stopped(), WINS_ORDERS_LAG);
    assert_int_equal(ask(reserve(ANNA, 7, 1), late_ms), ANSWER_REPEATED);
    assert_int_equal(settle(ticket, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(free_units(), 3);
    inventory->ops->wins_until(inventory, UINT64_MAX);
    assert_int_equal(ask(reserve(BERT, 0, 1), late_ms), ANSWER_WON);
    assert_int_equal(wins_stopped(), WINS_RUNNING);
}

/* ---- waiting rooms ---- */

static uint32_t enter(sale_id room, user_id user)
{
    const struct outcome out = ask_on(
        0, (struct command){ .type = COMMAND_ARRIVE, .arrive = { .sale = room, .user = user } }, 1);
    assert_int_equal(out.answer, ANSWER_DONE);
    return out.number;
}

/* Two rooms; people enter by turns: ANNA + i has number i in both. */
static void rooms_fill(uint32_t people)
{
    for (sale_id room = 1; room <= 2; room++)
        assert_int_equal(ask((struct command){ .type = COMMAND_SALE,
                                 .sale = { .sale = room, .start_ms = START, .end_ms = END } },
                             1),
            ANSWER_DONE);
    for (uint32_t i = 0; i < people; i++)
        for (sale_id room = 1; room <= 2; room++)
            assert_int_equal(enter(room, ANNA + i), i);
}

static void whoever_was_told_a_number_is_found_with_it(void **state)
{
    (void)state;
    uint32_t number = 99;
    struct board_room_update room;
    rooms_fill(2);
    assert_int_equal(enter(2, CLEO), 2);
    for (uint32_t life = 0; life < 2; life++) {
        const struct inventory *inventory = maker->inventory(made);
        assert_true(inventory->ops->arrival_find(inventory, 1, BERT, &number));
        assert_int_equal(number, 1);
        assert_true(inventory->ops->arrival_find(inventory, 2, CLEO, &number));
        assert_int_equal(number, 2);
        assert_false(inventory->ops->arrival_find(inventory, 1, CLEO, &number));
        assert_false(inventory->ops->arrival_find(inventory, 2, CLEO + 1, &number));
        assert_true(board_read_room(inventory->board, 2, &room));
        assert_true(room.arrived == 3 && !room.draw_done && room.head == 0);
        maker->restart(made);
    }
}

static void arrivals_come_in_the_order_of_their_numbers_over_restarts_too(void **state)
{
    (void)state;
    enum { PEOPLE = 10, PAGE = 3 };
    struct arrival arrivals[PAGE];
    uint64_t cursor = 0;
    uint32_t next = 0, count;
    rooms_fill(PEOPLE);
    do {
        const struct inventory *inventory = maker->inventory(made);
        uint32_t budget = 1000;
        count = inventory->ops->arrivals(inventory, 2, &cursor, &budget, arrivals, PAGE);
        for (uint32_t i = 0; i < count; i++, next++)
            assert_true(arrivals[i].number == next && arrivals[i].user == ANNA + next);
        assert_true(budget <= 1000 - count);
        maker->restart(made);
    } while (count == PAGE);
    assert_int_equal(next, PEOPLE);
    assert_int_equal(enter(2, ANNA + PEOPLE), PEOPLE); /* and whoever comes later follows */
    const struct inventory *inventory = maker->inventory(made);
    uint32_t budget = 1000;
    assert_int_equal(inventory->ops->arrivals(inventory, 2, &cursor, &budget, arrivals, PAGE), 1);
    assert_int_equal(arrivals[0].number, PEOPLE);
}

static void arrivals_cost_no_more_than_their_budget(void **state)
{
    (void)state;
    enum { PEOPLE = 10 };
    struct arrival arrivals[PEOPLE];
    uint64_t cursor = 0;
    uint32_t next = 0, budget = 0;
    rooms_fill(PEOPLE);
    const struct inventory *inventory = maker->inventory(made);
    assert_int_equal(inventory->ops->arrivals(inventory, 1, &cursor, &budget, arrivals, PEOPLE), 0);
    for (uint32_t calls = 0; next < PEOPLE; calls++) {
        assert_true(calls <= 3 * PEOPLE); /* each one gets on */
        budget = 1;
        const uint32_t count =
            inventory->ops->arrivals(inventory, 1, &cursor, &budget, arrivals, PEOPLE);
        assert_true(count <= 1 && budget == 0);
        assert_true(count == 0 || arrivals[0].number == next);
        next += count;
    }
    cursor = UINT64_MAX - 1; /* of nobody: finds nobody, and that is all */
    budget = 1000;
    assert_int_equal(inventory->ops->arrivals(inventory, 1, &cursor, &budget, arrivals, PEOPLE), 0);
    assert_true(budget > 0);
}

/* ---- the end ---- */

static void a_failed_inventory_says_so_and_answers_nothing_more(void **state)
{
    (void)state;
    skip_for(maker->no_failing);
    sale(3, 0, false);
    const struct inventory *inventory = maker->inventory(made);
    struct inventory_port *port = port_of(0);
    assert_false(inventory_failed(inventory));
    maker->break_medium(made);
    for (uint32_t tries = 0; tries < 2; tries++) {
        struct inventory_request *request = port->ops->reserve(port);
        assert_non_null(request);
        *request = (struct inventory_request){ .tag = 1, .command = reserve(ANNA, 0, 1) };
        port->ops->commit(port);
        port->ops->flush(port);
        maker->run(made, NOW);
        assert_null(port->ops->collect(port));
        assert_true(inventory_failed(inventory));
        assert_int_equal(wins_stopped(), WINS_FAILED);
    }
    assert_int_equal(shown().counts.channel_free[0], 3); /* what is not durable is not shown */
}

#define RULE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int inventory_suite_run(const struct inventory_suite_maker *implementation)
{
    const struct CMUnitTest tests[] = {
        RULE(the_last_unit_sells_once_whoever_asks_on_whatever_port),
        RULE(bad_wishes_are_refused_and_change_nothing),
        RULE(the_window_is_from_start_up_to_but_without_end),
        RULE(gates_pause_resume_and_end),
        RULE(limits_count_units_and_returned_units_leave_them),
        RULE(a_limit_of_one_answers_with_the_ticket),
        RULE(only_listed_users_buy_where_there_is_a_list),
        RULE(a_key_has_one_outcome_also_after_a_restart_and_the_last_unit),
        RULE(each_step_of_a_ticket_happens_once),
        RULE(a_returned_ticket_of_a_past_sale_is_forgotten_but_not_its_number),
        RULE(a_returned_unit_goes_to_the_waiter_and_to_nobody_else),
        RULE(stock_is_added_removed_and_moved_as_far_as_it_is_there),
        RULE(preheating_again_changes_nothing),
        RULE(a_full_port_refuses_and_every_request_gets_one_answer),
        RULE(what_was_told_is_still_true_after_a_restart),
        RULE(the_board_shows_what_was_told),
        RULE(while_orders_are_too_far_behind_old_answers_and_other_commands_go_on),
        RULE(whoever_was_told_a_number_is_found_with_it),
        RULE(arrivals_come_in_the_order_of_their_numbers_over_restarts_too),
        RULE(arrivals_cost_no_more_than_their_budget),
        RULE(a_failed_inventory_says_so_and_answers_nothing_more),
    };
    maker = implementation;
    return cmocka_run_group_tests_name(implementation->name, tests, NULL, NULL);
}
