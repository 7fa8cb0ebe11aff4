/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/engine_apply.h"

#include "tests/unit/inventory/engine_kit.h"

#include <string.h>

static struct kit kit;

static struct command sale_command(uint64_t start_ms, uint64_t end_ms, uint32_t limit)
{
    return (struct command){ .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = start_ms, .end_ms = end_ms, .limit_per_user = limit } };
}

static enum answer gate(enum gate_move move, uint64_t now_ms)
{
    return kit_do(&kit,
        (struct command){ .type = COMMAND_GATE, .gate = { .sale = 1, .move = (uint8_t)move } }, now_ms);
}

static void expect_conflict(struct command command, uint64_t now_ms, enum conflict why)
{
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, now_ms), ANSWER_CONFLICT));
    assert_int_equal(kit.out.detail, why);
}

static void a_sale_needs_a_window_and_an_id_that_fits(void **state)
{
    (void)state;
    kit_start(&kit, 16);
    expect_conflict(sale_command(10, 10, 0), 0, CONFLICT_BAD_WINDOW);
    expect_conflict(sale_command(11, 10, 0), 0, CONFLICT_BAD_WINDOW);
    struct command command = sale_command(10, 11, 0);
    command.sale.sale = 0;
    expect_conflict(command, 0, CONFLICT_FULL);
    command.sale.sale = 3;
    expect_conflict(command, 0, CONFLICT_FULL);
    command.sale.sale = 2;
    assert_int_equal(kit_do(&kit, command, 0), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, 0), ANSWER_UNCHANGED));
    kit_stop(&kit);
}

static void a_schedule_moves_until_it_opened_and_its_end_until_it_ended(void **state)
{
    (void)state;
    kit_ready(&kit, 1, 0);
    assert_int_equal(kit_do(&kit, sale_command(SALE_START - 1, SALE_END, 0), SALE_START - 2), ANSWER_DONE);
    expect_conflict(sale_command(SALE_START, SALE_END, 0), SALE_START - 1, CONFLICT_ALREADY_OPEN);
    assert_int_equal(
        kit_do(&kit, sale_command(SALE_START - 1, SALE_END + 1, 0), SALE_END - 1), ANSWER_DONE);
    expect_conflict(sale_command(SALE_START - 1, SALE_END + 9, 0), SALE_END + 1, CONFLICT_ENDED);
    kit_stop(&kit);
}

static void a_limit_over_the_sale_may_only_grow(void **state)
{
    (void)state;
    kit_ready(&kit, 1, 2);
    expect_conflict(sale_command(SALE_START, SALE_END, 0), 0, CONFLICT_OTHER_LIMIT);
    expect_conflict(sale_command(SALE_START, SALE_END, 1), 0, CONFLICT_OTHER_LIMIT);
    assert_int_equal(kit_do(&kit, sale_command(SALE_START, SALE_END, 3), 0), ANSWER_DONE);
    kit_stop(&kit);
}

static void preheating_again_changes_nothing_and_another_total_is_refused(void **state)
{
    (void)state;
    kit_ready(&kit, 1, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_preheat(&kit, 1, 1), ANSWER_UNCHANGED));
    struct command command = { .type = COMMAND_PREHEAT, .preheat = kit_item(1, 1) };
    command.preheat.total++;
    command.preheat.channel_units[0]++;
    expect_conflict(command, 0, CONFLICT_OTHER_TOTAL);
    kit_stop(&kit);
}

static void preheating_again_with_another_price_limit_or_time_to_pay_is_refused(void **state)
{
    (void)state;
    kit_ready(&kit, 1, 0);
    const struct command first = { .type = COMMAND_PREHEAT, .preheat = kit_item(1, 1) };
    struct command command = first;
    command.preheat.unit_price++;
    kit_expect_same(&kit, expect_conflict(command, 0, CONFLICT_OTHER_TERMS));
    command = first;
    command.preheat.limit_per_user = 2;
    expect_conflict(command, 0, CONFLICT_OTHER_TERMS);
    command = first;
    command.preheat.pay_window_ms++;
    expect_conflict(command, 0, CONFLICT_OTHER_TERMS);
    command = first;
    memcpy(command.preheat.currency, "CNY", 4); /* decides nothing */
    assert_int_equal(kit_do(&kit, command, 0), ANSWER_UNCHANGED);
    kit_stop(&kit);
}

