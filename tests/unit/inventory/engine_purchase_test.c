/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/engine_apply.h"

#include "tests/unit/inventory/engine_kit.h"

static struct kit kit;

static struct command reserve(user_id user, uint32_t quantity)
{
    return (struct command){ .type = COMMAND_RESERVE,
        .reserve = { .user = user, .item = 1, .quantity = quantity } };
}

static void a_win_moves_units_and_tells_price_and_deadline(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 77, 3), ANSWER_WON);
    assert_int_equal(kit.out.ticket, 1);
    assert_int_equal(kit.out.unit_price, PRICE);
    assert_int_equal(kit.out.pay_by_ms, SALE_NOW + PAY_WINDOW);
    assert_int_equal(kit_free(&kit, 0), 7);
    assert_int_equal(kit.engine.items[1].held, 3);
    assert_int_equal(kit_buy(&kit, BERT, 78, 1), ANSWER_WON);
    assert_int_equal(kit.out.ticket, 2);
    kit_stop(&kit);
}

static void last_unit_sells_once_and_a_refusal_changes_nothing(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 9), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, BERT, 0, 2), ANSWER_SOLD_OUT));
    assert_int_equal(kit.out.free, 1);
    assert_int_equal(kit_buy(&kit, BERT, 0, 1), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, CLEO, 0, 1), ANSWER_SOLD_OUT));
    assert_int_equal(kit.out.free, 0);
    kit_stop(&kit);
}

static void quantities_items_and_channels_out_of_range_are_refused(void **state)
{
    (void)state;
    static const uint32_t bad[] = { 0, QUANTITY_MAX + 1, 1u << 31, UINT32_MAX };
    kit_ready(&kit, 0, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, ANNA, 0, bad[i]), ANSWER_BAD_QUANTITY));
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, ANNA, 0, QUANTITY_MAX), ANSWER_SOLD_OUT));
    struct command command = reserve(ANNA, 1);
    command.reserve.channel = CHANNELS_MAX;
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_BAD_CHANNEL));
    command = reserve(ANNA, 1);
    for (item_id item = 0; item < 6; item += item == 0 ? 2 : 1) {
        command.reserve.item = item;
        kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_UNKNOWN_ITEM));
    }
    kit_stop(&kit);
}

static void channels_sell_their_own_units_only(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    struct command command = reserve(ANNA, 2);
    command.reserve.channel = 1;
    assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_WON);
    command.reserve.user = BERT;
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_SOLD_OUT));
    assert_int_equal(kit_free(&kit, 0), 10);
    kit_stop(&kit);
}

static void the_window_opens_at_its_start_and_closes_at_its_end(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    kit_expect_same(
        &kit, assert_int_equal(kit_do(&kit, reserve(ANNA, 1), SALE_START - 1), ANSWER_NOT_STARTED));
    assert_int_equal(kit_do(&kit, reserve(ANNA, 1), SALE_START), ANSWER_WON);
    assert_int_equal(kit_do(&kit, reserve(ANNA, 1), SALE_END - 1), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, reserve(ANNA, 1), SALE_END), ANSWER_ENDED));
    struct command late = reserve(ANNA, 1);
    late.reserve.flags = RESERVE_AFTER_END;
    assert_int_equal(kit_do(&kit, late, SALE_END + 5), ANSWER_WON);
    kit_stop(&kit);
}

static void gates_rule_over_the_schedule(void **state)
{
    (void)state;
    struct command gate = { .type = COMMAND_GATE, .gate = { .sale = 1, .move = GATE_MOVE_OPEN } };
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_do(&kit, gate, 0), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, reserve(ANNA, 1), 1), ANSWER_WON);
    gate.gate.move = GATE_MOVE_PAUSE;
    assert_int_equal(kit_do(&kit, gate, 2), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, reserve(ANNA, 1), 3), ANSWER_PAUSED));
    gate.gate.move = GATE_MOVE_RESUME;
    assert_int_equal(kit_do(&kit, gate, 4), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, reserve(ANNA, 1), 5), ANSWER_WON);
    gate.gate.move = GATE_MOVE_END;
    assert_int_equal(kit_do(&kit, gate, 6), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, reserve(ANNA, 1), 7), ANSWER_ENDED));
    kit_stop(&kit);
}

