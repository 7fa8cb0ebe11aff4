/* SPDX-License-Identifier: Apache-2.0 */
/* A migration is killed in a process of its own, by a driver that is the real one and ends the process
 * after a statement. Each process gets one change further; the next one goes on. tables_8.sql has the
 * tables of servers that were made with version 8. */
#include "tests/seam/schema_suite.h"

#include "store/schema.h"
#include "store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT_MAX = 1 << 17, ROUNDS_MAX = 2000, EXIT_KILLED = 9, STEPS_MAX = 64 };

static const struct schema_server *server;
static char error[512];

/* ---- a driver that ends its process ---- */

enum moment { AFTER_WORD, AFTER_SCRIPT, AFTER_COMMIT, MOMENTS };
static const struct driver *real;
static struct driver deadly;
static enum moment deadly_moment;
static bool is_word; /* the statement whose cursor is open writes a row */

static enum status deadly_script(struct sql_connection *connection, const char *sql)
{
    const enum status status = real->script(connection, sql);
    if (deadly_moment == AFTER_SCRIPT)
        _exit(EXIT_KILLED);
    return status;
}

static enum status deadly_commit(struct sql_connection *connection)
{
    const enum status status = real->commit(connection);
    if (deadly_moment == AFTER_COMMIT)
        _exit(EXIT_KILLED);
    return status;
}

static enum status deadly_query(struct sql_connection *connection, const char *sql,
    struct sql_values values, struct sql_row **row)
{
    is_word = strncmp(sql, "SELECT", 6) != 0;
    return real->query(connection, sql, values, row);
}

static void deadly_finish(struct sql_row *row)
{
    real->finish(row);
    if (is_word && deadly_moment == AFTER_WORD)
        _exit(EXIT_KILLED);
}

static void deadly_make(struct sql_connection *connection, enum moment moment)
{
    real = connection->driver;
    deadly = *real;
    deadly.script = deadly_script;
    deadly.commit = deadly_commit;
    deadly.query = deadly_query;
    deadly.finish = deadly_finish;
    deadly_moment = moment;
    connection->driver = &deadly;
}

/* ---- places ---- */

static struct sql_connection *server_connect(void)
{
    struct sql_connection *connection = NULL;
    const enum status status =
        server->connect(&connection, getenv(server->variable), NULL, error, sizeof error);
    if (status != STATUS_OK)
        fail_msg("%s", error);
    return connection;
}

static void script_do(struct sql_connection *connection, const char *sql)
{
    if (connection->driver->script(connection, sql) != STATUS_OK)
        fail_msg("%s", connection->driver->message(connection));
}

static struct sql_connection *empty_connect(void)
{
    struct sql_connection *connection = server_connect();
    script_do(connection, server->clear);
    connection->driver->close(connection);
    return server_connect();
}

static char *described(struct sql_connection *connection)
{
    const struct driver *driver = connection->driver;
    char *text = test_calloc(1, TEXT_MAX);
    size_t used = 0;
    for (const char *const *sql = server->describe; *sql != NULL; sql++) {
        struct sql_row *row;
        assert_int_equal(driver->query(connection, *sql, (struct sql_values){ NULL, 0 }, &row), STATUS_OK);
        while (driver->next(row) == STATUS_OK) {
            size_t bytes;
            const char *line = driver->bytes(row, 0, &bytes);
            used += (size_t)snprintf(text + used, TEXT_MAX - used, "%.*s\n", (int)bytes, line);
            assert_true(used < TEXT_MAX);
        }
        driver->finish(row);
    }
    assert_true(used > 0);
    return text;
}

static void same_schema(const char *one, const char *other)
{
    const char *a = one, *b = other;
    while (*a != '\0' || *b != '\0') {
        const int a_bytes = (int)strcspn(a, "\n"), b_bytes = (int)strcspn(b, "\n");
        if (a_bytes != b_bytes || memcmp(a, b, (size_t)a_bytes) != 0)
            fail_msg("'%.*s' is not '%.*s'", a_bytes, a, b_bytes, b);
        a += a_bytes + (a[a_bytes] != '\0');
        b += b_bytes + (b[b_bytes] != '\0');
    }
}

