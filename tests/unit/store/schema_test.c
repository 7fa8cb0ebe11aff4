/* SPDX-License-Identifier: Apache-2.0 */
/* On SQLite, through its driver; tests/seam/schema_postgres_test.c and its sister run it on servers. */
#include "store/schema.h"
#include "store/sqlite/connection.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char error[256];

static int setup(void **state)
{
    struct sqlite_connection *connection;
    assert_int_equal(
        sqlite_connect(&connection, ":memory:", NULL, SQLITE_OPEN_READWRITE, error, sizeof error),
        STATUS_OK);
    *state = &connection->connection;
    return 0;
}

static int teardown(void **state)
{
    sqlite_disconnect(*state);
    return 0;
}

static void tables_are_made_by_a_command_and_not_by_the_way(void **state)
{
    struct sql_connection *connection = *state;
    uint64_t before = 99;
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "'stampede store migrate'"));
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_CONFLICT);
    assert_int_equal(store_schema_migrate(connection, &before, error, sizeof error), STATUS_OK);
    assert_int_equal(before, 0);
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_OK);
    assert_int_equal(store_schema_migrate(connection, &before, error, sizeof error), STATUS_OK);
    assert_int_equal(before, STORE_SCHEMA_VERSION);
}

static void what_was_begun_is_not_served_and_is_ended_by_the_next_call(void **state)
{
    struct sql_connection *connection = *state;
    uint64_t before = 99;
    assert_int_equal(
        connection->driver->script(connection, "CREATE TABLE order_sums(x INTEGER) STRICT;"), STATUS_OK);
    assert_int_not_equal(store_schema_migrate(connection, &before, error, sizeof error), STATUS_OK);
    assert_non_null(strstr(error, "order_sums"));
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "not all there"));
    assert_int_equal(connection->driver->script(connection, "DROP TABLE order_sums;"), STATUS_OK);
    assert_int_equal(store_schema_migrate(connection, &before, error, sizeof error), STATUS_OK);
    assert_int_equal(before, 0);
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_OK);
}

static void a_version_table_without_its_row_is_gone_on_with(void **state)
{
    struct sql_connection *connection = *state;
    uint64_t before = 99;
    assert_int_equal(
        connection->driver->script(connection,
            "CREATE TABLE stampede_schema(id INTEGER PRIMARY KEY, version INTEGER NOT NULL)"
            " STRICT;"),
        STATUS_OK);
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_CONFLICT);
    assert_int_equal(store_schema_migrate(connection, &before, error, sizeof error), STATUS_OK);
    assert_int_equal(before, 0);
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_OK);
}

static void tables_of_a_newer_program_are_left_alone(void **state)
{
    struct sql_connection *connection = *state;
    uint64_t before = 99;
    assert_int_equal(store_schema_migrate(connection, &before, error, sizeof error), STATUS_OK);
    assert_int_equal(
        connection->driver->script(connection, "UPDATE stampede_schema SET version = 99;"), STATUS_OK);
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "newer"));
    assert_int_equal(store_schema_migrate(connection, &before, error, sizeof error), STATUS_CONFLICT);
}

static void what_another_version_began_is_left_alone(void **state)
{
    struct sql_connection *connection = *state;
    uint64_t before = 99;
    assert_int_equal(
        connection->driver->script(connection, "CREATE TABLE order_sums(x INTEGER) STRICT;"), STATUS_OK);
    assert_int_not_equal(store_schema_migrate(connection, &before, error, sizeof error), STATUS_OK);
    assert_int_equal(
        connection->driver->script(connection, "UPDATE stampede_step SET target = 99;"), STATUS_OK);
    assert_int_equal(store_schema_migrate(connection, &before, error, sizeof error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "another version"));
}

static void a_version_that_no_server_had_is_refused(void **state)
{
    struct sql_connection *connection = *state;
    uint64_t before = 99;
    assert_int_equal(store_schema_migrate(connection, &before, error, sizeof error), STATUS_OK);
    assert_int_equal(
        connection->driver->script(connection, "UPDATE stampede_schema SET version = 3;"), STATUS_OK);
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_CONFLICT);
    assert_int_equal(store_schema_migrate(connection, &before, error, sizeof error), STATUS_CONFLICT);
    assert_non_null(strstr(error, "version 3"));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(tables_are_made_by_a_command_and_not_by_the_way),
        TEST(what_was_begun_is_not_served_and_is_ended_by_the_next_call),
        TEST(a_version_table_without_its_row_is_gone_on_with),
        TEST(tables_of_a_newer_program_are_left_alone),
        TEST(what_another_version_began_is_left_alone),
        TEST(a_version_that_no_server_had_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