static void a_limit_of_one_shows_the_ticket_even_after_the_end(void **state)
{
    (void)state;
    kit_ready(&kit, 1, 0);
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, ANNA, 0, 2), ANSWER_LIMIT_REACHED));
    assert_int_equal(kit.out.ticket, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_ALREADY_BOUGHT));
    assert_int_equal(kit.out.ticket, 1);
    kit_expect_same(
        &kit, assert_int_equal(kit_do(&kit, reserve(ANNA, 1), SALE_END), ANSWER_ALREADY_BOUGHT));
    kit_stop(&kit);
}

static void limits_count_units_per_item_and_over_the_sale(void **state)
{
    (void)state;
    kit_ready(&kit, 3, 4);
    assert_int_equal(kit_preheat(&kit, 2, 0), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 2), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, ANNA, 0, 2), ANSWER_LIMIT_REACHED));
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    struct command other = reserve(ANNA, 2);
    other.reserve.item = 2;
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, other, SALE_NOW), ANSWER_LIMIT_REACHED));
    other.reserve.quantity = 1;
    assert_int_equal(kit_do(&kit, other, SALE_NOW), ANSWER_WON);
    assert_int_equal(kit_settle(&kit, 1, SETTLE_RETURN), ANSWER_DONE); /* frees two of four */
    other.reserve.quantity = 2;
    assert_int_equal(kit_do(&kit, other, SALE_NOW), ANSWER_WON);
    kit_stop(&kit);
}

static void only_eligible_users_buy_where_there_is_a_list(void **state)
{
    (void)state;
    kit_start(&kit, 16);
    assert_int_equal(kit_sale(&kit, 0, true), ANSWER_DONE);
    assert_int_equal(kit_preheat(&kit, 1, 1), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_NOT_ELIGIBLE));
    const struct command users = { .type = COMMAND_USERS,
        .users = { .sale = 1, .count = 1, .users = { ANNA } } };
    assert_int_equal(kit_do(&kit, users, 0), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, BERT, 0, 1), ANSWER_NOT_ELIGIBLE));
    kit_stop(&kit);
}

static void a_key_gives_the_same_ticket_and_refuses_another_body(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 5, 10), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, ANNA, 5, 10), ANSWER_REPEATED));
    assert_int_equal(kit.out.ticket, 1);
    assert_int_equal(kit.out.unit_price, PRICE);
    assert_int_equal(kit.out.quantity, 10);
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, ANNA, 5, 9), ANSWER_KEY_REUSED));
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, BERT, 5, 10), ANSWER_KEY_REUSED));
    struct command other = reserve(ANNA, 10);
    other.reserve.key = 5;
    other.reserve.channel = 1;
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, other, SALE_NOW), ANSWER_KEY_REUSED));
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, BERT, 6, 1), ANSWER_SOLD_OUT)); /* not remembered */
    assert_int_equal(kit_settle(&kit, 1, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, BERT, 6, 1), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, ANNA, 5, 10), ANSWER_REPEATED);
    kit_stop(&kit);
}

static void one_purchase_of_a_user_and_item_is_in_flight_at_a_time(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    struct command command = reserve(ANNA, 1);
    command.reserve.pending_from = 1; /* nothing is durable */
    assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_IN_PROGRESS));
    command.reserve.user = BERT;
    assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_WON);
    command.reserve.user = ANNA;
    command.reserve.pending_from = 2;
    assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_WON);
    kit_stop(&kit);
}

static void full_tables_refuse_without_a_decision(void **state)
{
    (void)state;
    kit_start(&kit, 2);
    assert_int_equal(kit_sale(&kit, 0, false), ANSWER_DONE);
    assert_int_equal(kit_preheat(&kit, 1, 0), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 1, 1), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, BERT, 2, 1), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, CLEO, 3, 1), ANSWER_UNAVAILABLE));
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, BERT, 2, 1), ANSWER_REPEATED));
    kit_stop(&kit);
}