static struct command terms(uint64_t price, uint32_t limit, uint32_t pay_window_ms)
{
    struct command command = { .type = COMMAND_PREHEAT, .preheat = kit_item(1, 1) };
    command.preheat.change = true;
    command.preheat.unit_price += price;
    command.preheat.limit_per_user = limit;
    command.preheat.pay_window_ms += pay_window_ms;
    command.preheat.total = 0; /* counts for nothing */
    return command;
}

static void terms_change_until_somebody_has_a_unit(void **state)
{
    (void)state;
    kit_start(&kit, 16);
    assert_int_equal(kit_sale(&kit, 0, false), ANSWER_DONE);
    expect_conflict(terms(5, 2, 0), 0, CONFLICT_NOT_PREHEATED);
    assert_int_equal(kit_preheat(&kit, 1, 1), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, terms(0, 1, 0), 0), ANSWER_UNCHANGED));
    assert_int_equal(kit_do(&kit, terms(5, 1, 0), 0), ANSWER_DONE);
    assert_int_equal(gate(GATE_MOVE_OPEN, 0), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    assert_int_equal(kit.out.unit_price, kit_item(1, 1).unit_price + 5);
    kit_expect_same(&kit, expect_conflict(terms(6, 1, 0), 0, CONFLICT_HAS_BUYERS));
    expect_conflict(terms(5, 2, 0), 0, CONFLICT_HAS_BUYERS);
    assert_int_equal(kit_do(&kit, terms(5, 1, 1000), 0), ANSWER_DONE); /* the time to pay may */
    expect_conflict(terms(5, 1, 2000), SALE_END, CONFLICT_ENDED);
    kit_check(&kit);
    kit_stop(&kit);
}

static void an_end_is_taken_back_while_the_window_lasts(void **state)
{
    (void)state;
    kit_ready(&kit, 1, 0);
    assert_int_equal(gate(GATE_MOVE_REOPEN, 0), ANSWER_UNCHANGED);
    assert_int_equal(gate(GATE_MOVE_PAUSE, SALE_START), ANSWER_DONE);
    assert_int_equal(gate(GATE_MOVE_END, SALE_START), ANSWER_DONE);
    assert_int_equal(gate(GATE_MOVE_REOPEN, SALE_END), ANSWER_CONFLICT);
    assert_int_equal(kit.out.detail, CONFLICT_ENDED);
    assert_int_equal(gate(GATE_MOVE_REOPEN, SALE_END - 1), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON); /* not paused either */
    kit_stop(&kit);
}

static void who_is_removed_from_the_list_can_not_buy_until_he_is_back(void **state)
{
    (void)state;
    kit_start(&kit, 16);
    struct command command = { .type = COMMAND_USERS,
        .users = { .sale = 1, .count = 2, .users = { ANNA, BERT } } };
    assert_int_equal(kit_sale(&kit, 0, true), ANSWER_DONE);
    assert_int_equal(kit_preheat(&kit, 1, 1), ANSWER_DONE);
    assert_int_equal(gate(GATE_MOVE_OPEN, 0), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, command, 0), ANSWER_DONE);
    command.users.remove = true;
    command.users.count = 1;
    assert_int_equal(kit_do(&kit, command, 0), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 1);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, 0), ANSWER_UNCHANGED));
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_NOT_ELIGIBLE);
    assert_int_equal(kit_buy(&kit, BERT, 0, 1), ANSWER_WON);
    command.users.remove = false;
    assert_int_equal(kit_do(&kit, command, 0), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 1);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    kit_check(&kit);
    kit_stop(&kit);
}

static void a_preheat_must_add_up_belong_to_a_sale_and_come_in_time(void **state)
{
    (void)state;
    kit_start(&kit, 16);
    kit_expect_same(&kit, assert_int_equal(kit_preheat(&kit, 1, 1), ANSWER_UNKNOWN_SALE));
    assert_int_equal(kit_sale(&kit, 0, false), ANSWER_DONE);
    struct command command = { .type = COMMAND_PREHEAT, .preheat = kit_item(1, 1) };
    command.preheat.channel_units[7] = 1;
    expect_conflict(command, 0, CONFLICT_BAD_SPLIT);
    command.preheat = kit_item(1, 1);
    command.preheat.locked = UINT32_MAX; /* 4 + 2^32 − … must not wrap */
    expect_conflict(command, 0, CONFLICT_BAD_SPLIT);
    command.preheat = kit_item(1, 1);
    command.preheat.total = UNITS_MAX + 1u;
    expect_conflict(command, 0, CONFLICT_BAD_SPLIT);
    command.preheat = kit_item(0, 1);
    expect_conflict(command, 0, CONFLICT_FULL);
    command.preheat = kit_item(4, 1);
    expect_conflict(command, 0, CONFLICT_FULL);
    command.preheat = kit_item(1, 1);
    expect_conflict(command, SALE_END, CONFLICT_ENDED);
    assert_int_equal(kit_do(&kit, command, SALE_END - 1), ANSWER_DONE);
    kit_stop(&kit);
}

