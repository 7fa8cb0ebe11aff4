/* SPDX-License-Identifier: Apache-2.0 */
/* Stock against writers that are not ours: what is in the file counts, not what we remember. */
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

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

static void a_version_moved_between_batches_is_read_again(void **state)
{
    struct place *place = *state;
    assert_int_equal(place_sell(place, 1), STATUS_OK);
    const int64_t version = place_number(place, "SELECT version FROM items");
    place_execute(place, "UPDATE items SET version = version + 10, total = total - 1");
    assert_int_equal(place_sell(place, 2), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT version FROM items"), version + 11);
    assert_int_equal(place_number(place, "SELECT total FROM items"), PLACE_UNITS - 1);
    assert_int_equal(place_number(place, "SELECT sold FROM items"), 2);
}

static void stock_that_somebody_took_away_is_a_refusal_at_the_first_record_without(void **state)
{
    struct place *place = *state;
    struct queue_record records[5];
    place_execute(place, "UPDATE items SET total = 3");
    for (uint32_t i = 0; i < 5; i++)
        records[i] = place_win(place, 10 + i);
    assert_int_equal(place_apply(place, records, 5), STATUS_REFUSED);
    assert_int_equal(place->refusal.kind, REFUSAL_STOCK);
    assert_int_equal(place->refusal.index, 3);
    assert_int_equal(place_number(place, "SELECT count(*) FROM orders"), 0);
    assert_int_equal(place_apply(place, records, 3), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT total - locked - sold FROM items"), 0);
}

static void a_trigger_that_moves_the_version_is_noticed(void **state)
{
    struct place *place = *state;
    place_close(place);
    /* Another writer between our read and our update, played by a trigger. */
    place_execute(place,
        "CREATE TRIGGER meddle AFTER INSERT ON orders BEGIN"
        " UPDATE items SET version = version + 1; END");
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    assert_int_equal(place_sell(place, 1), STATUS_REFUSED);
    assert_int_equal(place->refusal.kind, REFUSAL_STOCK);
    assert_int_equal(place->refusal.index, UINT32_MAX);
    assert_int_equal(place_number(place, "SELECT count(*) FROM orders"), 0);
    assert_int_equal(place_number(place, "SELECT seq FROM parts"), 0);
}

static enum move_answer moved(struct place *place, ticket_number ticket, enum order_event event)
{
    const struct order_move move = { .ticket = ticket, .event = (uint8_t)event, .now_ms = 1 };
    struct order after;
    uint8_t answer;
    assert_int_equal(place->store->ops->orders_move(place->store, &move, 1, &after, &answer), STATUS_OK);
    return (enum move_answer)answer;
}

static void sums_follow_every_change_of_an_order(void **state)
{
    struct place *place = *state;
    item_id wrong;
    uint64_t orders, units;
    for (user_id user = 1; user <= 5; user++)
        assert_int_equal(place_sell(place, user), STATUS_OK);
    assert_int_equal(moved(place, 2, ORDER_EVENT_CANCEL), MOVE_DONE);
    assert_int_equal(place_number(place, "SELECT orders FROM order_sums WHERE state = 1"), 4);
    assert_int_equal(
        place_number(place, "SELECT orders * 10 + units FROM order_sums WHERE state = 3 AND reason = 2"),
        11);
    assert_int_equal(
        place->store->ops->order_totals(place->store, place->item, &orders, &units), STATUS_OK);
    assert_int_equal(orders, 5);
    assert_int_equal(units, 5);
    assert_int_equal(place->store->ops->sums_check(place->store, &wrong), STATUS_OK);
    assert_int_equal(wrong, 0);
    place_execute(place, "UPDATE order_sums SET amount_low = amount_low + 1 WHERE state = 1");
    assert_int_equal(place->store->ops->sums_check(place->store, &wrong), STATUS_OK);
    assert_int_equal(wrong, place->item);
}

static void a_batch_that_is_refused_adds_to_no_sum(void **state)
{
    struct place *place = *state;
    struct queue_record records[3];
    item_id wrong;
    for (uint32_t i = 0; i < 3; i++)
        records[i] = place_win(place, 10 + i % 2); /* the third: a second order of a user */
    assert_int_equal(place_apply(place, records, 3), STATUS_REFUSED);
    assert_int_equal(place_number(place, "SELECT count(*) FROM order_sums"), 0);
    assert_int_equal(place_apply(place, records, 2), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT orders FROM order_sums"), 2);
    assert_int_equal(place->store->ops->sums_check(place->store, &wrong), STATUS_OK);
    assert_int_equal(wrong, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_version_moved_between_batches_is_read_again),
        TEST(stock_that_somebody_took_away_is_a_refusal_at_the_first_record_without),
        TEST(a_trigger_that_moves_the_version_is_noticed),
        TEST(sums_follow_every_change_of_an_order),
        TEST(a_batch_that_is_refused_adds_to_no_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