/* The table of a ticket's life, cell by cell. */
static void each_step_leads_where_the_table_says_and_only_once(void **state)
{
    (void)state;
    static const enum answer table[4][SETTLE_STEPS] = {
        [TICKET_HELD] = { ANSWER_DONE, ANSWER_DONE, ANSWER_CONFLICT },
        [TICKET_SOLD] = { ANSWER_UNCHANGED, ANSWER_DONE, ANSWER_DONE },
        [TICKET_RETURNED] = { ANSWER_CONFLICT, ANSWER_UNCHANGED, ANSWER_CONFLICT },
        [TICKET_WRITTEN_OFF] = { ANSWER_CONFLICT, ANSWER_CONFLICT, ANSWER_UNCHANGED },
    };
    for (uint32_t from = 0; from < 4; from++) {
        for (uint32_t step = 0; step < SETTLE_STEPS; step++) {
            kit_ready(&kit, 0, 0);
            assert_int_equal(kit_buy(&kit, ANNA, 0, 2), ANSWER_WON);
            if (from == TICKET_SOLD || from == TICKET_WRITTEN_OFF)
                assert_int_equal(kit_settle(&kit, 1, SETTLE_SOLD), ANSWER_DONE);
            if (from == TICKET_WRITTEN_OFF)
                assert_int_equal(kit_settle(&kit, 1, SETTLE_WRITE_OFF), ANSWER_DONE);
            if (from == TICKET_RETURNED)
                assert_int_equal(kit_settle(&kit, 1, SETTLE_RETURN), ANSWER_DONE);
            const uint64_t before = engine_digest(&kit.engine);
            assert_int_equal(kit_settle(&kit, 1, (enum settle_step)step), table[from][step]);
            assert_int_equal(kit.out.changed, table[from][step] == ANSWER_DONE);
            assert_int_equal(engine_digest(&kit.engine) == before, table[from][step] != ANSWER_DONE);
            assert_int_equal(kit.out.user, ANNA);
            kit_stop(&kit);
        }
    }
}

static void a_settle_needs_a_ticket_a_step_and_a_place(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_settle(&kit, 0, SETTLE_SOLD), ANSWER_UNKNOWN_TICKET));
    kit_expect_same(&kit, assert_int_equal(kit_settle(&kit, 2, SETTLE_SOLD), ANSWER_UNKNOWN_TICKET));
    kit_expect_same(&kit, assert_int_equal(kit_settle(&kit, 1, SETTLE_STEPS), ANSWER_CONFLICT));
    struct command command = { .type = COMMAND_SETTLE,
        .settle = { .ticket = 1, .step = SETTLE_RETURN, .to = CHANNELS_MAX } };
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_CONFLICT));
    command.settle.to = CHANNEL_SAFETY;
    assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit.engine.items[1].safety, 4);
    kit_stop(&kit);
}

static void a_returned_unit_goes_to_the_waiter_in_the_same_command(void **state)
{
    (void)state;
    kit_ready(&kit, 1, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    struct command command = { .type = COMMAND_SETTLE,
        .settle = { .ticket = 1,
            .step = SETTLE_RETURN,
            .waiter_count = 1,
            .waiter_window_ms = 60,
            .waiters = { { BERT, 9, 1 } } } };
    assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit.out.ticket, 2);
    assert_int_equal(kit.out.pay_by_ms, SALE_NOW + 60);
    assert_int_equal(kit.out.unit_price, PRICE);
    assert_int_equal(kit_free(&kit, 0), 9);
    assert_int_equal(kit.engine.items[1].held, 1);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_UNCHANGED));
    /* A waiter at the limit, without units, or whose key was used gets nothing; the units are
     * free. */
    command.settle.ticket = 2;
    command.settle.waiters[0] = (struct waiter){ CLEO, 9, 1 };
    assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit.out.ticket, 0);
    assert_int_equal(kit_free(&kit, 0), 10);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, CLEO, 0, 1), ANSWER_WON);
    command.settle.ticket = 3;
    command.settle.waiters[0].key = 10;
    assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit.out.ticket, 0);
    kit_stop(&kit);
}

