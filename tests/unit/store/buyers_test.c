/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/place.h"

#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { BUYERS = 300 }; /* more than two parts of a list */

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

/* Both halves of the signed numbers, and their ends. */
static user_id buyer(uint32_t index)
{
    const user_id ends[] = { (user_id)INT64_MIN, (user_id)INT64_MAX, UINT64_MAX };
    return index < 3 ? ends[index] : index % 2 == 0 ? index : 0 - (user_id)index * 3;
}

static void buyers_buy(struct place *place)
{
    struct queue_record records[BUYERS];
    for (uint32_t i = 0; i < BUYERS; i++)
        records[i] = place_win(place, buyer(i));
    assert_int_equal(place_apply(place, records, BUYERS), STATUS_OK);
}

static bool list_once(struct place *place, uint64_t over_ms)
{
    bool more;
    assert_int_equal(place->store->ops->buyers_list(place->store, over_ms, &more), STATUS_OK);
    return more;
}

static uint32_t list_all(struct place *place)
{
    uint32_t parts = 0;
    while (list_once(place, 2)) /* the sale ends at 2 */
        parts++;
    return parts;
}

static uint32_t orders_of(struct place *place, user_id user)
{
    const struct order_filter filter = { .user = user };
    struct order orders[8];
    uint32_t count;
    ticket_number next;
    assert_int_equal(
        place->store->ops->orders_list(place->store, &filter, orders, 8, &count, &next), STATUS_OK);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(orders[i].user, user);
    return count;
}

static void all_have_their_order(struct place *place)
{
    item_id wrong;
    for (uint32_t i = 0; i < BUYERS; i++)
        assert_int_equal(orders_of(place, buyer(i)), 1);
    assert_int_equal(place->store->ops->buyers_check(place->store, &wrong), STATUS_OK);
    assert_int_equal(wrong, 0);
}

static int64_t listed(struct place *place)
{
    return place_number(place, "SELECT buyers_listed FROM items WHERE id = 1");
}

static void a_sale_that_is_on_is_not_listed(void **state)
{
    struct place *place = *state;
    buyers_buy(place);
    while (list_once(place, 1))
        ;
    assert_int_equal(listed(place), 0);
    assert_int_equal(place_number(place, "SELECT count(*) FROM buyer_items"), 0);
    all_have_their_order(place);
}

static void a_past_sale_is_listed_in_small_parts_and_its_orders_are_found_all_the_time(void **state)
{
    struct place *place = *state;
    uint32_t parts = 0;
    buyers_buy(place);
    while (list_once(place, 2)) {
        all_have_their_order(place);
        parts++;
    }
    assert_true(parts >= 3);
    assert_int_equal(listed(place), 1);
    assert_int_equal(place_number(place, "SELECT count(*) FROM buyer_items"), BUYERS);
    all_have_their_order(place);
    assert_false(list_once(place, 2)); /* nothing is left */
}

