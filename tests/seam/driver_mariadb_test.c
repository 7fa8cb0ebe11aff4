/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/driver_mariadb_test.c: the driver suite against a real MariaDB (tools/with-mariadb), and
 * what is MariaDB's and MySQL's own. */
#include "store/mysql/mysql.h"
#include "store/mysql/parts.h"
#include "tests/seam/driver_suite.h"
#include "tests/seam/driver_suite_parts.h"
#include "tests/seam/relay.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const char *world_url = "";

static enum status url_open(struct sql_connection **connection, const char *url, const char *password)
{
    char error[256] = "";
    const enum status status = mysql_store_connect(connection, url, password, error, sizeof error);
    if (status != STATUS_OK)
        print_error("%s\n", error);
    return status;
}

static enum status world_open(struct sql_connection **connection)
{
    return url_open(connection, world_url, NULL);
}

static enum status world_open_at(struct sql_connection **connection, uint16_t port)
{
    char at[256];
    snprintf(at, sizeof at, "%.*s:%u%s", (int)(strrchr(world_url, ':') - world_url), world_url,
        port, strrchr(world_url, '/'));
    return url_open(connection, at, NULL);
}

/* As root, who may do everything to everybody. */
static void root_does(const char *script)
{
    struct sql_connection *root = NULL;
    assert_int_equal(url_open(&root, getenv("STAMPEDE_TEST_MYSQL_ROOT"), NULL), STATUS_OK);
    if (root->driver->script(root, script) != STATUS_OK)
        fail_msg("%s: %s", script, root->driver->message(root));
    root->driver->close(root);
}

/* By the number that the server gave to the connection. */
static void world_cut(struct sql_connection *victim)
{
    char sql[64];
    const int64_t id = suite_number(victim, "SELECT connection_id()", NONE_GIVEN);
    snprintf(sql, sizeof sql, "KILL %lld;", (long long)id);
    root_does(sql);
}

static struct driver_world mysql_world = {
    .name = "MariaDB",
    .open = world_open,
    .cut = world_cut,
    .open_at = world_open_at,
    .has_row_locks = true,
    .knows_the_key = false,
    .limits_text = true,
};

static const char put_pair[] = "INSERT INTO pairs(a, b, units) VALUES(?1, ?2, ?3)";
static const char count_pairs[] = "SELECT count(*) FROM pairs";

static struct sql_connection *db_of(void **state)
{
    return ((struct driver_case *)*state)->db;
}

static void pair_put(struct sql_connection *db, int64_t b)
{
    suite_do(db, put_pair, GIVEN(NUMBER(1), NUMBER(b), NUMBER(0)));
}

static void server_that_could_lose_what_it_committed_is_refused(void **state)
{
    struct sql_connection *root = NULL, *db = NULL;
    char error[256] = "";
    (void)state;
    assert_int_equal(url_open(&root, getenv("STAMPEDE_TEST_MYSQL_ROOT"), NULL), STATUS_OK);
    assert_int_equal(
        root->driver->script(root, "SET GLOBAL innodb_flush_log_at_trx_commit = 2;"), STATUS_OK);
    const enum status status = mysql_store_connect(&db, world_url, NULL, error, sizeof error);
    assert_int_equal(
        root->driver->script(root, "SET GLOBAL innodb_flush_log_at_trx_commit = 1;"), STATUS_OK);
    root->driver->close(root);
    assert_int_equal(status, STATUS_REFUSED);
    assert_null(db);
    assert_non_null(strstr(error, "innodb_flush_log_at_trx_commit"));
}

