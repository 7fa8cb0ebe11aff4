/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/engine_apply.h"

#include "tests/unit/inventory/engine_kit.h"

static struct kit kit;

static enum answer adjust(item_id item, channel_index channel, int32_t delta)
{
    return kit_do(&kit,
        (struct command){ .type = COMMAND_ADJUST,
            .adjust = { .item = item, .channel = channel, .delta = delta } },
        0);
}

static enum answer move(channel_index from, channel_index to, uint32_t quantity)
{
    return kit_do(&kit,
        (struct command){ .type = COMMAND_MOVE,
            .move = { .item = 1, .from = from, .to = to, .quantity = quantity } },
        0);
}

static void a_decrease_takes_what_is_free_and_says_how_much(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 0, 4), ANSWER_WON);
    assert_int_equal(adjust(1, 0, -5), ANSWER_DONE);
    assert_int_equal(kit.out.applied, -5);
    assert_int_equal(adjust(1, 0, INT32_MIN), ANSWER_DONE);
    assert_int_equal(kit.out.applied, -1);
    kit_expect_same(&kit, assert_int_equal(adjust(1, 0, -1), ANSWER_UNCHANGED));
    assert_int_equal(kit.engine.items[1].given, 9);
    assert_int_equal(kit.engine.items[1].total, 14);
    kit_stop(&kit);
}

static void an_increase_is_for_sale_at_once_and_has_a_bound(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(adjust(1, 5, 3), ANSWER_DONE);
    assert_int_equal(kit_free(&kit, 5), 3);
    assert_int_equal(adjust(1, CHANNEL_SAFETY, 1), ANSWER_DONE);
    assert_int_equal(kit.engine.items[1].safety, 4);
    kit_expect_same(&kit, assert_int_equal(adjust(1, 0, UNITS_MAX), ANSWER_BAD_QUANTITY));
    assert_int_equal(adjust(1, 0, UNITS_MAX - 24), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(adjust(1, 0, 1), ANSWER_BAD_QUANTITY));
    kit_stop(&kit);
}

static void stock_that_is_not_there_can_not_be_changed(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    kit_expect_same(&kit, assert_int_equal(adjust(0, 0, 1), ANSWER_UNKNOWN_ITEM));
    kit_expect_same(&kit, assert_int_equal(adjust(2, 0, 1), ANSWER_UNKNOWN_ITEM));
    kit_expect_same(&kit, assert_int_equal(adjust(UINT32_MAX, 0, 1), ANSWER_UNKNOWN_ITEM));
    kit_expect_same(&kit, assert_int_equal(adjust(1, CHANNELS_MAX, 1), ANSWER_BAD_CHANNEL));
    kit_expect_same(&kit, assert_int_equal(adjust(1, 0, 0), ANSWER_UNCHANGED));
    kit_stop(&kit);
}

static void a_move_takes_what_is_there_between_two_different_places(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(move(1, 0, 5), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 2);
    assert_int_equal(kit_free(&kit, 0), 12);
    kit_expect_same(&kit, assert_int_equal(move(1, 0, 1), ANSWER_UNCHANGED));
    assert_int_equal(move(CHANNEL_SAFETY, 0, 3), ANSWER_DONE);
    assert_int_equal(kit_free(&kit, 0), 15);
    assert_int_equal(move(0, CHANNEL_SAFETY, UINT32_MAX), ANSWER_DONE);
    assert_int_equal(kit.engine.items[1].safety, 15);
    kit_expect_same(&kit, assert_int_equal(move(0, 0, 1), ANSWER_BAD_CHANNEL));
    kit_expect_same(&kit, assert_int_equal(move(0, CHANNELS_MAX, 1), ANSWER_BAD_CHANNEL));
    kit_expect_same(&kit, assert_int_equal(move(200, 0, 1), ANSWER_BAD_CHANNEL));
    kit_stop(&kit);
}

static enum answer transfer(uint8_t type, uint8_t shard, uint32_t number, uint32_t quantity)
{
    return kit_do(&kit,
        (struct command){ .type = type,
            .transfer = { .item = 1, .shard = shard, .number = number, .quantity = quantity } },
        0);
}

static void units_are_given_to_another_shard_and_taken_from_it_once(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    const uint32_t given = kit.engine.items[1].given, total = kit.engine.items[1].total;
    assert_int_equal(transfer(COMMAND_GIVE, 3, 1, 4), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 4);
    kit_expect_same(&kit, assert_int_equal(transfer(COMMAND_GIVE, 3, 1, 4), ANSWER_UNCHANGED));
    assert_int_equal(transfer(COMMAND_TAKE, 3, 1, 9), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 9);
    kit_expect_same(&kit, assert_int_equal(transfer(COMMAND_TAKE, 3, 1, 9), ANSWER_UNCHANGED));
    assert_int_equal(kit_free(&kit, 0), 10 - 4 + 9);
    assert_int_equal(kit.engine.items[1].given, given - 4 + 9);
    assert_int_equal(kit.engine.items[1].total, total - 4 + 9);
    assert_int_equal(transfer(COMMAND_GIVE, 3, 2, UINT32_MAX), ANSWER_DONE); /* all that is free */
    assert_int_equal(kit.out.applied, 15);
    kit_expect_same(&kit, assert_int_equal(transfer(COMMAND_GIVE, 3, 3, 1), ANSWER_UNCHANGED));
    assert_int_equal(transfer(COMMAND_TAKE, 4, 1, 1), ANSWER_DONE); /* each shard has numbers of its own */
    assert_int_equal(transfer(COMMAND_GIVE, 3, 3, 1), ANSWER_DONE);
    kit_stop(&kit);
}

static void a_transfer_out_of_order_or_to_nowhere_changes_nothing(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    kit_expect_same(&kit, assert_int_equal(transfer(COMMAND_GIVE, 0, 2, 1), ANSWER_CONFLICT));
    assert_int_equal(kit.out.detail, CONFLICT_BAD_MOVE);
    kit_expect_same(&kit, assert_int_equal(transfer(COMMAND_TAKE, 0, 2, 1), ANSWER_CONFLICT));
    kit_expect_same(&kit, assert_int_equal(transfer(COMMAND_TAKE, 0, 0, 1), ANSWER_UNCHANGED));
    kit_expect_same(&kit, assert_int_equal(transfer(COMMAND_GIVE, SHARDS_MAX, 1, 1), ANSWER_CONFLICT));
    kit_expect_same(&kit, assert_int_equal(transfer(COMMAND_TAKE, 0, 1, UNITS_MAX), ANSWER_BAD_QUANTITY));
    kit_expect_same(&kit, assert_int_equal(transfer(COMMAND_TAKE, 0, 1, 0), ANSWER_UNCHANGED));
    const struct command nowhere = { .type = COMMAND_GIVE,
        .transfer = { .item = 1, .number = 1, .quantity = 1, .channel = CHANNELS_MAX } };
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, nowhere, 0), ANSWER_BAD_CHANNEL));
    assert_int_equal(transfer(COMMAND_TAKE, SHARDS_MAX - 1, 1, 1), ANSWER_DONE);
    kit_stop(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_decrease_takes_what_is_free_and_says_how_much),
        cmocka_unit_test(an_increase_is_for_sale_at_once_and_has_a_bound),
        cmocka_unit_test(stock_that_is_not_there_can_not_be_changed),
        cmocka_unit_test(a_move_takes_what_is_there_between_two_different_places),
        cmocka_unit_test(units_are_given_to_another_shard_and_taken_from_it_once),
        cmocka_unit_test(a_transfer_out_of_order_or_to_nowhere_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