static void gates_open_pause_resume_and_end_once(void **state)
{
    (void)state;
    kit_start(&kit, 16);
    kit_expect_same(&kit, assert_int_equal(gate(GATE_MOVE_OPEN, 0), ANSWER_UNKNOWN_SALE));
    assert_int_equal(kit_sale(&kit, 0, false), ANSWER_DONE);
    assert_int_equal(gate(GATE_MOVE_OPEN, 0), ANSWER_CONFLICT);
    assert_int_equal(kit.out.detail, CONFLICT_NOT_PREHEATED);
    assert_int_equal(kit_preheat(&kit, 1, 1), ANSWER_DONE);
    assert_int_equal(gate(GATE_MOVE_RESUME, 0), ANSWER_UNCHANGED);
    assert_int_equal(gate(GATE_MOVE_PAUSE, 0), ANSWER_DONE);
    assert_int_equal(gate(GATE_MOVE_PAUSE, 0), ANSWER_UNCHANGED);
    assert_int_equal(gate(GATE_MOVE_OPEN, 0), ANSWER_CONFLICT);
    assert_int_equal(kit.out.detail, CONFLICT_BAD_MOVE);
    assert_int_equal(gate(GATE_MOVE_RESUME, 0), ANSWER_DONE);
    assert_int_equal(gate(GATE_MOVE_OPEN, 0), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    assert_int_equal(gate(GATE_MOVES, 0), ANSWER_CONFLICT);
    assert_int_equal(gate(GATE_MOVE_PAUSE, SALE_END), ANSWER_CONFLICT);
    assert_int_equal(gate(GATE_MOVE_END, SALE_END), ANSWER_DONE);
    assert_int_equal(gate(GATE_MOVE_END, SALE_END), ANSWER_UNCHANGED);
    assert_int_equal(gate(GATE_MOVE_RESUME, 0), ANSWER_CONFLICT);
    assert_int_equal(gate(GATE_MOVE_OPEN, 0), ANSWER_CONFLICT);
    assert_int_equal(gate(GATE_MOVE_PAUSE, 0), ANSWER_CONFLICT);
    kit_stop(&kit);
}

static void eligible_users_are_counted_once_and_only_while_there_is_room(void **state)
{
    (void)state;
    kit_start(&kit, 2); /* 2 tickets: 19 rows for users */
    struct command command = { .type = COMMAND_USERS,
        .users = { .sale = 1, .count = 2, .users = { ANNA, BERT } } };
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, 0), ANSWER_UNKNOWN_SALE));
    assert_int_equal(kit_sale(&kit, 0, true), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, command, 0), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 2);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, 0), ANSWER_UNCHANGED));
    command.users.count = USERS_PER_COMMAND;
    for (uint32_t i = 0; i < USERS_PER_COMMAND; i++)
        command.users.users[i] = 100 + i;
    assert_int_equal(kit_do(&kit, command, 0), ANSWER_DONE);
    for (uint32_t i = 0; i < USERS_PER_COMMAND; i++)
        command.users.users[i] = 200 + i;
    expect_conflict(command, 0, CONFLICT_FULL);
    kit_stop(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sale_needs_a_window_and_an_id_that_fits),
        cmocka_unit_test(a_schedule_moves_until_it_opened_and_its_end_until_it_ended),
        cmocka_unit_test(a_limit_over_the_sale_may_only_grow),
        cmocka_unit_test(preheating_again_with_another_price_limit_or_time_to_pay_is_refused),
        cmocka_unit_test(preheating_again_changes_nothing_and_another_total_is_refused),
        cmocka_unit_test(terms_change_until_somebody_has_a_unit),
        cmocka_unit_test(an_end_is_taken_back_while_the_window_lasts),
        cmocka_unit_test(who_is_removed_from_the_list_can_not_buy_until_he_is_back),
        cmocka_unit_test(a_preheat_must_add_up_belong_to_a_sale_and_come_in_time),
        cmocka_unit_test(gates_open_pause_resume_and_end_once),
        cmocka_unit_test(eligible_users_are_counted_once_and_only_while_there_is_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