static void server_that_takes_too_little_at_a_time_is_refused(void **state)
{
    struct sql_connection *root = NULL, *small = NULL, *enough = NULL;
    char error[256] = "";
    (void)state;
    assert_int_equal(url_open(&root, getenv("STAMPEDE_TEST_MYSQL_ROOT"), NULL), STATUS_OK);
    assert_int_equal(
        root->driver->script(root, "SET GLOBAL max_allowed_packet = 2097152 - 1024;"), STATUS_OK);
    const enum status refused = mysql_store_connect(&small, world_url, NULL, error, sizeof error);
    assert_int_equal(root->driver->script(root, "SET GLOBAL max_allowed_packet = 2097152;"), STATUS_OK);
    const enum status taken = url_open(&enough, world_url, NULL);
    assert_int_equal(root->driver->script(root, "SET GLOBAL max_allowed_packet = 16777216;"), STATUS_OK);
    root->driver->close(root);
    assert_int_equal(refused, STATUS_REFUSED);
    assert_null(small);
    assert_non_null(strstr(error, "max_allowed_packet must be at least"));
    assert_int_equal(taken, STATUS_OK);
    enough->driver->close(enough);
}

static void password_is_asked_for_and_never_told(void **state)
{
    struct sql_connection *db = NULL;
    char url[256], error[256] = "";
    const char *at = strchr(world_url, '@');
    (void)state;
    root_does("CREATE OR REPLACE USER keeper@'%' IDENTIFIED BY 'open sesame';"
              "GRANT ALL ON stampede.* TO keeper@'%';");
    snprintf(url, sizeof url, "mysql://keeper%s", at);
    assert_int_equal(url_open(&db, url, "open sesame"), STATUS_OK);
    db->driver->close(db);
    assert_int_equal(mysql_store_connect(&db, url, "wrong sesame", error, sizeof error), STATUS_REFUSED);
    assert_non_null(strstr(error, "keeper"));
    assert_null(strstr(error, "sesame"));
    assert_int_equal(mysql_store_connect(&db, url, NULL, error, sizeof error), STATUS_REFUSED);
    snprintf(url, sizeof url, "mysql://stampede@127.0.0.1:1/stampede"); /* nobody listens there */
    assert_int_equal(mysql_store_connect(&db, url, NULL, error, sizeof error), STATUS_AWAY);
    assert_null(db);
}

static void counts_rows_of_statements_with_many(void **state)
{
    struct sql_connection *db = db_of(state);
    pair_put(db, 1);
    pair_put(db, 2);
    suite_do(db,
        "INSERT INTO pairs(a, b, units) VALUES(1, 1, 5), (1, 2, 0), (1, 3, 5)"
        " ON CONFLICT(a, b) DO UPDATE SET units = excluded.units",
        NONE_GIVEN); /* one changes, one stays as it is, one is new */
    assert_int_equal(db->driver->matched(db), 3);
    suite_do(db, "INSERT INTO pairs(a, b, units) VALUES(1, 3, 7), (1, 4, 7) ON CONFLICT(a, b) DO NOTHING",
        NONE_GIVEN);
    assert_int_equal(db->driver->matched(db), 1);
    static const char copy[] =
        "INSERT INTO pairs(a, b, units) SELECT 2, b, units FROM pairs WHERE a = 1"
        " ON CONFLICT(a, b) DO UPDATE SET units = excluded.units";
    suite_do(db, copy, NONE_GIVEN);
    assert_int_equal(db->driver->matched(db), 4);
    suite_do(db, copy, NONE_GIVEN);
    assert_int_equal(db->driver->matched(db), 4);
    suite_do(db, "INSERT INTO numbered(units) SELECT units FROM pairs WHERE a = ?1 RETURNING id",
        GIVEN(NUMBER(9)));
    assert_int_equal(db->driver->matched(db), 0);
}

