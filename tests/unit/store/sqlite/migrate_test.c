/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/place.h"

#include "contract/cluster_store.h"
#include "store/sqlite/sqlite.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { DUMP_BYTES_MAX = 1 << 20, SCHEMA_TEXT_MAX = 1 << 16 };

/* A function of SQL: the CHECK with this number (from 0 on) in the text of a table, without blanks;
 * NULL: there are not so many. */
static void check_at(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    char text[512];
    size_t used = 0;
    const char *at = strstr((const char *)sqlite3_value_text(values[0]), "CHECK(");
    for (int64_t i = sqlite3_value_int64(values[1]); at != NULL && i > 0; i--)
        at = strstr(at + 1, "CHECK(");
    if (at == NULL)
        return;
    at += strlen("CHECK");
    int depth = 0;
    do {
        depth += (*at == '(') - (*at == ')');
        if (*at != ' ')
            text[used++] = *at;
        assert_true(used < sizeof text && *at != '\0');
        at++;
    } while (depth > 0);
    sqlite3_result_text(context, text, (int)used, SQLITE_TRANSIENT);
}

/* The columns of each table in their order, its keys, what they must fulfil, and the indexes. */
static const char schema_sql[] =
    "WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 63) "
    "SELECT t.name || '.' || c.cid || ' ' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' '"
    "  || ifnull(c.dflt_value, '-') || ' ' || c.pk FROM sqlite_schema t, "
    "pragma_table_xinfo(t.name) c"
    "  WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"
    " UNION ALL SELECT t.name || ' key ' || (SELECT group_concat(name) FROM (SELECT name FROM"
    "  pragma_index_info(l.name) ORDER BY seqno)) FROM sqlite_schema t, pragma_index_list(t.name) l"
    "  WHERE t.type = 'table' AND l.origin <> 'c'"
    " UNION ALL SELECT t.name || ' by ' || f.\"from\" || ' of ' || f.\"table\" FROM sqlite_schema "
    "t,"
    "  pragma_foreign_key_list(t.name) f WHERE t.type = 'table'"
    " UNION ALL SELECT t.name || ' check ' || check_at(t.sql, n) FROM sqlite_schema t, numbers"
    "  WHERE t.type = 'table' AND check_at(t.sql, n) IS NOT NULL"
    " UNION ALL SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY 1";

static void schema_read(const char *path, char *text)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    size_t used = 0;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(
        sqlite3_create_function(database, "check_at", 2, SQLITE_UTF8, NULL, check_at, NULL, NULL),
        SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, schema_sql, -1, &statement, NULL), SQLITE_OK);
    text[0] = '\0';
    while (sqlite3_step(statement) == SQLITE_ROW) {
        used += (size_t)snprintf(text + used, SCHEMA_TEXT_MAX - used, "%s\n",
            (const char *)sqlite3_column_text(statement, 0));
        assert_true(used < SCHEMA_TEXT_MAX);
    }
    sqlite3_finalize(statement);
    sqlite3_close(database);
}

static char *dump_read(const char *path)
{
    char *text = test_calloc(1, DUMP_BYTES_MAX);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, DUMP_BYTES_MAX - 1, file) > 0);
    fclose(file);
    return text;
}

static int setup_of(void **state, const char *path)
{
    struct place *place = test_calloc(1, sizeof *place);
    char *dump = dump_read(path);
    place_make(place);
    place_execute(place, dump);
    place_execute(place, "PRAGMA journal_mode = WAL");
    test_free(dump);
    *state = place;
    return 0;
}

static int setup(void **state)
{
    return setup_of(state, "tests/unit/store/sqlite/schema_5.sql");
}

static int setup_6(void **state)
{
    return setup_of(state, "tests/unit/store/sqlite/schema_6.sql");
}

static int setup_7(void **state)
{
    return setup_of(state, "tests/unit/store/sqlite/schema_7.sql");
}

static int setup_8(void **state)
{
    return setup_of(state, "tests/unit/store/sqlite/schema_8.sql");
}

static int setup_9(void **state)
{
    return setup_of(state, "tests/unit/store/sqlite/schema_9.sql");
}

static int setup_14(void **state)
{
    return setup_of(state, "tests/unit/store/sqlite/schema_14.sql");
}

