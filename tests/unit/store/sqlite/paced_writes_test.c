/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/paced_writes.h"

#include "tests/unit/base/unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROWS = 4000, ROW_BYTES = 1000, PAGES = ROWS * ROW_BYTES / 4096, SLICE_PAGES = 64 };

static int64_t number(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    const int64_t found = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return found;
}

static void the_fold_of_a_wal_is_written_in_slices_and_changes_nothing(void **state)
{
    char folder[] = "/tmp/paced-XXXXXX", path[64], rows[160];
    sqlite3 *database;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.db", folder);
    snprintf(rows, sizeof rows,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "INSERT INTO t SELECT i, zeroblob(%d) FROM n",
        ROWS, ROW_BYTES);
    paced_writes_start();
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database,
                         "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;"
                         "CREATE TABLE t(i INTEGER PRIMARY KEY, b BLOB)",
                         NULL, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, rows, NULL, NULL, NULL), SQLITE_OK);
    const uint64_t before = paced_writes_slices();
    assert_int_equal(
        sqlite3_exec(database, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL), SQLITE_OK);
    assert_in_range(paced_writes_slices() - before, PAGES / SLICE_PAGES, 2 * PAGES / SLICE_PAGES);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(number(database, "SELECT count(*) FROM t"), ROWS);
    assert_int_equal(
        number(database, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
    assert_int_equal(sqlite3_close(database), SQLITE_OK);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fold_of_a_wal_is_written_in_slices_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