static void no_bit_of_a_whole_number_is_lost(void **state)
{
    struct sql_connection *db = db_of(state);
    suite_do(db, put_pair, GIVEN(NUMBER(1), NUMBER(1), NUMBER(-1)));
    assert_int_equal(suite_number(db, "SELECT units | 0 FROM pairs", NONE_GIVEN), -1); /* UNSIGNED */
    suite_fails(db, "SELECT sum(units | 0) FROM pairs", NONE_GIVEN, STATUS_CORRUPT,
        SQL_ERROR_CORRUPT); /* 2^64 - 1 */
    assert_int_equal(
        suite_number(db, "SELECT units - 9223372036854775807 FROM pairs", NONE_GIVEN), INT64_MIN);
    suite_do(db, "UPDATE pairs SET units = ?1", GIVEN(NUMBER(INT64_MIN)));
    assert_int_equal(suite_number(db, "SELECT sum(units) FROM pairs", NONE_GIVEN), INT64_MIN);
    assert_int_equal(suite_number(db, "SELECT sum(units) / 1 FROM pairs", NONE_GIVEN), INT64_MIN);
    suite_do(db, put_pair, GIVEN(NUMBER(1), NUMBER(2), NUMBER(-1)));
    suite_fails(db, "SELECT sum(units) FROM pairs WHERE a > 0", NONE_GIVEN, STATUS_CORRUPT,
        SQL_ERROR_CORRUPT);
    suite_fails(db, "SELECT units / 2 FROM pairs WHERE b = 2", NONE_GIVEN, STATUS_CORRUPT,
        SQL_ERROR_CORRUPT);
    suite_fails(
        db, "SELECT sqrt(2) FROM pairs WHERE b = 2", NONE_GIVEN, STATUS_CORRUPT, SQL_ERROR_CORRUPT);
}

/* Nothing of it is done outside of it, and the kind of error stays, until the caller rolls back. */
static void transaction_that_waited_too_long_is_given_up_as_a_whole(void **state)
{
    const struct driver_case *test = *state;
    struct sql_connection *db = test->db, *other = suite_open(test);
    pair_put(db, 1);
    suite_begin(other);
    suite_do(other, "UPDATE pairs SET units = 5 WHERE b = 1", NONE_GIVEN);
    assert_int_equal(db->driver->script(db, "SET SESSION innodb_lock_wait_timeout = 1;"), STATUS_OK);
    suite_begin(db);
    pair_put(db, 2);
    assert_int_equal(db->driver->part_begin(db, "part"), STATUS_OK);
    suite_fails(db, "UPDATE pairs SET units = 6 WHERE b = 1", NONE_GIVEN, STATUS_AWAY, SQL_ERROR_LOCKED);
    assert_false(db->driver->is_open(db));
    assert_int_equal(suite_run(db, put_pair, GIVEN(NUMBER(1), NUMBER(3), NUMBER(0))), STATUS_AWAY);
    assert_int_equal(db->driver->script(db, "UPDATE pairs SET units = 7;"), STATUS_AWAY);
    db->driver->part_drop(db, "part");
    assert_int_equal(db->driver->commit(db), STATUS_AWAY);
    assert_int_equal(db->driver->error(db), SQL_ERROR_LOCKED);
    db->driver->rollback(db);
    suite_commit(other);
    suite_close(other);
    assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 1);
    suite_begin(db);
    suite_do(db, "UPDATE pairs SET units = 6 WHERE b = 1", NONE_GIVEN);
    suite_commit(db);
}

static void transaction_with_a_failed_statement_is_not_kept(void **state)
{
    struct sql_connection *db = db_of(state);
    pair_put(db, 1);
    suite_begin(db);
    pair_put(db, 2);
    assert_int_equal(db->driver->part_begin(db, "part"), STATUS_OK);
    suite_fails(db, put_pair, GIVEN(NUMBER(1), NUMBER(1), NUMBER(1)), STATUS_REFUSED, SQL_ERROR_UNIQUE);
    assert_int_equal(db->driver->part_keep(db, "part"), STATUS_REFUSED);
    assert_int_equal(db->driver->commit(db), STATUS_REFUSED);
    db->driver->part_drop(db, "part");
    suite_commit(db); /* without the part */
    assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 2);
    suite_begin(db);
    pair_put(db, 3);
    suite_fails(db, put_pair, GIVEN(NUMBER(1), NUMBER(1), NUMBER(1)), STATUS_REFUSED, SQL_ERROR_UNIQUE);
    assert_int_equal(db->driver->commit(db), STATUS_REFUSED);
    db->driver->rollback(db);
    assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 2);
    suite_begin(db);
    suite_commit(db);
}