static int64_t number_of(struct sql_connection *connection, const char *sql)
{
    struct sql_row *row;
    assert_int_equal(
        connection->driver->query(connection, sql, (struct sql_values){ NULL, 0 }, &row), STATUS_OK);
    assert_int_equal(connection->driver->next(row), STATUS_OK);
    const int64_t number = connection->driver->number(row, 0);
    connection->driver->finish(row);
    return number;
}

/* ---- plans: the present one, and one that goes a version further ---- */

static const char trial_table[] =
    "CREATE TABLE trial(id INTEGER PRIMARY KEY AUTOINCREMENT, word TEXT{40} NOT NULL,"
    " number INTEGER NOT NULL, gone INTEGER) STRICT";
static const char *const trial_step[] = {
    trial_table,
    "CREATE INDEX trial_open ON trial(number){gone, number} WHERE gone IS NULL",
    "CREATE UNIQUE INDEX trial_once ON trial(word) WHERE gone IS NULL",
    "INSERT INTO trial(word, number) VALUES('a;b', 1)",
    "UPDATE trial SET number = number * 3",
    "ALTER TABLE trial ADD COLUMN later INTEGER NOT NULL DEFAULT 7 CHECK(later > 0)",
    "UPDATE trial SET number = number + later",
    "ALTER TABLE orders ADD COLUMN trial INTEGER NOT NULL DEFAULT 0",
    "CREATE TABLE short_lived(id INTEGER PRIMARY KEY) STRICT",
    "DROP TABLE short_lived",
    NULL,
};
static const char *const *trial_steps[STEPS_MAX];

static struct schema_plan plan_present(void)
{
    return (struct schema_plan){ STORE_SCHEMA_VERSION, store_steps };
}

static struct schema_plan plan_trial(void)
{
    size_t count = 0;
    for (; store_steps[count] != NULL; count++)
        trial_steps[count] = store_steps[count];
    assert_true(count + 1 < STEPS_MAX);
    trial_steps[count] = trial_step;
    trial_steps[count + 1] = NULL;
    return (struct schema_plan){ STORE_SCHEMA_VERSION + 1, trial_steps };
}

static void follow(struct sql_connection *connection, const struct schema_plan *plan)
{
    uint64_t before;
    if (store_schema_follow(connection, plan, &before, error, sizeof error) != STATUS_OK)
        fail_msg("%s", error);
}

/* How often it was killed before it came to its end. */
static uint32_t follow_killed(const struct schema_plan *plan)
{
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct sql_connection *connection;
            uint64_t before;
            const char *url = getenv(server->variable);
            if (server->connect(&connection, url, NULL, error, sizeof error) != STATUS_OK)
                _exit(1);
            deadly_make(connection, round % MOMENTS);
            const enum status status =
                store_schema_follow(connection, plan, &before, error, sizeof error);
            if (status != STATUS_OK)
                fprintf(stderr, "round %u: %s\n", round, error);
            _exit(status == STATUS_OK ? 0 : 1);
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFEXITED(how));
        if (WEXITSTATUS(how) == 0)
            return round;
        assert_int_equal(WEXITSTATUS(how), EXIT_KILLED);
    }
    fail_msg("it gets nowhere");
    return 0;
}

/* ---- tests ---- */

static void tables_whose_making_is_killed_after_each_change_end_the_same(void **state)
{
    (void)state;
    const struct schema_plan plan = plan_present();
    struct sql_connection *connection = empty_connect();
    follow(connection, &plan);
    char *whole = described(connection);
    connection->driver->close(connection);
    connection = empty_connect();
    assert_true(follow_killed(&plan) > 100);
    char *killed = described(connection);
    same_schema(killed, whole);
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_OK);
    assert_int_equal(number_of(connection, "SELECT count(*) FROM audit_head"), 1);
    connection->driver->close(connection);
    test_free(whole);
    test_free(killed);
}

static void a_step_that_is_killed_after_each_change_ends_the_same(void **state)
{
    (void)state;
    const struct schema_plan present = plan_present(), trial = plan_trial();
    struct sql_connection *connection = empty_connect();
    follow(connection, &present);
    follow(connection, &trial);
    char *whole = described(connection);
    connection->driver->close(connection);
    connection = empty_connect();
    follow(connection, &present);
    assert_true(follow_killed(&trial) > 15);
    char *killed = described(connection);
    same_schema(killed, whole);
    assert_int_equal(number_of(connection, "SELECT count(*) FROM trial"), 1);
    assert_int_equal(number_of(connection, "SELECT number FROM trial"), 10); /* 1 * 3 + 7, each once */
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_CONFLICT); /* newer */
    connection->driver->close(connection);
    test_free(whole);
    test_free(killed);
}

