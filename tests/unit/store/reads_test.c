/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <sqlite3.h>
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

static void a_read_leaves_no_transaction_behind(void **state)
{
    struct place *place = *state;
    struct order orders[1];
    uint32_t count;
    for (user_id user = 1; user <= 5; user++)
        assert_int_equal(place_sell(place, user), STATUS_OK);
    /* A page that is shorter than the list stops in the middle of a statement. */
    const struct order_filter any = { 0 };
    ticket_number next;
    assert_int_equal(
        place->store->ops->orders_list(place->store, &any, orders, 1, &count, &next), STATUS_OK);
    assert_int_equal(place_number(place, "PRAGMA wal_checkpoint(TRUNCATE)"), 0); /* 1: somebody still reads */
}

static void tables_changed_under_their_version_are_corrupt(void **state)
{
    struct place *place = *state;
    struct dead_letter letters[1];
    uint32_t count;
    place_execute(place, "DROP TABLE dead_letters");
    assert_int_equal(place->store->ops->dead_letters(place->store, 0, DEAD_ANY, letters, 1, &count),
        STATUS_CORRUPT);
    assert_int_equal(count, 0);
}

static void the_newest_orders_are_the_end_of_an_index(void **state)
{
    const char *plan =
        "EXPLAIN QUERY PLAN SELECT * FROM orders WHERE created_ms >= 1 AND created_ms <= 9"
        " AND (created_ms < 9 OR ticket < 5) ORDER BY created_ms DESC, ticket DESC LIMIT 2";
    assert_true(place_plan_has(*state, plan, "orders_by_time"));
    assert_false(place_plan_has(*state, plan, "TEMP B-TREE"));
}

static void a_users_orders_are_found_by_the_key_not_by_scanning(void **state)
{
    struct place *place = *state;
    assert_int_equal(
        place_number(place,
            "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'orders'"
            " AND name NOT IN ('orders_pending', 'orders_by_time')"),
        1);
    sqlite3 *database;
    sqlite3_stmt *plan;
    assert_int_equal(sqlite3_open(place->path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database,
                         "EXPLAIN QUERY PLAN SELECT ticket FROM items CROSS JOIN orders ON "
                         "orders.item = items.id"
                         " WHERE orders.user_id = 1",
                         -1, &plan, NULL),
        SQLITE_OK);
    while (sqlite3_step(plan) == SQLITE_ROW)
        assert_null(strstr((const char *)sqlite3_column_text(plan, 3), "SCAN orders"));
    sqlite3_finalize(plan);
    sqlite3_close(database);
}

static void a_reader_sees_what_is_committed_and_changes_nothing(void **state)
{
    struct place *place = *state;
    struct order_store *reader;
    struct order order;
    uint64_t orders, units;
    assert_int_equal(place->store->ops->reader_open(place->store, &reader), STATUS_OK);
    assert_int_equal(place_sell(place, 1), STATUS_OK);
    assert_int_equal(reader->ops->order_totals(reader, place->item, &orders, &units), STATUS_OK);
    assert_int_equal(orders, 1);
    assert_int_equal(reader->ops->order_by_ticket(reader, 1, &order), STATUS_OK);
    const struct audit_entry entry = { .actor = "x", .action = "y" };
    assert_int_equal(reader->ops->audit_append(reader, &entry), STATUS_AWAY);
    assert_int_equal(place_sell(place, 2), STATUS_OK);
    assert_int_equal(reader->ops->order_by_ticket(reader, 2, &order), STATUS_OK);
    reader->ops->close(reader);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_read_leaves_no_transaction_behind),
        TEST(tables_changed_under_their_version_are_corrupt),
        TEST(the_newest_orders_are_the_end_of_an_index),
        TEST(a_users_orders_are_found_by_the_key_not_by_scanning),
        TEST(a_reader_sees_what_is_committed_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