static void message_names_the_rule_and_no_value(void **state)
{
    struct sql_connection *db = db_of(state);
    static const char put[] = "INSERT INTO rules(id, code, units, label) VALUES(?1, ?2, ?3, 'x')";
    suite_do(db, put, GIVEN(NUMBER(1), WORDS("hidden for key 'a"), NUMBER(1)));
    suite_fails(db, put, GIVEN(NUMBER(2), WORDS("hidden for key 'a"), NUMBER(1)), STATUS_REFUSED,
        SQL_ERROR_UNIQUE);
    assert_string_equal(db->driver->message(db), "for key 'code' (1062)");
    suite_fails(db, "UPDATE rules SET units = 'hidden'", NONE_GIVEN, STATUS_REFUSED, SQL_ERROR_CHECK);
    assert_null(strstr(db->driver->message(db), "hidden"));
    suite_fails(db, put, GIVEN(NUMBER(2), WORDS("b"), NUMBER(-7123)), STATUS_REFUSED, SQL_ERROR_CHECK);
    assert_null(strstr(db->driver->message(db), "7123"));
}

static void commit_without_an_answer_is_unknown(void **state)
{
    struct sql_connection *db = db_of(state);
    suite_begin(db);
    pair_put(db, 1);
    world_cut(db);
    assert_int_equal(db->driver->commit(db), STATUS_UNKNOWN);
    assert_false(db->driver->is_open(db));
    db->driver->rollback(db);
    suite_begin(db);
    suite_commit(db);
    assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 0);
}

static void connection_that_was_lost_at_rest_is_made_again_by_begin(void **state)
{
    struct sql_connection *db = db_of(state), *reader = suite_reader(db);
    for (int i = 0; i < 2; i++) {
        world_cut(db);
        suite_begin(db); /* without an error before */
        pair_put(db, i);
        suite_commit(db);
        world_cut(reader);
        assert_int_equal(reader->driver->begin_view(reader), STATUS_OK);
        assert_int_equal(suite_number(reader, count_pairs, NONE_GIVEN), i + 1);
        reader->driver->rollback(reader);
    }
    suite_close(reader);
}

static void connection_that_has_rested_is_tried_before_it_is_used(void **state)
{
    struct sql_connection *db = db_of(state);
    world_cut(db);
    usleep(MYSQL_REST_S * 1000000 + 100000);
    assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 0);
}

static void rows_of_a_lost_connection_are_not_the_last_ones(void **state)
{
    struct sql_connection *db = db_of(state);
    struct sql_row *row;
    pair_put(db, 1);
    pair_put(db, 2);
    assert_int_equal(db->driver->query(db, "SELECT b FROM pairs ORDER BY b", NONE_GIVEN, &row), STATUS_OK);
    assert_int_equal(db->driver->next(row), STATUS_OK);
    world_cut(db);
    (void)suite_run(db, count_pairs, NONE_GIVEN);                   /* finds it lost */
    assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 2); /* makes it again */
    assert_int_equal(db->driver->number(row, 0), 1);
    assert_int_equal(db->driver->next(row), STATUS_AWAY);
    assert_int_equal(db->driver->next(row), STATUS_AWAY);
    db->driver->finish(row);
    assert_int_equal(suite_number(db, "SELECT max(b) FROM pairs", NONE_GIVEN), 2);
}

