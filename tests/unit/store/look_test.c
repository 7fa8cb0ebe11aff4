/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for reconciliation: a moment that stays, and lists in slices. */
#include "contract/reconcile.h"

#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define look(place) ((place)->store->ops->reconcile)

static int place_setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    for (user_id user = 1; user <= 5; user++)
        assert_int_equal(place_sell(place, user), STATUS_OK);
    *state = place;
    return 0;
}

static int place_teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static uint64_t live_of(struct place *place)
{
    struct look_user users[8];
    uint32_t count;
    uint64_t live = 0;
    assert_int_equal(look(place)->users(place->store, place->item, true, 0, users, 8, &count), STATUS_OK);
    for (uint32_t i = 0; i < count; i++)
        live += users[i].live;
    return live;
}

static void a_moment_stays_while_the_writer_goes_on(void **state)
{
    struct place *place = *state;
    struct look_item item;
    uint32_t count;
    assert_int_equal(look(place)->moment_begin(place->store), STATUS_OK);
    assert_int_equal(place_sell(place, 6), STATUS_OK);
    assert_int_equal(look(place)->items(place->store, LOOK_MOMENT, 0, &item, 1, &count), STATUS_OK);
    assert_int_equal(item.item.sold, 5);
    assert_int_equal(live_of(place), 5);
    assert_int_equal(look(place)->items(place->store, LOOK_NOW, 0, &item, 1, &count), STATUS_OK);
    assert_int_equal(item.item.sold, 6);
    look(place)->moment_end(place->store);
    look(place)->moment_end(place->store);
    assert_int_equal(place_number(place, "PRAGMA wal_checkpoint(TRUNCATE)"), 0); /* nobody reads */
    assert_int_equal(look(place)->moment_begin(place->store), STATUS_OK);
    assert_int_equal(live_of(place), 6);
    look(place)->moment_end(place->store);
}

static void lists_come_in_slices_and_one_by_one(void **state)
{
    struct place *place = *state;
    struct look_order orders[2];
    struct look_user users[3];
    uint32_t count;
    bool dead = true;
    assert_int_equal(look(place)->orders(place->store, 3, orders, 2, &count), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(orders[0].order.ticket, 4);
    assert_true(orders[0].has_slot && orders[0].slot == 0 && orders[0].limit_per_user == 1);
    assert_int_equal(look(place)->order(place->store, 9, orders), STATUS_NOT_FOUND);
    assert_int_equal(look(place)->dead(place->store, 9, &dead), STATUS_OK);
    assert_false(dead);
    assert_int_equal(look(place)->moment_begin(place->store), STATUS_OK);
    assert_int_equal(look(place)->users(place->store, place->item, true, 0, users, 3, &count), STATUS_OK);
    assert_int_equal(count, 3);
    assert_int_equal(
        look(place)->users(place->store, place->item, false, users[2].user, users, 3, &count), STATUS_OK);
    assert_int_equal(count, 2);
    look(place)->moment_end(place->store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, place_setup, place_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_moment_stays_while_the_writer_goes_on),
        TEST(lists_come_in_slices_and_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
