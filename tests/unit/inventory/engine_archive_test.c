/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/engine_apply.h"

#include "tests/unit/inventory/engine_kit.h"

static struct kit kit;

static enum answer archive(uint8_t table, uint32_t from, uint32_t rows, uint64_t now_ms)
{
    const struct command command = { .type = COMMAND_ARCHIVE,
        .archive = { .sale = 1, .from = from, .rows = rows, .table = table } };
    return kit_do(&kit, command, now_ms);
}

static enum answer skip_to(uint32_t to)
{
    return kit_do(&kit, (struct command){ .type = COMMAND_SKIP, .skip = { .to = to } }, SALE_NOW);
}

/* 1 and 2 of one user, sold; 3 returned; 4 written off. */
static void all_settled(void)
{
    assert_int_equal(kit_buy(&kit, ANNA, 101, 1), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, ANNA, 102, 2), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, BERT, 103, 1), ANSWER_WON);
    assert_int_equal(kit_buy(&kit, CLEO, 104, 1), ANSWER_WON);
    for (ticket_number ticket = 1; ticket <= 2; ticket++)
        assert_int_equal(kit_settle(&kit, ticket, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 3, SETTLE_RETURN), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 4, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 4, SETTLE_WRITE_OFF), ANSWER_DONE);
}

static void units_leave_with_their_tickets_and_numbers_stay_used(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 5);
    all_settled();
    const struct engine_item *item = &kit.engine.items[1];
    const uint32_t given = item->given, free = kit_free(&kit, 0);
    assert_int_equal(archive(ARCHIVE_TICKETS, 0, RECLAIM_ROWS_MAX, SALE_END), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 4);
    assert_int_equal(kit.out.number, 0);
    assert_int_equal(tickets_used(&kit.engine.tickets), 0);
    assert_int_equal(item->sold + item->written_off + item->held, 0);
    assert_int_equal(item->given, given - 4);
    assert_int_equal(kit_free(&kit, 0), free);
    kit_check(&kit);
    kit_expect_same(&kit,
        assert_int_equal(archive(ARCHIVE_TICKETS, 0, RECLAIM_ROWS_MAX, SALE_END), ANSWER_UNCHANGED));
    assert_int_equal(kit.engine.tickets.last, 4);
    kit_stop(&kit);
}

static void a_part_of_a_users_tickets_leaves_a_sound_counter(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 5);
    all_settled();
    assert_int_equal(archive(ARCHIVE_TICKETS, 0, 1, SALE_END), ANSWER_DONE);
    assert_int_equal(kit.out.number, 1);
    kit_check(&kit);
    assert_int_equal(buyers_find(&kit.engine.buyers, buyers_scope_item(1), ANNA)->used, 2);
    assert_int_equal(archive(ARCHIVE_TICKETS, 1, 1, SALE_END), ANSWER_DONE);
    assert_null(buyers_find(&kit.engine.buyers, buyers_scope_item(1), ANNA));
    kit_check(&kit);
    kit_stop(&kit);
}

static void a_held_ticket_or_a_sale_that_is_on_refuses_and_changes_nothing(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    all_settled();
    assert_int_equal(kit_buy(&kit, CLEO, 105, 1), ANSWER_WON);
    kit_expect_same(&kit,
        assert_int_equal(archive(ARCHIVE_TICKETS, 0, RECLAIM_ROWS_MAX, SALE_END), ANSWER_CONFLICT));
    kit_expect_same(
        &kit, assert_int_equal(archive(ARCHIVE_TICKETS, 0, 4, SALE_END - 1), ANSWER_CONFLICT));
    kit_expect_same(&kit, assert_int_equal(archive(ARCHIVE_TICKETS, 0, 0, SALE_END), ANSWER_CONFLICT));
    kit_expect_same(&kit,
        assert_int_equal(archive(ARCHIVE_TICKETS, 0, RECLAIM_ROWS_MAX + 1, SALE_END), ANSWER_CONFLICT));
    kit_expect_same(&kit, assert_int_equal(archive(ARCHIVE_TABLES, 0, 1, SALE_END), ANSWER_CONFLICT));
    assert_int_equal(archive(ARCHIVE_TICKETS, 0, 4, SALE_END), ANSWER_DONE);
    kit_check(&kit);
    kit_stop(&kit);
}