/* An account that is locked is a database that can't be reached. */
static void while_a_try_to_come_back_rests_it_is_away_at_once(void **state)
{
    struct sql_connection *db = NULL, *counter = db_of(state);
    char url[256];
    static const char tries[] =
        "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status"
        " WHERE variable_name = 'ABORTED_CONNECTS'";
    root_does("CREATE OR REPLACE USER guest@'%'; GRANT ALL ON stampede.* TO guest@'%';");
    snprintf(url, sizeof url, "mysql://guest%s", strchr(world_url, '@'));
    assert_int_equal(url_open(&db, url, NULL), STATUS_OK);
    const int64_t id = suite_number(db, "SELECT connection_id()", NONE_GIVEN);
    char sql[128];
    snprintf(sql, sizeof sql, "ALTER USER guest@'%%' ACCOUNT LOCK; KILL %lld;", (long long)id);
    root_does(sql);
    const int64_t before = suite_number(counter, tries, NONE_GIVEN);
    const uint64_t begun_ns = clock_monotonic_ns();

    while (clock_monotonic_ns() - begun_ns < 500000000) {
        assert_int_equal(db->driver->begin(db), STATUS_AWAY);
        assert_false(db->driver->is_open(db));

        usleep(200);
    }
    /* 50, 100, 200, … ms, each a half shorter at most: 25 + 50 + 100 + 200 + 400 are over 500 */
    const int64_t tried = suite_number(counter, tries, NONE_GIVEN) - before;
    assert_in_range(tried, 1, 6);

    assert_true(strlen(db->driver->message(db)) > 0);
    root_does("ALTER USER guest@'%' ACCOUNT UNLOCK;");
    enum status status = STATUS_AWAY;
    for (int i = 0; i < SUITE_TRIES_MAX && status == STATUS_AWAY; i++) {
        status = db->driver->begin(db);
        usleep(SUITE_WAIT_US);
    }
    assert_int_equal(status, STATUS_OK);
    suite_commit(db);
    suite_close(db);
}

struct sleeper {
    struct sql_connection *db;
    enum status status;
    _Atomic bool is_done;
};

static void *sleep_long(void *context)
{
    struct sleeper *sleeper = context;
    sleeper->status = suite_run(sleeper->db, "SELECT sleep(100)", NONE_GIVEN);
    atomic_store(&sleeper->is_done, true);
    return NULL;
}

