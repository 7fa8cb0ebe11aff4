/* SPDX-License-Identifier: Apache-2.0 */
#include "store/moving.h"

#include "contract/cluster_store.h"
#include "contract/ticket_number.h"
#include "store/store.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

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

static void a_sale_that_moved_is_of_partition_0_and_gets_no_other(void **state)
{
    struct place *place = *state;
    const struct cluster_store_ops *ops = place->store->ops->cluster;
    struct part_state states[4];
    uint32_t count = 9;
    uint64_t sales = 0;
    assert_int_equal(ops->parts(place->store, 0, states, 4, &count), STATUS_OK);
    assert_int_equal(count, 0); /* one machine */
    assert_int_equal(store_move_sales(store_connection(place->store), &sales), STATUS_OK);
    assert_true(sales > 0);
    assert_int_equal(store_move_part(store_connection(place->store), 7, sales), STATUS_OK);
    assert_int_equal(ops->part_want(place->store, part_of_sale((sale_id)sales, 0)), STATUS_OK);
    assert_int_equal(ops->parts(place->store, 0, states, 4, &count), STATUS_OK);
    assert_true(count == 1 && states[0].part == PART_EMBEDDED && states[0].sales == sales);
    assert_true(states[0].epoch == EPOCH_MOVED && states[0].seq == 7 && states[0].shards == 1);
    assert_int_equal(ops->epoch_raise(place->store, PART_EMBEDDED, EPOCH_MOVED), STATUS_OK);
    assert_int_equal(ops->part_want(place->store, part_of_sale((sale_id)sales + 1, 0)), STATUS_OK);
    assert_int_equal(ops->parts(place->store, 0, states, 4, &count), STATUS_OK);
    assert_true(count == 2 && states[0].epoch == EPOCH_MOVED + 1 && states[1].sales == 0);
}

static void only_a_database_that_nobody_uses_is_filled_and_it_opens_for_its_own_move(void **state)
{
    struct place *place = *state;
    struct sql_connection *connection = store_connection(place->store);
    const struct store_move first = { .data_id = 5, .secret_check = 6, .move = 77 };
    const struct store_move other = { .data_id = 5, .secret_check = 6, .move = 78 };
    struct store_move found;
    enum shop_moving moving = SHOP_LEFT;
    uint64_t data_id = 0;
    assert_int_equal(place->store->ops->identity(place->store, &data_id), STATUS_OK);
    assert_int_equal(data_id, 0);
    assert_int_equal(store_move_seal(connection), STATUS_CONFLICT); /* there is no shop */
    assert_int_equal(place->store->ops->cluster->moving(place->store, &moving), STATUS_OK);
    assert_int_equal(moving, SHOP_STAYS);
    assert_int_equal(store_move_begin(connection, &first), STATUS_OK);
    assert_int_equal(store_move_begin(connection, &other), STATUS_CONFLICT);
    assert_int_equal(store_move_open(connection, other.move), STATUS_CONFLICT);
    assert_int_equal(place->store->ops->cluster->moving(place->store, &moving), STATUS_OK);
    assert_int_equal(moving, SHOP_COMES);
    assert_int_equal(store_move_seal(connection), STATUS_CONFLICT);
    assert_int_equal(store_move_open(connection, first.move), STATUS_OK);
    assert_int_equal(store_move_read(connection, &found), STATUS_OK);
    assert_true(found.data_id == 5 && found.secret_check == 6 && found.move == 77 && !found.filling);
}

static void a_sealed_shop_leaves_for_one_folder_only(void **state)
{
    struct place *place = *state;
    struct sql_connection *connection = store_connection(place->store);
    const struct store_move first = { .data_id = 5, .secret_check = 6, .move = 77 };
    enum shop_moving moving = SHOP_STAYS;
    assert_int_equal(store_move_begin(connection, &first), STATUS_OK);
    assert_int_equal(store_move_leave(connection, 100), STATUS_CONFLICT);
    assert_int_equal(store_move_open(connection, first.move), STATUS_OK);
    assert_int_equal(store_move_leave(connection, 100), STATUS_CONFLICT);
    assert_int_equal(store_move_seal(connection), STATUS_OK);
    assert_int_equal(place->store->ops->cluster->moving(place->store, &moving), STATUS_OK);
    assert_int_equal(moving, SHOP_LEAVES);
    assert_int_equal(store_move_seal(connection), STATUS_CONFLICT);
    assert_int_equal(store_move_leave(connection, 100), STATUS_OK);
    assert_int_equal(store_move_leave(connection, 102), STATUS_CONFLICT);
    assert_int_equal(place->store->ops->cluster->moving(place->store, &moving), STATUS_OK);
    assert_int_equal(moving, SHOP_LEFT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_sale_that_moved_is_of_partition_0_and_gets_no_other),
        TEST(a_sealed_shop_leaves_for_one_folder_only),
        TEST(only_a_database_that_nobody_uses_is_filled_and_it_opens_for_its_own_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