static void a_list_that_was_cut_off_by_a_crash_begins_again(void **state)
{
    struct place *place = *state;
    buyers_buy(place);
    assert_true(list_once(place, 2));
    place_close(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    assert_true(place_number(place, "SELECT count(*) FROM buyer_items") < BUYERS);
    (void)list_all(place);
    assert_int_equal(place_number(place, "SELECT count(*) FROM buyer_items"), BUYERS);
    all_have_their_order(place);
}

static void a_late_order_is_found_whether_the_list_is_under_way_or_done(void **state)
{
    struct place *place = *state;
    const user_id early = (user_id)INT64_MIN + 1; /* the list is past it after its first part */
    buyers_buy(place);
    assert_true(list_once(place, 2));
    assert_int_equal(place_sell(place, early), STATUS_OK);
    (void)list_all(place);
    assert_int_equal(listed(place), 1);
    assert_int_equal(orders_of(place, early), 1);
    assert_int_equal(place_sell(place, 1000001), STATUS_OK);
    assert_int_equal(orders_of(place, 1000001), 1);
    all_have_their_order(place);
}

static enum status gate_move(struct place *place, enum gate_move move)
{
    const struct queue_record record = { .at.seq = ++place->lsn,
        .command = { .type = COMMAND_GATE, .time_ms = 1, .gate = { .sale = 1, .move = (uint8_t)move } },
        .outcome = { .answer = ANSWER_DONE, .changed = true } };
    return place_apply(place, &record, 1);
}

static void an_ended_sale_is_listed_and_one_that_is_reopened_is_looked_at_again(void **state)
{
    struct place *place = *state;
    buyers_buy(place);
    assert_int_equal(gate_move(place, GATE_MOVE_END), STATUS_OK);
    while (list_once(place, 1))
        ;
    assert_int_equal(listed(place), 1);
    assert_int_equal(gate_move(place, GATE_MOVE_REOPEN), STATUS_OK);
    assert_int_equal(listed(place), 0);
    const int64_t rows = place_number(place, "SELECT count(*) FROM buyer_items");
    assert_int_equal(place_sell(place, 1000001), STATUS_OK); /* as cheap as any order of a running sale */
    assert_int_equal(place_number(place, "SELECT count(*) FROM buyer_items"), rows);
    assert_int_equal(orders_of(place, 1000001), 1);
    all_have_their_order(place);
    (void)list_all(place);
    assert_int_equal(orders_of(place, 1000001), 1);
}

static void a_missing_row_is_noticed(void **state)
{
    struct place *place = *state;
    item_id wrong;
    buyers_buy(place);
    (void)list_all(place);
    place_execute(place, "DELETE FROM buyer_items WHERE user_id = 4");
    assert_int_equal(place->store->ops->buyers_check(place->store, &wrong), STATUS_OK);
    assert_int_equal(wrong, 1);
}

static void an_item_of_several_lots_is_listed_whatever_item_comes_after_it(void **state)
{
    struct place *place = *state;
    store_lots_set(place->store, 4);
    const item_id second = place_item_add(place), third = place_item_add(place);
    for (user_id user = 1; user <= 10; user++)
        assert_int_equal(place_sell(place, user), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT last_lot FROM items WHERE id = 1"), 2);
    place->item = third;
    assert_int_equal(place_sell(place, 20), STATUS_OK);
    for (uint32_t parts = 0; list_once(place, 2); parts++)
        assert_true(parts < 8);
    assert_int_equal(place_number(place, "SELECT count(*) FROM items WHERE buyers_listed = 0"), 0);
    assert_int_equal(place_number(place, "SELECT count(*) FROM buyer_items WHERE item = 1"), 10);
    assert_int_equal(place_number(place, "SELECT count(*) FROM buyer_items"), 11);
    assert_int_equal(second + 1, third);
    for (user_id user = 1; user <= 10; user++)
        assert_int_equal(orders_of(place, user), 1);
}

static void many_items_without_orders_are_a_few_parts(void **state)
{
    struct place *place = *state;
    place_execute(place,
        "WITH RECURSIVE n(id) AS (SELECT 2 UNION ALL SELECT id + 1 FROM n WHERE id < 1000)"
        " INSERT INTO items(id, sale, product, flash_price, limit_per_user, pay_window_ms, total, "
        "locked,"
        " sold, sold_before, written_off, safety, channel_0, channel_1, channel_2, channel_3, "
        "channel_4,"
        " channel_5, channel_6, channel_7, version, preheated, deduct_on_payment)"
        " SELECT id, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0 FROM n");
    assert_int_equal(list_all(place), (1000 + 63) / 64); /* as many items are looked at in each */
    assert_int_equal(place_number(place, "SELECT count(*) FROM items WHERE buyers_listed = 0"), 0);
    assert_true(place_plan_has(place,
        "EXPLAIN QUERY PLAN SELECT id FROM items WHERE buyers_listed = 0", "items_unlisted"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sale_that_is_on_is_not_listed, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_past_sale_is_listed_in_small_parts_and_its_orders_are_found_all_the_time, setup, teardown),
        cmocka_unit_test_setup_teardown(a_list_that_was_cut_off_by_a_crash_begins_again, setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_item_of_several_lots_is_listed_whatever_item_comes_after_it, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_late_order_is_found_whether_the_list_is_under_way_or_done, setup, teardown),
        cmocka_unit_test_setup_teardown(
            an_ended_sale_is_listed_and_one_that_is_reopened_is_looked_at_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_missing_row_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(many_items_without_orders_are_a_few_parts, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