static void counters_that_count_nothing_and_eligible_users_go_last(void **state)
{
    (void)state;
    const struct command users = { .type = COMMAND_USERS,
        .users = { .sale = 1, .count = 2, .users = { ANNA, BERT } } };
    kit_start(&kit, 16);
    assert_int_equal(kit_sale(&kit, 5, true), ANSWER_DONE);
    assert_int_equal(kit_preheat(&kit, 1, 0), ANSWER_DONE);
    assert_int_equal(kit_do(&kit, users, SALE_START - 1), ANSWER_DONE);
    assert_int_equal(kit_buy(&kit, ANNA, 1, 1), ANSWER_WON);
    assert_int_equal(kit_settle(&kit, 1, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(archive(ARCHIVE_TICKETS, 0, RECLAIM_ROWS_MAX, SALE_END), ANSWER_DONE);
    assert_int_equal(archive(ARCHIVE_BUYERS, 0, RECLAIM_ROWS_MAX, SALE_END), ANSWER_DONE);
    assert_int_equal(buyers_room(&kit.engine.buyers), kit.engine.buyers.capacity);
    kit_check(&kit);
    kit_stop(&kit);
}

static void enters(sale_id sale, user_id user)
{
    const struct command command = { .type = COMMAND_ARRIVE, .arrive = { .sale = sale, .user = user } };
    assert_int_equal(kit_do(&kit, command, SALE_START - 1), ANSWER_DONE);
}

/* Rows: 1 2 1 2 1. A place goes with every command, and numbers have no gap after any of them. */
static void places_go_from_the_last_to_the_first_and_those_at_the_beginning_are_used_again(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    const struct command other = { .type = COMMAND_SALE,
        .sale = { .sale = 2, .start_ms = SALE_START, .end_ms = 9 * SALE_END } };
    assert_int_equal(kit_do(&kit, other, 0), ANSWER_DONE);
    const struct places *places = &kit.engine.places;
    for (user_id user = 1; user <= 5; user++)
        enters(user % 2 == 1 ? 1 : 2, user);
    kit_expect_same(&kit, assert_int_equal(archive(ARCHIVE_PLACES, 0, 2, SALE_END - 1), ANSWER_CONFLICT));
    static const struct {
        uint32_t from, next, arrived;
        uint64_t begin;
    } parts[] = { { 0, 3, 2, 0 }, { 3, 1, 1, 0 }, { 1, 0, 0, 1 } };
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(archive(ARCHIVE_PLACES, parts[i].from, 2, SALE_END), ANSWER_DONE);
        assert_int_equal(kit.out.number, parts[i].next);
        assert_int_equal(kit.out.applied, 1);
        assert_int_equal(kit.engine.sales[1].arrived, parts[i].arrived);
        assert_int_equal(places->begin, parts[i].begin);
        kit_check(&kit);
    }
    kit_expect_same(&kit,
        assert_int_equal(archive(ARCHIVE_PLACES, 0, RECLAIM_ROWS_MAX, SALE_END), ANSWER_UNCHANGED));
    assert_int_equal(places_taken(places), 2);
    assert_int_equal(places_at(places, places_find(places, 2, 4))->number, 1);
    for (user_id user = 10; !places_full(places); user++)
        enters(2, user);
    assert_int_equal(places->count - places->begin, places->capacity);
    assert_int_equal(places->count, places->capacity + 1); /* over the end of the ring */
    kit_check(&kit);
    kit_stop(&kit);
}

static void numbers_that_are_left_out_are_never_given(void **state)
{
    (void)state;
    kit_ready(&kit, 0, 0);
    assert_int_equal(kit_buy(&kit, ANNA, 1, 1), ANSWER_WON);
    assert_int_equal(skip_to(1000), ANSWER_DONE);
    assert_int_equal(kit.out.applied, 999);
    kit_expect_same(&kit, assert_int_equal(skip_to(1000), ANSWER_UNCHANGED));
    kit_expect_same(&kit, assert_int_equal(skip_to(1001 + SKIP_NUMBERS_MAX), ANSWER_CONFLICT));
    assert_int_equal(kit_buy(&kit, BERT, 2, 1), ANSWER_WON);
    assert_int_equal(kit.out.ticket, 1001);
    assert_int_equal(kit_settle(&kit, 1001, SETTLE_SOLD), ANSWER_DONE);
    assert_int_equal(kit_settle(&kit, 1, SETTLE_SOLD), ANSWER_DONE);
    kit_check(&kit);
    kit_stop(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_leave_with_their_tickets_and_numbers_stay_used),
        cmocka_unit_test(a_part_of_a_users_tickets_leaves_a_sound_counter),
        cmocka_unit_test(a_held_ticket_or_a_sale_that_is_on_refuses_and_changes_nothing),
        cmocka_unit_test(counters_that_count_nothing_and_eligible_users_go_last),
        cmocka_unit_test(places_go_from_the_last_to_the_first_and_those_at_the_beginning_are_used_again),
        cmocka_unit_test(numbers_that_are_left_out_are_never_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