static char *old_tables(void)
{
    char *text = test_calloc(1, TEXT_MAX);
    FILE *file = fopen("tests/seam/tables_8.sql", "r");
    assert_non_null(file);
    const size_t bytes = fread(text, 1, TEXT_MAX - 1, file);
    fclose(file);
    assert_true(bytes > 0 && bytes < TEXT_MAX - 1);
    return text;
}

static void the_tables_of_version_8_become_those_of_a_new_database(void **state)
{
    (void)state;
    const struct schema_plan plan = plan_present();
    char *old = old_tables();
    struct sql_connection *connection = empty_connect();
    follow(connection, &plan);
    char *new = described(connection);
    connection->driver->close(connection);
    connection = empty_connect();
    script_do(connection, old);
    (void)follow_killed(&plan);
    char *migrated = described(connection);
    same_schema(migrated, new);
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_OK);
    assert_int_equal(number_of(connection, "SELECT count(*) FROM parts"), 1);
    assert_int_equal(number_of(connection, "SELECT seq FROM parts WHERE part = 0"), 5);
    assert_int_equal(number_of(connection, "SELECT data_id FROM store_identity"), 77);
    connection->driver->close(connection);
    test_free(old);
    test_free(new);
    test_free(migrated);
}

static void sales_and_partitions_of_version_14_get_one_shard(void **state)
{
    (void)state;
    const struct schema_plan before = { 14, store_steps }, plan = plan_present();
    char *old = old_tables();
    struct sql_connection *connection = empty_connect();
    script_do(connection, old);
    follow(connection, &before);
    script_do(connection,
        "INSERT INTO sales(id, title, start_ms, end_ms, limit_per_user, eligible_only, published,"
        " gate, gate_before, logged_limit, beacon_name, beacon_value, beacon_state,"
        " beacon_until_ms, preheat_at_ms, one_open_order, details_required, human_check,"
        " waiting_room, pass_once, drop_percent, pace_per_s)"
        " VALUES(1, 'S', 1, 2, 0, 0, 0, 0, 0, 0, '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);");
    script_do(connection, "INSERT INTO parts(part, seq, epoch) VALUES(32, 3, 2);");
    follow(connection, &plan);
    assert_int_equal(number_of(connection, "SELECT shards FROM sales"), 1);
    assert_int_equal(number_of(connection, "SELECT count(*) FROM parts WHERE shards = 1"), 2);
    assert_int_equal(number_of(connection, "SELECT epoch FROM parts WHERE part = 32"), 2);
    connection->driver->close(connection);
    test_free(old);
}

static void a_table_of_somebody_else_is_never_taken_for_ours(void **state)
{
    (void)state;
    const struct schema_plan plan = plan_present();
    struct sql_connection *connection = empty_connect();
    uint64_t before;
    script_do(connection, "CREATE TABLE order_sums(x INTEGER) STRICT;");
    for (int i = 0; i < 2; i++) {
        assert_int_not_equal(
            store_schema_follow(connection, &plan, &before, error, sizeof error), STATUS_OK);
        assert_non_null(strstr(error, "order_sums"));
    }
    script_do(connection, "DROP TABLE order_sums;");
    follow(connection, &plan);
    assert_int_equal(store_schema_check(connection, error, sizeof error), STATUS_OK);
    connection->driver->close(connection);
}

int schema_suite_run(const struct schema_server *which)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_whose_making_is_killed_after_each_change_end_the_same),
        cmocka_unit_test(a_step_that_is_killed_after_each_change_ends_the_same),
        cmocka_unit_test(the_tables_of_version_8_become_those_of_a_new_database),
        cmocka_unit_test(sales_and_partitions_of_version_14_get_one_shard),
        cmocka_unit_test(a_table_of_somebody_else_is_never_taken_for_ours),
    };
    server = which;
    if (getenv(server->variable) != NULL)
        return cmocka_run_group_tests(tests, NULL, NULL);
    printf("skipped: no server (tools/with-%s starts one)\n", server->name);
    return 77;
}
