/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy_table.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static struct copy_table table;

static void columns_keys_and_what_may_be_null_are_read_from_the_text(void **state)
{
    struct span script =
        SPAN("CREATE INDEX x ON y(a);CREATE TABLE t("
             "  a INTEGER NOT NULL CHECK(a IN (1, 2)), b TEXT{40} NOT NULL DEFAULT ',)',"
             "  c INTEGER, d BLOB NOT NULL,"
             "  CHECK((c IS NULL) = (a > 2)), UNIQUE(a, c), PRIMARY KEY(b, a)) STRICT;"
             "CREATE TABLE u(id INTEGER PRIMARY KEY AUTOINCREMENT, n INTEGER NOT NULL) STRICT;");
    (void)state;
    assert_true(copy_table_take(&script, &table, 5));
    assert_string_equal(table.name, "t");
    assert_int_equal(table.column_count, 4);
    assert_int_equal(table.null_count, 1);
    assert_true(table.columns[2].may_be_null && !table.counts);
    assert_true(table.columns[1].kind == COPY_TEXT && table.columns[3].kind == COPY_BLOB);
    assert_true(table.key_count == 2 && table.keys[0] == 1 && table.keys[1] == 0);
    assert_string_equal(table.next[0],
        "SELECT a, b, c, d, CASE WHEN c IS NULL THEN 1 ELSE 0 END FROM t"
        " WHERE b > ?1 ORDER BY b, a LIMIT ?2");
    assert_string_equal(table.next[1],
        "SELECT a, b, c, d, CASE WHEN c IS NULL THEN 1 ELSE 0 END FROM t"
        " WHERE b = ?1 AND a > ?2 ORDER BY b, a LIMIT ?3");
    assert_string_equal(table.insert,
        "INSERT INTO t(a, b, c, d) VALUES(?1, ?2, CASE WHEN ?5 = 1 THEN NULL ELSE ?3 END, ?4)");
    assert_int_equal(table.many_rows, 2);
    assert_string_equal(table.many,
        "INSERT INTO t(a, b, c, d) VALUES(?1, ?2, CASE WHEN ?5 = 1 THEN NULL ELSE ?3 END, ?4),"
        " (?6, ?7, CASE WHEN ?10 = 1 THEN NULL ELSE ?8 END, ?9)");
    assert_string_equal(table.last, "SELECT b, a FROM t ORDER BY b DESC, a DESC LIMIT 1");
    assert_true(copy_table_take(&script, &table, 512));
    assert_string_equal(table.name, "u");
    assert_true(table.counts && table.column_count == 2 && table.null_count == 0);
    assert_int_equal(table.many_rows, COPY_MANY_ROWS);
    assert_string_equal(table.first, "SELECT id, n FROM u ORDER BY id LIMIT ?1");
    assert_false(copy_table_take(&script, &table, 512));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_keys_and_what_may_be_null_are_read_from_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
