/* SPDX-License-Identifier: Apache-2.0 */
/* Stock against writers that are not ours: what is in the file counts, not what we remember. */
#include "tests/unit/store/sqlite/place.h"

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
    assert_int_equal(place_number(place, "SELECT position FROM queue_position"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_version_moved_between_batches_is_read_again),
        TEST(stock_that_somebody_took_away_is_a_refusal_at_the_first_record_without),
        TEST(a_trigger_that_moves_the_version_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