static int teardown(void **state)
{
    struct place *place = *state;
    char copy[128];
    for (int version = SQLITE_SCHEMA_FIRST; version < SQLITE_SCHEMA_VERSION; version++) {
        snprintf(copy, sizeof copy, "%s.schema-%d", place->path, version);
        unlink(copy);
    }
    place_remove(place);
    test_free(place);
    return 0;
}

static enum status migrate(struct place *place)
{
    return sqlite_store_migrate(place->path, NULL, place->error, sizeof place->error);
}

static void a_migrated_database_has_the_schema_of_a_new_one(void **state)
{
    struct place *place = *state;
    struct place fresh;
    char *migrated = test_calloc(1, SCHEMA_TEXT_MAX), *new = test_calloc(1, SCHEMA_TEXT_MAX);
    assert_int_equal(migrate(place), STATUS_OK);
    place_make(&fresh);
    assert_int_equal(place_open(&fresh, NULL), STATUS_OK);
    schema_read(place->path, migrated);
    schema_read(fresh.path, new);
    assert_string_equal(migrated, new);
    place_remove(&fresh);
    test_free(migrated);
    test_free(new);
}

static void rows_survive_and_the_store_opens(void **state)
{
    struct place *place = *state;
    const int64_t orders = place_number(place, "SELECT count(*) FROM orders");
    assert_true(orders > 0);
    assert_int_equal(place_open(place, NULL), STATUS_CONFLICT);
    assert_non_null(strstr(place->error, "'stampede serve' migrates it"));
    assert_int_equal(migrate(place), STATUS_OK);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT count(*) FROM orders"), orders);
    assert_int_equal(place_number(place, "PRAGMA user_version"), SQLITE_SCHEMA_VERSION);
    assert_int_equal(place_number(place, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

static void the_sums_of_old_orders_are_made(void **state)
{
    struct place *place = *state;
    item_id wrong;
    assert_int_equal(migrate(place), STATUS_OK);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT sum(orders) FROM order_sums"),
        place_number(place, "SELECT count(*) FROM orders"));
    assert_int_equal(place->store->ops->sums_check(place->store, &wrong), STATUS_OK);
    assert_int_equal(wrong, 0);
}

static void the_log_becomes_that_of_partition_0(void **state)
{
    struct place *place = *state;
    struct position position;
    uint64_t data_id = 0, secret = 0;
    const int64_t seq = place_number(place, "SELECT lsn FROM queue_position");
    assert_int_equal(migrate(place), STATUS_OK);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    const struct order_store_ops *ops = place->store->ops;
    assert_int_equal(ops->applied(place->store, PART_EMBEDDED, &position), STATUS_OK);
    assert_true(seq > 0 && position.seq == (uint64_t)seq);
    assert_int_equal(ops->identity(place->store, &data_id), STATUS_OK);
    assert_true(data_id == UINT64_C(8346646625123316888));
    assert_int_equal(ops->secret_check(place->store, &secret), STATUS_OK);
    assert_true(secret == UINT64_C(5144339599012501378));
    assert_int_equal(place_number(place, "SELECT count(*) FROM parts"), 1);
}

static void sales_and_their_partitions_get_one_shard(void **state)
{
    struct place *place = *state;
    struct part_state part;
    struct sale sale;
    assert_int_equal(migrate(place), STATUS_OK);
    assert_int_equal(place_open(place, NULL), STATUS_OK);
    const struct order_store_ops *ops = place->store->ops;
    assert_int_equal(ops->sale_get(place->store, 1, &sale), STATUS_OK);
    assert_int_equal(sale.shards, 1);
    assert_int_equal(ops->cluster->part(place->store, 32, &part), STATUS_OK);
    assert_true(part.seq == 3 && part.epoch == 2 && part.shards == 1);
    sale.shards = 2;
    assert_int_equal(ops->sale_update(place->store, &sale), STATUS_CONFLICT);
}

static void late_money_keeps_the_key_that_the_journal_has(void **state)
{
    struct place *place = *state;
    place_execute(place,
        "PRAGMA foreign_keys = OFF;"
        "INSERT INTO payments(ticket, paid_ticket, provider, reference, provider_id, url,"
        " amount, currency, captured, state, use, tries, created_ms, captured_ms,"
        " next_ms, pay_by_ms, closing_ms)"
        " VALUES(1, 0, 'a', 'late', '', '', 1, 'CNY', 1, 4, 2, 0, 1, 1, 1, 1, 0),"
        " (1, 0, 'a', 'open', '', '', 1, 'CNY', 0, 2, 0, 0, 1, 1, 1, 1, 0)");
    assert_int_equal(migrate(place), STATUS_OK);
    assert_int_equal(place_number(place, "SELECT late_before FROM payments WHERE reference = 'late'"), 1);
    assert_int_equal(place_number(place, "SELECT late_before FROM payments WHERE reference = 'open'"), 0);
}

static void the_copy_is_the_database_as_it_was(void **state)
{
    struct place *place = *state, copy = { 0 };
    const int64_t orders = place_number(place, "SELECT count(*) FROM orders");
    assert_int_equal(migrate(place), STATUS_OK);
    snprintf(copy.path, sizeof copy.path, "%s/orders.db.schema-5", place->folder);
    assert_int_equal(place_number(&copy, "PRAGMA user_version"), 5);
    assert_int_equal(place_number(&copy, "SELECT count(*) FROM orders"), orders);
}

static void a_migration_that_fails_leaves_the_old_version(void **state)
{
    struct place *place = *state;
    sqlite3 *other;
    assert_int_equal(sqlite3_open(place->path, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(migrate(place), STATUS_AWAY);
    assert_true(place->error[0] != '\0');
    sqlite3_close(other);
    assert_int_equal(place_number(place, "PRAGMA user_version"), 5);
    assert_int_equal(migrate(place), STATUS_OK); /* and the next try overwrites the copy */
    assert_int_equal(place_number(place, "PRAGMA user_version"), SQLITE_SCHEMA_VERSION);
}

static void a_step_that_fails_late_takes_back_all_before_it(void **state)
{
    struct place *place = *state;
    char *before = test_calloc(1, SCHEMA_TEXT_MAX), *after = test_calloc(1, SCHEMA_TEXT_MAX);
    place_execute(place, "CREATE TABLE customers(mine INTEGER)"); /* the last step makes one of that name */
    schema_read(place->path, before);
    assert_int_not_equal(migrate(place), STATUS_OK);
    assert_non_null(strstr(place->error, "customers"));
    schema_read(place->path, after);
    assert_string_equal(after, before);
    assert_int_equal(place_number(place, "PRAGMA user_version"), 5);
    test_free(before);
    test_free(after);
}

/* ---- a process that ends at a statement ---- */

/* Nobody cuts the power here: what a killed process has written is there. */
int fsync(int fd)
{
    (void)fd;
    return 0;
}

int fdatasync(int fildes) /* the name that libc's header has for it */
{
    (void)fildes;
    return 0;
}

enum { EXIT_KILLED = 9, STATEMENTS_MAX = 1000 };
static uint32_t statements_left;

static int statement_begins(unsigned kind, void *context, void *statement, void *sql)
{
    (void)kind, (void)context, (void)statement, (void)sql;
    if (statements_left-- == 0)
        _exit(EXIT_KILLED);
    return 0;
}

static int connection_watch(sqlite3 *database, const char **message, const void *api)
{
    (void)message, (void)api;
    return sqlite3_trace_v2(database, SQLITE_TRACE_STMT, statement_begins, NULL);
}

/* True: it was killed before that statement. False: it had no so many. */
static bool migrate_killed(struct place *place, uint32_t at)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        statements_left = at;
        (void)sqlite3_auto_extension((void (*)(void))connection_watch);
        _exit(migrate(place) == STATUS_OK ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && (WEXITSTATUS(how) == 0 || WEXITSTATUS(how) == EXIT_KILLED));
    return WEXITSTATUS(how) == EXIT_KILLED;
}

static void file_copy(const char *from, const char *to)
{
    char *bytes = test_calloc(1, DUMP_BYTES_MAX);
    FILE *in = fopen(from, "r"), *out = fopen(to, "w");
    assert_true(in != NULL && out != NULL);
    const size_t size = fread(bytes, 1, DUMP_BYTES_MAX, in);
    assert_true(size > 0 && size < DUMP_BYTES_MAX);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(in) + fclose(out), 0);
    test_free(bytes);
}

/* Each takes two migrations, which ASan makes five times as long: there one of so many, each without it. */
#ifdef __SANITIZE_ADDRESS__
enum { KILL_STEP = 7 };
#else
enum { KILL_STEP = 1 };
#endif

static void killed_at_each_statement_a_migration_ends_the_same(void **state)
{
    struct place *place = *state;
    char *whole = test_calloc(1, SCHEMA_TEXT_MAX), *killed = test_calloc(1, SCHEMA_TEXT_MAX);
    uint32_t at = 0;
    bool was_killed = true;
    char old[128];
    snprintf(old, sizeof old, "%s/old.db", place->folder);
    place_execute(place, "PRAGMA wal_checkpoint(TRUNCATE)");
    file_copy(place->path, old);
    assert_int_equal(migrate(place), STATUS_OK);
    schema_read(place->path, whole);
    for (; was_killed && at < STATEMENTS_MAX; at += KILL_STEP) {
        struct place other;
        char copy[128];
        place_make(&other);
        file_copy(old, other.path);
        was_killed = migrate_killed(&other, at);
        assert_int_equal(
            place_number(&other, "PRAGMA user_version"), was_killed ? 5 : SQLITE_SCHEMA_VERSION);
        assert_int_equal(migrate(&other), STATUS_OK);
        schema_read(other.path, killed);
        assert_string_equal(killed, whole);
        snprintf(copy, sizeof copy, "%s.schema-5", other.path);
        unlink(copy);
        place_remove(&other);
    }
    assert_true(!was_killed && at > 40);
    unlink(old);
    test_free(whole);
    test_free(killed);
}

static void what_is_not_older_is_left_alone(void **state)
{
    struct place *place = *state;
    char path[128], error[200];
    snprintf(path, sizeof path, "%s/none.db", place->folder);
    assert_int_equal(sqlite_store_migrate(path, NULL, error, sizeof error), STATUS_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    place_execute(place, "PRAGMA user_version = 4");
    assert_int_equal(migrate(place), STATUS_OK);
    assert_int_equal(place_number(place, "PRAGMA user_version"), 4);
    assert_int_equal(place_open(place, NULL), STATUS_CONFLICT);
    place_execute(place, "PRAGMA user_version = 5; PRAGMA application_id = 77");
    assert_int_equal(migrate(place), STATUS_OK);
    assert_int_equal(place_number(place, "PRAGMA user_version"), 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_6(name) cmocka_unit_test_setup_teardown(name, setup_6, teardown)
#define TEST_7(name) cmocka_unit_test_setup_teardown(name, setup_7, teardown)
#define TEST_8(name) cmocka_unit_test_setup_teardown(name, setup_8, teardown)
#define TEST_9(name) cmocka_unit_test_setup_teardown(name, setup_9, teardown)
#define TEST_14(name) cmocka_unit_test_setup_teardown(name, setup_14, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_migrated_database_has_the_schema_of_a_new_one),
        TEST_6(a_migrated_database_has_the_schema_of_a_new_one),
        TEST_6(rows_survive_and_the_store_opens),
        TEST_7(a_migrated_database_has_the_schema_of_a_new_one),
        TEST_7(rows_survive_and_the_store_opens),
        TEST_8(a_migrated_database_has_the_schema_of_a_new_one),
        TEST_8(the_log_becomes_that_of_partition_0),
        TEST_9(a_migrated_database_has_the_schema_of_a_new_one),
        TEST_9(rows_survive_and_the_store_opens),
        TEST_9(the_log_becomes_that_of_partition_0),
        TEST_14(a_migrated_database_has_the_schema_of_a_new_one),
        TEST_14(rows_survive_and_the_store_opens),
        TEST_14(sales_and_their_partitions_get_one_shard),
        TEST(the_sums_of_old_orders_are_made),
        TEST_6(the_sums_of_old_orders_are_made),
        TEST(rows_survive_and_the_store_opens),
        TEST(late_money_keeps_the_key_that_the_journal_has),
        TEST(the_copy_is_the_database_as_it_was),
        TEST(a_migration_that_fails_leaves_the_old_version),
        TEST(a_step_that_fails_late_takes_back_all_before_it),
        TEST(killed_at_each_statement_a_migration_ends_the_same),
        TEST(what_is_not_older_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
