/* SPDX-License-Identifier: Apache-2.0 */
/* engine_room.c: arrivals, the draw, the head. */
#include "tests/unit/inventory/engine_kit.h"

static struct kit kit;

static int setup(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    kit_stop(&kit);
    return 0;
}

static enum answer arrive(user_id user, uint64_t now_ms)
{
    return kit_do(&kit,
        (struct command){ .type = COMMAND_ARRIVE, .arrive = { .sale = 1, .user = user } }, now_ms);
}

static enum answer admit(uint32_t head, uint64_t now_ms)
{
    return kit_do(&kit,
        (struct command){ .type = COMMAND_ADMIT, .admit = { .sale = 1, .head = head } }, now_ms);
}

static void numbers_count_from_zero_and_stay_with_their_user(void **state)
{
    (void)state;
    for (user_id user = ANNA; user <= CLEO; user++) {
        assert_int_equal(arrive(user, 0), ANSWER_DONE);
        assert_int_equal(kit.out.number, user - ANNA);
    }
    for (user_id user = CLEO; user >= ANNA; user--) {
        kit_expect_same(&kit, assert_int_equal(arrive(user, SALE_NOW), ANSWER_UNCHANGED));
        assert_int_equal(kit.out.number, user - ANNA);
    }
}

static void who_comes_at_the_start_or_later_is_not_in_the_draw(void **state)
{
    (void)state;
    assert_int_equal(arrive(ANNA, SALE_START - 1), ANSWER_DONE);
    assert_false(kit.engine.sales[1].draw_done);
    assert_int_equal(arrive(BERT, SALE_START), ANSWER_DONE);
    assert_true(kit.engine.sales[1].draw_done);
    assert_int_equal(kit.engine.sales[1].drawn, 1);
    assert_int_equal(arrive(CLEO, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit.engine.sales[1].drawn, 1);
    assert_int_equal(kit.out.number, 2);
}

static void a_sale_opened_by_hand_has_started(void **state)
{
    const struct command open = { .type = COMMAND_GATE, .gate = { .sale = 1, .move = GATE_MOVE_OPEN } };
    (void)state;
    assert_int_equal(arrive(ANNA, 0), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(admit(1, 0), ANSWER_NOT_STARTED));
    assert_int_equal(kit_do(&kit, open, 0), ANSWER_DONE);
    assert_int_equal(arrive(BERT, 0), ANSWER_DONE);
    assert_int_equal(kit.engine.sales[1].drawn, 1);
}

static void the_draw_happens_once_and_the_head_never_moves_back(void **state)
{
    (void)state;
    for (user_id user = ANNA; user <= CLEO; user++)
        assert_int_equal(arrive(user, 0), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(admit(0, SALE_START - 1), ANSWER_NOT_STARTED));
    assert_int_equal(admit(0, SALE_START), ANSWER_DONE);
    assert_int_equal(kit.engine.sales[1].drawn, 3);
    kit_expect_same(&kit, assert_int_equal(admit(0, SALE_START), ANSWER_UNCHANGED));
    assert_int_equal(admit(2, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit.out.number, 2);
    kit_expect_same(&kit, assert_int_equal(admit(1, SALE_NOW), ANSWER_UNCHANGED));
    assert_int_equal(kit.out.number, 2);
    assert_int_equal(admit(UINT32_MAX, SALE_NOW), ANSWER_DONE); /* not beyond those who are there */
    assert_int_equal(kit.out.number, 3);
}

static void an_empty_room_has_a_draw_of_nobody(void **state)
{
    (void)state;
    assert_int_equal(admit(5, SALE_NOW), ANSWER_DONE);
    assert_int_equal(kit.out.number, 0);
    assert_true(kit.engine.sales[1].draw_done);
}

static void nobody_enters_a_sale_that_is_over_unknown_or_full(void **state)
{
    const struct command unknown = { .type = COMMAND_ARRIVE, .arrive = { .sale = 2, .user = ANNA } };
    const struct command end = { .type = COMMAND_GATE, .gate = { .sale = 1, .move = GATE_MOVE_END } };
    (void)state;
    kit_expect_same(&kit, assert_int_equal(kit_do(&kit, unknown, 0), ANSWER_UNKNOWN_SALE));
    for (user_id user = 1; user <= KIT_PLACES; user++)
        assert_int_equal(arrive(user, 0), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(arrive(ANNA, 0), ANSWER_UNAVAILABLE));
    assert_int_equal(arrive(KIT_PLACES, 0), ANSWER_UNCHANGED);
    kit_expect_same(&kit, assert_int_equal(arrive(ANNA, SALE_END), ANSWER_ENDED));
    assert_int_equal(kit_do(&kit, end, SALE_NOW), ANSWER_DONE);
    kit_expect_same(&kit, assert_int_equal(arrive(ANNA, SALE_NOW), ANSWER_ENDED));
}

static void nothing_changes_where_nothing_can_be_logged(void **state)
{
    const struct command enter = { .type = COMMAND_ARRIVE, .arrive = { .sale = 1, .user = ANNA } };
    const struct command draw = { .time_ms = SALE_NOW, .type = COMMAND_ADMIT, .admit = { .sale = 1 } };
    (void)state;
    kit_expect_same(&kit, engine_apply(&kit.engine, &enter, false, &kit.out));
    assert_int_equal(kit.out.answer, ANSWER_UNAVAILABLE);
    kit_expect_same(&kit, engine_apply(&kit.engine, &draw, false, &kit.out));
    assert_int_equal(kit.out.answer, ANSWER_UNAVAILABLE);
}

static void what_does_not_add_up_is_found(void **state)
{
    (void)state;
    assert_int_equal(arrive(ANNA, 0), ANSWER_DONE);
    assert_int_equal(arrive(BERT, 0), ANSWER_DONE);
    assert_null(engine_check(&kit.engine));
    kit.engine.places.rows[1].number = 0;
    assert_non_null(engine_check(&kit.engine));
    kit.engine.places.rows[1].number = 1;
    kit.engine.sales[1].head = 3;
    assert_non_null(engine_check(&kit.engine));
    kit.engine.sales[1].head = 0;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(numbers_count_from_zero_and_stay_with_their_user),
        CASE(who_comes_at_the_start_or_later_is_not_in_the_draw),
        CASE(a_sale_opened_by_hand_has_started),
        CASE(the_draw_happens_once_and_the_head_never_moves_back),
        CASE(an_empty_room_has_a_draw_of_nobody),
        CASE(nobody_enters_a_sale_that_is_over_unknown_or_full),
        CASE(nothing_changes_where_nothing_can_be_logged),
        CASE(what_does_not_add_up_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
