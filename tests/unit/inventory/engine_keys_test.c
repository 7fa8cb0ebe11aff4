/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/engine_apply.h"

#include "tests/unit/inventory/engine_kit.h"

static struct kit kit;

static struct command keyed(struct command command, uint64_t key, uint64_t request)
{
    command.origin = (struct command_origin){ .key = key, .request = request, .actor = "mia" };
    return command;
}

static const struct command add_five = { .type = COMMAND_ADJUST, .adjust = { .item = 1, .delta = 5 } };

static void a_repeated_key_hears_the_first_outcome_and_changes_nothing(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_do(&kit, keyed(add_five, 1, 2), 0), ANSWER_DONE);
    assert_true(kit.out.changed && !kit.out.repeated);
    assert_int_equal(kit_free(&kit, 0), 15);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, keyed(add_five, 1, 2), 0), ANSWER_DONE));
    assert_true(kit.out.repeated);
    assert_int_equal(kit.out.applied, 5);
    assert_int_equal(kit_do(&kit, keyed(add_five, 2, 2), 0), ANSWER_DONE); /* another key */
    assert_int_equal(kit_do(&kit, add_five, 0), ANSWER_DONE);              /* none */
    assert_int_equal(kit_do(&kit, add_five, 0), ANSWER_DONE);
    assert_int_equal(kit_free(&kit, 0), 30);
    kit_stop(&kit);
}

static void a_key_with_another_request_is_refused(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_do(&kit, keyed(add_five, 1, 2), 0), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, keyed(add_five, 1, 3), 0), ANSWER_KEY_REUSED));
    kit_stop(&kit);
}

static void what_changed_nothing_is_decided_again(void **state)
{
    (void)state;
    const struct command pause = { .type = COMMAND_GATE, .gate = { .sale = 1, .move = GATE_MOVE_PAUSE } };
    const struct command resume = { .type = COMMAND_GATE,
        .gate = { .sale = 1, .move = GATE_MOVE_RESUME } };
    kit_ready(&kit, 0, 0);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, keyed(resume, 1, 2), 0), ANSWER_UNCHANGED));
    assert_int_equal(kit_do(&kit, keyed(pause, 3, 4), 0), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, keyed(resume, 1, 2), 0), ANSWER_DONE);
    assert_false(kit.engine.sales[1].paused);
    /* The pause was done once: asking again does not pause a sale that somebody resumed. */
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, keyed(pause, 3, 4), 0), ANSWER_DONE));
    assert_false(kit.engine.sales[1].paused);
    kit_stop(&kit);
}

static void lists_of_users_drive_no_other_key_out(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_do(&kit, keyed(add_five, 1, 2), 0), ANSWER_DONE);
    const struct command users = { .type = COMMAND_USERS,
        .users = { .sale = 1, .count = 1, .users = { ANNA } } };
    assert_int_equal(kit_do(&kit, keyed(users, 5, 6), 0), ANSWER_DONE);
    assert_int_equal(kit.engine.keys.count, 1);
    kit_stop(&kit);
}

static void the_oldest_key_goes_when_there_are_too_many(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    for (uint64_t key = 1; key <= COMMAND_KEYS_MAX + 1; key++)
        assert_int_equal(kit_do(&kit, keyed(add_five, key, 2), 0), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, keyed(add_five, 2, 2), 0), ANSWER_DONE));
    assert_int_equal(kit_do(&kit, keyed(add_five, 1, 2), 0), ANSWER_DONE);
    assert_true(kit.out.changed);
    kit_stop(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_repeated_key_hears_the_first_outcome_and_changes_nothing),
        cmocka_unit_test(a_key_with_another_request_is_refused),
        cmocka_unit_test(what_changed_nothing_is_decided_again),
        cmocka_unit_test(lists_of_users_drive_no_other_key_out),
        cmocka_unit_test(the_oldest_key_goes_when_there_are_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
