/* SPDX-License-Identifier: Apache-2.0 */
#include "store/parts.h"
#include "store/store.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

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

static void a_reader_sees_what_is_committed_and_writes_nothing(void **state)
{
    struct place *place = *state;
    struct order_store *reader;
    struct item item;
    assert_int_equal(place->store->ops->reader_open(place->store, &reader), STATUS_OK);
    struct store *writer = store_of(place->store);
    assert_int_equal(store_begin(writer), STATUS_OK);
    assert_int_equal(sql_do(writer, "UPDATE items SET flash_price = ?1", VALUES(U64(77))), STATUS_OK);
    assert_int_equal(reader->ops->item_get(reader, place->item, &item), STATUS_OK);
    assert_int_not_equal(item.flash_price, 77);
    assert_int_equal(store_commit(writer), STATUS_OK);
    assert_int_equal(reader->ops->item_get(reader, place->item, &item), STATUS_OK);
    assert_int_equal(item.flash_price, 77);
    assert_int_not_equal(
        sql_do(store_of(reader), "UPDATE items SET flash_price = ?1", VALUES(U64(78))), STATUS_OK);
    assert_string_not_equal(store_message(store_of(reader)), "");
    reader->ops->close(reader);
}

static void a_dropped_transaction_changes_nothing(void **state)
{
    struct place *place = *state;
    struct store *store = store_of(place->store);
    struct item item;
    assert_int_equal(store_begin(store), STATUS_OK);
    assert_int_equal(sql_do(store, "UPDATE items SET flash_price = ?1", VALUES(U64(77))), STATUS_OK);
    store_rollback(store);
    store_rollback(store); /* harmless */
    assert_int_equal(place->store->ops->item_get(place->store, place->item, &item), STATUS_OK);
    assert_int_not_equal(item.flash_price, 77);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_reader_sees_what_is_committed_and_writes_nothing),
        TEST(a_dropped_transaction_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