static void interrupt_ends_a_statement_of_a_server_that_is_silent(void **state)
{
    struct relay *relay = relay_open(mysql_world.port);
    struct sql_connection *db = NULL;
    pthread_t thread;
    (void)state;
    assert_int_equal(world_open_at(&db, relay_port(relay)), STATUS_OK);
    struct sleeper sleeper = { .db = db };
    assert_int_equal(pthread_create(&thread, NULL, sleep_long, &sleeper), 0);
    usleep(10 * SUITE_WAIT_US);
    relay_set(relay, RELAY_SILENT);
    for (int i = 0; i < SUITE_TRIES_MAX && !atomic_load(&sleeper.is_done); i++) {
        db->driver->interrupt(db);
        usleep(SUITE_WAIT_US);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(sleeper.status, STATUS_AWAY);
    relay_set(relay, RELAY_PASS);
    enum status again = STATUS_AWAY;
    for (int i = 0; i < SUITE_TRIES_MAX && again == STATUS_AWAY; i++) {
        again = suite_run(db, count_pairs, NONE_GIVEN);
        usleep(SUITE_WAIT_US);
    }
    assert_int_equal(again, STATUS_OK);
    suite_close(db);
    relay_close(relay);
}

/* Its connections stay open; the silence of a server that hangs. */
static void server_that_hangs_is_given_up_and_a_script_may_take_long(void **state)
{
    struct relay *relay = relay_open(mysql_world.port);
    struct sql_connection *db = NULL;
    (void)state;
    assert_int_equal(world_open_at(&db, relay_port(relay)), STATUS_OK);
    assert_int_equal(mysql_of(db)->read_s, MYSQL_READ_S);
    mysql_of(db)->read_s = 1;
    mysql_session_close(mysql_of(db));
    assert_int_equal(db->driver->script(db, "DO sleep(2);"), STATUS_OK);
    suite_begin(db);
    relay_set(relay, RELAY_SILENT);
    suite_fails(db, "SELECT 1", NONE_GIVEN, STATUS_AWAY, SQL_ERROR_AWAY);
    assert_false(db->driver->is_open(db));
    db->driver->rollback(db);
    relay_set(relay, RELAY_PASS);
    enum status status = STATUS_AWAY;
    for (int i = 0; i < SUITE_TRIES_MAX && status == STATUS_AWAY; i++) {
        status = db->driver->begin(db);
        usleep(status == STATUS_AWAY ? SUITE_WAIT_US : 0);
    }
    assert_int_equal(status, STATUS_OK);
    relay_set(relay, RELAY_SILENT);
    assert_int_equal(db->driver->commit(db), STATUS_UNKNOWN);
    db->driver->rollback(db);
    suite_close(db);
    relay_close(relay);
}

static void change_of_tables_goes_on_in_a_new_transaction(void **state)
{
    struct sql_connection *db = db_of(state);
    suite_begin(db);
    pair_put(db, 1);
    assert_int_equal(db->driver->script(db,
                         "ALTER TABLE pairs ADD COLUMN extra INTEGER NOT NULL DEFAULT 0;"
                         "INSERT INTO pairs(a, b, units) VALUES(1, 2, 0);"),
        STATUS_OK);
    assert_true(db->driver->is_open(db));
    pair_put(db, 3);
    db->driver->rollback(db);
    assert_int_equal(suite_number(db, count_pairs, NONE_GIVEN), 1); /* what came before the change */
}

static void view_sees_the_moment_of_its_first_read(void **state)
{
    struct sql_connection *db = db_of(state), *reader = suite_reader(db);
    assert_int_equal(reader->driver->begin_view(reader), STATUS_OK);
    pair_put(db, 1);
    assert_int_equal(suite_number(reader, count_pairs, NONE_GIVEN), 1);
    pair_put(db, 2);
    assert_int_equal(suite_number(reader, count_pairs, NONE_GIVEN), 1);
    reader->driver->rollback(reader);
    suite_close(reader);
}

/* Whatever the server says (tools/with-mariadb --latin1 --loose), and in what others make, too. */
static void tables_are_kept_as_we_say(void **state)
{
    struct sql_connection *db = db_of(state);
    assert_int_equal(
        suite_number(db,
            "SELECT count(*) FROM information_schema.tables WHERE table_schema = database()"
            " AND (engine <> 'InnoDB' OR table_collation <> 'utf8mb4_nopad_bin')",
            NONE_GIVEN),
        0);
    suite_text(db, "SELECT @@collation_connection", NONE_GIVEN, "utf8mb4_nopad_bin");
    suite_text(db, "SELECT 'a\\b' || 'c'", NONE_GIVEN, "a\\bc");
    pair_put(db, 1);
    suite_fails(db, "UPDATE pairs SET units = 'x'", NONE_GIVEN, STATUS_REFUSED, SQL_ERROR_CHECK);
}

int main(void)
{
    const char *given = getenv("STAMPEDE_TEST_MYSQL");
    if (given == NULL) {
        print_message("skipped: no MariaDB; tools/with-mariadb starts one\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        SUITE_TEST(server_that_could_lose_what_it_committed_is_refused),
        SUITE_TEST(server_that_takes_too_little_at_a_time_is_refused),
        SUITE_TEST(password_is_asked_for_and_never_told),
        SUITE_TEST(counts_rows_of_statements_with_many),
        SUITE_TEST(no_bit_of_a_whole_number_is_lost),
        SUITE_TEST(transaction_that_waited_too_long_is_given_up_as_a_whole),
        SUITE_TEST(transaction_with_a_failed_statement_is_not_kept),
        SUITE_TEST(message_names_the_rule_and_no_value),
        SUITE_TEST(commit_without_an_answer_is_unknown),
        SUITE_TEST(connection_that_has_rested_is_tried_before_it_is_used),
        SUITE_TEST(connection_that_was_lost_at_rest_is_made_again_by_begin),
        SUITE_TEST(rows_of_a_lost_connection_are_not_the_last_ones),
        SUITE_TEST(while_a_try_to_come_back_rests_it_is_away_at_once),
        SUITE_TEST(interrupt_ends_a_statement_of_a_server_that_is_silent),
        SUITE_TEST(server_that_hangs_is_given_up_and_a_script_may_take_long),
        SUITE_TEST(change_of_tables_goes_on_in_a_new_transaction),
        SUITE_TEST(view_sees_the_moment_of_its_first_read),
        SUITE_TEST(tables_are_kept_as_we_say),
    };
    world_url = given;
    mysql_world.port = (uint16_t)strtoul(strrchr(given, ':') + 1, NULL, 10);
    const int failed = driver_suite_run(&mysql_world);
    return failed + cmocka_run_group_tests_name("MariaDB's own", tests, NULL, NULL);
}