static void a_return_serves_the_line_in_order_and_passes_over_who_can_not(void **state)
{
    (void)state;
    kit_ready(&kit, 3, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 3), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, CLEO, 0, 3), ANSWER_WON);
    struct command command = { .type = COMMAND_SETTLE,
        .settle = { .ticket = 1,
            .step = SETTLE_RETURN,
            .waiter_count = 4,
            .waiter_window_ms = 60,
            /* too many for what returns, one who is at the limit, and two that fit */
            .waiters = { { BERT, 21, 4 }, { CLEO, 22, 1 }, { BERT, 23, 2 }, { ANNA, 24, 1 } } } };
    assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit.out.detail, 8 | 4);
    assert_int_equal(kit.out.ticket, 3);
    assert_int_equal(tickets_get(&kit.engine.tickets, 3)->user, BERT);
    assert_int_equal(tickets_get(&kit.engine.tickets, 4)->user, ANNA);
    assert_int_equal(outcome_waiter_ticket(&kit.out, 0), 0);
    assert_int_equal(outcome_waiter_ticket(&kit.out, 2), 3);
    assert_int_equal(outcome_waiter_ticket(&kit.out, 3), 4);
    assert_int_equal(kit_free(&kit, 0), 4);
    /* Four are free, two return: who wants three is passed over, walk-ins see the others already. */
    command.settle.ticket = 3;
    command.settle.waiter_count = 1;
    command.settle.waiters[0] = (struct waiter){ BERT, 25, 3 };
    assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit.out.detail, 0);
    command.settle.waiter_count = WAITERS_PER_RETURN + 1;
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, command, SALE_NOW), ANSWER_CONFLICT));
    kit_stop(&kit);
}

static void one_open_order_is_shown_until_it_is_paid_or_given_back(void **state)
{
    (void)state;
    kit_start(&kit, 64);
    struct command sale = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = SALE_START, .end_ms = SALE_END, .one_open_order = true } };
    const struct command preheat = { .type = COMMAND_PREHEAT, .preheat = kit_item(1, 0) };
    assert_int_equal(kit_do(&kit, sale, 1), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, preheat, 2), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    kit_expect_same(&kit, assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_OPEN_ORDER));
    assert_int_equal(kit.out.ticket, 1);
    assert_int_equal(kit_buy(&kit, BERT, 0, 1), ANSWER_WON);
    /* Offers obey it, too. */
    struct command settle = { .type = COMMAND_SETTLE,
        .settle = {
            .ticket = 2, .step = SETTLE_RETURN, .waiter_count = 1, .waiters = { { ANNA, 31, 1 } } } };
    assert_int_equal(kit_do(&kit, settle, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit.out.ticket, 0);
    settle.settle = (struct command_settle){ .ticket = 1, .step = SETTLE_SOLD };
    assert_int_equal(kit_do(&kit, settle, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_OPEN_ORDER);
    settle.settle = (struct command_settle){ .ticket = 3, .step = SETTLE_RETURN };
    assert_int_equal(kit_do(&kit, settle, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 1), ANSWER_WON);
    sale.sale.one_open_order = false;
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, sale, SALE_NOW), ANSWER_CONFLICT));
    assert_null(engine_check(&kit.engine));
    kit_stop(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_win_moves_units_and_tells_price_and_deadline),
        cmocka_unit_test(last_unit_sells_once_and_a_refusal_changes_nothing),
        cmocka_unit_test(quantities_items_and_channels_out_of_range_are_refused),
        cmocka_unit_test(channels_sell_their_own_units_only),
        cmocka_unit_test(the_window_opens_at_its_start_and_closes_at_its_end),
        cmocka_unit_test(gates_rule_over_the_schedule),
        cmocka_unit_test(a_limit_of_one_shows_the_ticket_even_after_the_end),
        cmocka_unit_test(limits_count_units_per_item_and_over_the_sale),
        cmocka_unit_test(only_eligible_users_buy_where_there_is_a_list),
        cmocka_unit_test(a_key_gives_the_same_ticket_and_refuses_another_body),
        cmocka_unit_test(one_purchase_of_a_user_and_item_is_in_flight_at_a_time),
        cmocka_unit_test(full_tables_refuse_without_a_decision),
        cmocka_unit_test(each_step_leads_where_the_table_says_and_only_once),
        cmocka_unit_test(a_settle_needs_a_ticket_a_step_and_a_place),
        cmocka_unit_test(a_returned_unit_goes_to_the_waiter_in_the_same_command),
        cmocka_unit_test(a_return_serves_the_line_in_order_and_passes_over_who_can_not),
        cmocka_unit_test(one_open_order_is_shown_until_it_is_paid_or_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
