/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/engine.h"

#include "tests/unit/inventory/engine_kit.h"

static struct kit kit;

static void view_and_counts_agree_with_what_was_preheated(void **state)
{
    (void)state;
    kit_ready(&kit, 1, 0);
    struct board_update view;
    assert_true(engine_item_view(&kit.engine, 1, &view));
    assert_int_equal(view.sale, 1);
    assert_int_equal(view.unit_price, PRICE);
    assert_int_equal(view.gate, GATE_SCHEDULED);
    assert_int_equal(view.counts.given, 15);
    assert_int_equal(view.counts.free, 12);
    assert_int_equal(view.counts.safety, 3);
    assert_false(engine_item_view(&kit.engine, 2, &view));
    assert_false(engine_item_view(&kit.engine, 0, &view));
    assert_false(engine_item_view(&kit.engine, UINT32_MAX, &view));
    kit_stop(&kit);
}

static void without_permission_nothing_changes_and_refusals_stay_what_they_are(void **state)
{
    (void)state;
    kit_ready(&kit, 1, 0);
    const uint64_t before = engine_digest(&kit.engine);
    struct outcome out;
    struct command commands[] = {
        { .type = COMMAND_RESERVE,
            .time_ms = SALE_NOW,
            .reserve = { .user = ANNA, .item = 1, .quantity = 1, .pending_from = UINT64_MAX } },
        { .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = 1 } },
        { .type = COMMAND_MOVE, .move = { .item = 1, .from = 0, .to = 1, .quantity = 1 } },
        { .type = COMMAND_GATE, .gate = { .sale = 1, .move = GATE_MOVE_PAUSE } },
        { .type = COMMAND_USERS, .users = { .sale = 1, .count = 1, .users = { ANNA } } },
        { .type = COMMAND_PREHEAT, .preheat = kit_item(2, 1) },
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        engine_apply(&kit.engine, &commands[i], false, &out);
        assert_int_equal(out.answer, ANSWER_UNAVAILABLE);
        assert_false(out.changed);
    }
    commands[0].reserve.quantity = 0;
    engine_apply(&kit.engine, &commands[0], false, &out);
    assert_int_equal(out.answer, ANSWER_BAD_QUANTITY);
    assert_int_equal(engine_digest(&kit.engine), before);
    kit_stop(&kit);
}

static void a_digest_tells_states_apart_and_equal_histories_agree(void **state)
{
    (void)state;
    struct kit other;
    kit_ready(&kit, 0, 0);
    kit_ready(&other, 0, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 1, 2), ANSWER_WON);
    assert_int_not_equal(engine_digest(&kit.engine), engine_digest(&other.engine));
    assert_int_equal(kit_buy(&other, ANNA, 1, 2), ANSWER_WON);
    assert_int_equal(engine_digest(&kit.engine), engine_digest(&other.engine));
    kit_stop(&other);
    kit_stop(&kit);
}

static void a_check_finds_units_counters_and_tickets_that_disagree(void **state)
{
    (void)state;
    kit_ready(&kit, 2, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 1, 1), ANSWER_WON);
    assert_null(engine_check(&kit.engine));
    kit.engine.items[1].free[0]++;
    assert_non_null(engine_check(&kit.engine));
    kit.engine.items[1].free[0]--;
    kit.engine.buyers.rows[0].used++;
    assert_non_null(engine_check(&kit.engine));
    kit.engine.buyers.rows[0].used--;
    kit.engine.tickets.rows[0].state = TICKET_SOLD;
    assert_non_null(engine_check(&kit.engine));
    kit.engine.tickets.rows[0].state = TICKET_HELD;
    assert_null(engine_check(&kit.engine));
    kit_stop(&kit);
}

static void an_unknown_command_is_a_bug(void)
{
    struct outcome out;
    const struct command command = { .type = COMMAND_LOGGED_COUNT };
    kit_ready(&kit, 1, 0);
    engine_apply(&kit.engine, &command, true, &out);
}

static void unknown_commands_stop_the_program(void **state)
{
    (void)state;
    assert_true(unit_stops(an_unknown_command_is_a_bug));
}

static void a_command_names_the_item_it_is_about(void **state)
{
    (void)state;
    const struct outcome out = { .item = 3 };
    const struct command settle = { .type = COMMAND_SETTLE };
    const struct command gate = { .type = COMMAND_GATE, .gate = { .sale = 2 } };
    const struct command buy = { .type = COMMAND_RESERVE, .reserve = { .item = 2 } };
    const struct command ask = { .type = COMMAND_ASK_COUNTS, .ask = { .item = 1 } };
    assert_int_equal(engine_command_item(&settle, &out), 3);
    assert_int_equal(engine_command_item(&gate, &out), 0);
    assert_int_equal(engine_command_item(&buy, &out), 2);
    assert_int_equal(engine_command_item(&ask, &out), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(view_and_counts_agree_with_what_was_preheated),
        cmocka_unit_test(without_permission_nothing_changes_and_refusals_stay_what_they_are),
        cmocka_unit_test(a_digest_tells_states_apart_and_equal_histories_agree),
        cmocka_unit_test(a_check_finds_units_counters_and_tickets_that_disagree),
        cmocka_unit_test(unknown_commands_stop_the_program),
        cmocka_unit_test(a_command_names_the_item_it_is_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
