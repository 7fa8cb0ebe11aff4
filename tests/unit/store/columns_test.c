/* SPDX-License-Identifier: Apache-2.0 */
#include "store/columns.h"
#include "store/sqlite/connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct inner {
    uint32_t list[3];
    bool flag;
};
struct row {
    uint64_t big;
    struct inner inner;
    int64_t below;
    int small;
    uint8_t byte;
    char text[4];
    uint64_t sum;
    uint32_t not_a_column;
};

static const struct sql_columns inner_columns = COLUMNS(inner, FIELD(inner, list), FIELD(inner, flag));
static const struct sql_columns row_columns =
    COLUMNS(row, FIELD(row, big), PART(row, inner, &inner_columns), FIELD(row, below),
        FIELD(row, small), FIELD(row, byte), FIELD(row, text), SUM(row, sum));

static int setup(void **state)
{
    struct sqlite_connection *connection;
    char error[200];
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

static struct sql_row *row_of(struct sql_connection *connection, const char *sql)
{
    struct sql_row *row;
    assert_int_equal(
        connection->driver->query(connection, sql, (struct sql_values){ NULL, 0 }, &row), STATUS_OK);
    assert_int_equal(connection->driver->next(row), STATUS_OK);
    return row;
}

static void row_end(struct sql_row *row)
{
    row->connection->driver->finish(row);
}

static void take(struct sql_connection *connection, const char *sql,
    const struct sql_columns *columns, void *out)
{
    struct sql_row *row = row_of(connection, sql);
    assert_int_equal(sql_columns_take(columns, row, out), STATUS_OK);
    row_end(row);
}

static void each_column_goes_to_its_field(void **state)
{
    struct row row = { .not_a_column = 7 };
    take(*state, "SELECT -1, 4, 5, 6, 2, -8, -9, 10, 'abc', 3, 12", &row_columns, &row);
    assert_true(row.big == UINT64_MAX);
    assert_int_equal(row.inner.list[0], 4);
    assert_int_equal(row.inner.list[2], 6);
    assert_true(row.inner.flag);
    assert_true(row.below == -8);
    assert_int_equal(row.small, -9);
    assert_int_equal(row.byte, 10);
    assert_string_equal(row.text, "abc");
    assert_true(row.sum == ((uint64_t)3 << 32) + 12);
    assert_int_equal(row.not_a_column, 0);
}

static void what_does_not_fit_is_cut(void **state)
{
    struct row row;
    take(*state, "SELECT NULL, -1, 4294967296, NULL, 0, 0, 0, 0, 'abcd', 0, 0", &row_columns, &row);
    assert_int_equal(row.big, 0);
    assert_int_equal(row.inner.list[0], 0);
    assert_int_equal(row.inner.list[1], UINT32_MAX);
    assert_false(row.inner.flag);
    assert_string_equal(row.text, "abc");
    take(*state, "SELECT 1, 2, 3, 4, 0, 0, 0, 0, NULL, 0, 0", &row_columns, &row);
    assert_string_equal(row.text, "");
}

static enum status same_as_the_fifth(struct sql_row *row, void *out)
{
    return ((const struct inner *)out)->list[0] == column_u32(row, 4) ? STATUS_OK : STATUS_CORRUPT;
}

static const struct sql_columns checked_columns =
    COLUMNS_ALSO(inner, same_as_the_fifth, FIELD(inner, list), FIELD(inner, flag));

static void more_than_fields_is_taken_after_them(void **state)
{
    struct inner inner;
    take(*state, "SELECT 5, 0, 0, 1, 5", &checked_columns, &inner);
    struct sql_row *row = row_of(*state, "SELECT 5, 0, 0, 1, 6");
    assert_int_equal(sql_columns_take(&checked_columns, row, &inner), STATUS_CORRUPT);
    row_end(row);
}

static void a_blob_is_taken_whole_or_not_at_all(void **state)
{
    uint8_t bytes[3] = { 9, 9, 9 };
    struct sql_row *row = row_of(*state, "SELECT x'0102', x'01020304', x'', NULL");
    assert_int_equal(column_blob(row, 0, bytes, sizeof bytes), 2);
    assert_int_equal(bytes[1], 2);
    assert_int_equal(bytes[2], 9);
    for (int at = 1; at < 4; at++)
        assert_int_equal(column_blob(row, at, bytes, sizeof bytes), 0);
    assert_int_equal(bytes[0], 1);
    row_end(row);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_column_goes_to_its_field),
        TEST(what_does_not_fit_is_cut),
        TEST(more_than_fields_is_taken_after_them),
        TEST(a_blob_is_taken_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
