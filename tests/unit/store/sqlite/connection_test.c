/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct sql_values none;

static int setup(void **state)
{
    struct sqlite_connection *connection;
    char error[200];
    assert_int_equal(
        sqlite_connect(&connection, ":memory:", NULL, SQLITE_OPEN_READWRITE, error, sizeof error),
        STATUS_OK);
    *state = &connection->connection;
    assert_int_equal(
        sqlite_script(*state,
            "CREATE TABLE things(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT{40} NOT NULL,"
            " size INTEGER CHECK(size > 0)) STRICT;"
            "CREATE UNIQUE INDEX things_name ON things(name){size, name} WHERE size = 1;"),
        STATUS_OK);
    return 0;
}

static int teardown(void **state)
{
    sqlite_disconnect(*state);
    return 0;
}

/* The first number that it answers; 0: none. */
static enum status ask(struct sql_connection *connection, const char *sql, int64_t *number)
{
    struct sql_row *row;
    *number = 0;
    enum status status = connection->driver->query(connection, sql, none, &row);
    if (status != STATUS_OK)
        return status;
    status = connection->driver->next(row);
    if (status == STATUS_OK)
        *number = connection->driver->number(row, 0);
    connection->driver->finish(row);
    return status;
}

static const char put_a[] = "INSERT INTO things(name, size) VALUES('a', 1) RETURNING id";
static const char put_bad[] = "INSERT INTO things(name, size) VALUES('b', 0) RETURNING id";
static const char count[] = "SELECT count(*) FROM things";

static void what_stands_in_braces_is_left_out(void **state)
{
    int64_t found;
    assert_int_equal(
        ask(*state, "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%{%'", &found), STATUS_OK);
    assert_int_equal(found, 0);
    assert_int_equal(
        ask(*state, "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%(name) WHERE size = 1'", &found),
        STATUS_OK);
    assert_int_equal(found, 1);
}

static void a_lock_of_rows_is_no_word_of_sqlite(void **state)
{
    int64_t id;
    assert_int_equal(ask(*state, put_a, &id), STATUS_OK);
    assert_int_equal(ask(*state, "SELECT id FROM things WHERE name = 'a' FOR UPDATE", &id), STATUS_OK);
    assert_int_equal(id, 1);
}

static void errors_have_classes(void **state)
{
    struct sql_connection *connection = *state;
    int64_t id;
    assert_int_equal(ask(connection, put_a, &id), STATUS_OK);
    assert_int_equal(ask(connection, put_a, &id), STATUS_REFUSED);
    assert_int_equal(connection->driver->error(connection), SQL_ERROR_UNIQUE);
    assert_int_equal(ask(connection, put_bad, &id), STATUS_REFUSED);
    assert_int_equal(connection->driver->error(connection), SQL_ERROR_CHECK);
    assert_non_null(strstr(connection->driver->message(connection), "CHECK"));
    assert_int_equal(ask(connection, "SELECT x FROM nothing", &id), STATUS_CORRUPT);
    assert_int_equal(connection->driver->error(connection), SQL_ERROR_CORRUPT);
}

static void a_part_is_dropped_alone(void **state)
{
    struct sql_connection *connection = *state;
    int64_t number;
    assert_int_equal(connection->driver->begin(connection), STATUS_OK);
    assert_int_equal(connection->driver->part_begin(connection, "request"), STATUS_OK);
    assert_int_equal(ask(connection, put_a, &number), STATUS_OK);
    assert_int_equal(connection->driver->part_begin(connection, "part"), STATUS_OK);
    assert_int_equal(
        ask(connection, "INSERT INTO things(name, size) VALUES('c', 3) RETURNING id", &number), STATUS_OK);
    connection->driver->part_drop(connection, "part");
    assert_int_equal(connection->driver->part_keep(connection, "request"), STATUS_OK);
    assert_true(connection->driver->is_open(connection));
    assert_int_equal(connection->driver->commit(connection), STATUS_OK);
    assert_false(connection->driver->is_open(connection));
    assert_int_equal(ask(connection, count, &number), STATUS_OK);
    assert_int_equal(number, 1);
}

static void a_counter_is_lifted_before_its_first_row(void **state)
{
    struct sql_connection *connection = *state;
    uint64_t last;
    int64_t id;
    assert_int_equal(connection->driver->counter(connection, "things", &last), STATUS_OK);
    assert_int_equal(last, 0);
    assert_int_equal(connection->driver->counter_lift(connection, "things", 40), STATUS_OK);
    assert_int_equal(connection->driver->counter_lift(connection, "things", 30), STATUS_OK);
    assert_int_equal(ask(connection, put_a, &id), STATUS_OK);
    assert_int_equal(id, 41);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_stands_in_braces_is_left_out),
        TEST(a_lock_of_rows_is_no_word_of_sqlite),
        TEST(errors_have_classes),
        TEST(a_part_is_dropped_alone),
        TEST(a_counter_is_lifted_before_its_first_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
