/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/place.h"
#include "tests/unit/store/sqlite/fault_vfs.h"

#include "store/parts.h"
#include "store/sqlite/sqlite.h"

#include <fcntl.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int setup(void **state)
{
    struct place *place = test_calloc(1, sizeof *place);
    place_make(place);
    *state = place;
    return 0;
}

static int teardown(void **state)
{
    place_remove(*state);
    test_free(*state);
    return 0;
}

static void another_schema_version_is_refused_by_name(void **state)
{
    struct place *place = *state;
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    assert_int_equal(place_number(place, "PRAGMA user_version"), SQLITE_SCHEMA_VERSION);
    place_close(place);
    place_execute(place, "PRAGMA user_version = 99");
    assert_int_equal(place_open(place, NULL), STATUS_CONFLICT);
    assert_non_null(strstr(place->error, "version 99"));
    assert_null(place->store);
    place_execute(place, "PRAGMA user_version = 0"); /* tables without a version are nobody's */
    assert_int_equal(place_open(place, NULL), STATUS_CONFLICT);
}

static void the_database_of_another_program_is_left_alone(void **state)
{
    struct place *place = *state;
    place_execute(place, "CREATE TABLE theirs(x); PRAGMA application_id = 77");
    assert_int_equal(place_open(place, NULL), STATUS_CONFLICT);
    assert_non_null(strstr(place->error, "another program"));
    assert_int_equal(place_number(place, "SELECT count(*) FROM sqlite_schema"), 1);
}

static void a_file_that_is_no_database_is_corrupt(void **state)
{
    struct place *place = *state;
    int file = open(place->path, O_WRONLY | O_CREAT, 0600);
    char page[8192];
    memset(page, 'x', sizeof page);
    assert_int_equal(write(file, page, sizeof page), (ssize_t)sizeof page);
    close(file);
    assert_int_equal(place_open(place, NULL), STATUS_CORRUPT);
    assert_true(place->error[0] != '\0');
}

static void a_path_that_can_not_be_opened_is_away(void **state)
{
    struct place *place = *state;
    struct order_store *store;
    char error[100];
    assert_int_equal(sqlite_store_open(&store, "/nonexistent/folder/x.db", NULL, error, sizeof error),
        STATUS_AWAY);
    assert_true(error[0] != '\0');
    assert_null(store);
    assert_int_equal(sqlite_store_open(&store, place->path, "no-such-vfs", error, sizeof error),
        STATUS_BAD_INPUT);
}

static void a_database_held_by_somebody_else_at_birth_is_away(void **state)
{
    struct place *place = *state;
    sqlite3 *other;
    assert_int_equal(sqlite3_open(place->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(place_open(place, NULL), STATUS_AWAY);
    sqlite3_close(other);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
}

static void the_log_is_written_ahead_and_types_are_strict(void **state)
{
    struct place *place = *state;
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    assert_int_equal(
        place_number(place,
            "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND NOT strict"
            " AND name NOT LIKE 'sqlite%'"),
        0);
    place_execute(place, "UPDATE items SET total = 5");
    assert_int_not_equal(place_try(place, "UPDATE items SET total = 'many'"), SQLITE_OK);
}

/* A rollback journal that comes back after a power cut would empty the new database, WAL and
 * all. */
static void the_journal_of_the_birth_is_gone_for_good(void **state)
{
    struct place *place = *state;
    fault_vfs_register();
    fault_plan = (struct fault_plan){ 0 };
    assert_int_equal(place_open(place, FAULT_VFS_NAME), STATUS_OK);
    assert_true(fault_plan.deletes > 0);
    assert_int_equal(fault_plan.deletes_unsynced, 0);
    const uint32_t calls = fault_plan.calls;
    assert_int_equal(place_sell(place, 1), STATUS_OK);
    assert_true(fault_plan.calls > calls); /* and it is still through this disk */
}

static void the_tables_themselves_refuse_what_must_not_be(void **state)
{
    struct place *place = *state;
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    assert_int_equal(place_sell(place, 1), STATUS_OK);
    assert_int_not_equal(place_try(place, "UPDATE items SET sold = total + 1"), SQLITE_OK);
    assert_int_not_equal(place_try(place, "UPDATE items SET sold = -1"), SQLITE_OK);
    assert_int_not_equal(place_try(place, "UPDATE orders SET amount = amount + 1"), SQLITE_OK);
    assert_int_not_equal(place_try(place, "UPDATE orders SET state = 9"), SQLITE_OK);
    /* a live order without a slot, a closed one without a reason, a closed one with its slot */
    assert_int_not_equal(place_try(place, "UPDATE orders SET slot = NULL"), SQLITE_OK);
    assert_int_not_equal(place_try(place, "UPDATE orders SET state = 3, slot = NULL"), SQLITE_OK);
    assert_int_not_equal(place_try(place, "UPDATE orders SET state = 3, reason = 1"), SQLITE_OK);
    assert_int_equal(place_try(place, "UPDATE orders SET state = 3, reason = 1, slot = NULL"), SQLITE_OK);
    assert_int_not_equal(place_try(place, "INSERT INTO store_identity VALUES(2, 0, 0)"), SQLITE_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void a_server_gets_the_cache_that_it_asks_for(void **state)
{
    struct place *place = *state;
    uint64_t cache = 0, pages = 0;
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    struct store *store = store_of(place->store);
    assert_int_equal(sql_number(store, "PRAGMA wal_autocheckpoint", NO_VALUES, &pages), STATUS_OK);
    assert_int_equal(pages, SQLITE_CHECKPOINT_PAGES);
    assert_int_equal(sqlite_store_serve(place->store, 8), STATUS_OK);
    assert_int_equal(sql_number(store, "PRAGMA cache_size", NO_VALUES, &cache), STATUS_OK);
    assert_int_equal((int64_t)cache, -8 * 1024); /* below zero: in KiB */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(another_schema_version_is_refused_by_name),
        TEST(the_database_of_another_program_is_left_alone),
        TEST(a_file_that_is_no_database_is_corrupt),
        TEST(a_path_that_can_not_be_opened_is_away),
        TEST(a_database_held_by_somebody_else_at_birth_is_away),
        TEST(the_log_is_written_ahead_and_types_are_strict),
        TEST(the_journal_of_the_birth_is_gone_for_good),
        TEST(the_tables_themselves_refuse_what_must_not_be),
        TEST(a_server_gets_the_cache_that_it_asks_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
