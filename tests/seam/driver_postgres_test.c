/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/driver_postgres_test.c: the driver suite against PostgreSQL. tools/with-postgres
 * brings the server. */
#include "store/postgres/parts.h"
#include "store/postgres/postgres.h"
#include "tests/seam/driver_suite.h"
#include "tests/seam/driver_suite_parts.h"
#include "tests/seam/relay.h"

#include "base/span.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const char *url;
static uint16_t port;

static enum status open_another(struct sql_connection **connection)
{
    char error[512] = "";
    const enum status status = postgres_connect(connection, url, NULL, error, sizeof error);
    if (status != STATUS_OK)
        print_error("%s\n", error);
    return status;
}

static enum status open_at(struct sql_connection **connection, uint16_t other_port)
{
    char error[512] = "", at[512];
    const char *colon = strrchr(url, ':'), *slash = strrchr(url, '/');
    snprintf(at, sizeof at, "%.*s:%u%s", (int)(colon - url), url, other_port, slash);
    return postgres_connect(connection, at, NULL, error, sizeof error);
}

static void cut(struct sql_connection *victim)
{
    struct sql_connection *killer = NULL;
    assert_int_equal(open_another(&killer), STATUS_OK);
    const int64_t process = suite_number(victim, "SELECT pg_backend_pid()", NONE_GIVEN);
    assert_int_equal(
        suite_number(killer, "SELECT pg_terminate_backend(?1::int, 20000)", GIVEN(NUMBER(process))), 1);
    suite_close(killer);
}

static void settings_are_ours_whatever_the_defaults_are(void **state)
{
    (void)state;
    struct sql_connection *db = NULL, *reader;
    assert_int_equal(open_another(&db), STATUS_OK);
    suite_do(db, "ALTER ROLE stampede SET synchronous_commit = 'off'", NONE_GIVEN);
    suite_do(db, "ALTER ROLE stampede SET default_transaction_isolation = 'serializable'", NONE_GIVEN);
    suite_do(db, "ALTER ROLE stampede SET client_encoding = 'LATIN1'", NONE_GIVEN);
    suite_do(db, "ALTER ROLE stampede SET standard_conforming_strings = 'off'", NONE_GIVEN);
    suite_close(db);
    assert_int_equal(open_another(&db), STATUS_OK);
    reader = suite_reader(db);
    suite_begin(db);
    suite_text(db, "SHOW transaction_isolation", NONE_GIVEN, "read committed");
    suite_text(db, "SHOW client_encoding", NONE_GIVEN, "UTF8");
    suite_text(db, "SHOW standard_conforming_strings", NONE_GIVEN, "on");
    suite_text(db, "SHOW synchronous_commit", NONE_GIVEN, "on");
    suite_text(db, "SHOW lock_timeout", NONE_GIVEN, "5s");
    suite_text(db, "SHOW application_name", NONE_GIVEN, "stampede");
    suite_text(reader, "SHOW transaction_read_only", NONE_GIVEN, "on");
    suite_do(db, "ALTER ROLE stampede RESET ALL", NONE_GIVEN);
    suite_do(db, "ALTER ROLE stampede SET synchronous_commit = 'remote_apply'", NONE_GIVEN);
    suite_commit(db);
    suite_close(db);
    assert_int_equal(open_another(&db), STATUS_OK);
    suite_text(db, "SHOW synchronous_commit", NONE_GIVEN, "remote_apply"); /* waits for more */
    suite_do(db, "ALTER ROLE stampede RESET ALL", NONE_GIVEN);
    suite_close(reader);
    suite_close(db);
}

static void database_of_another_encoding_is_refused(void **state)
{
    (void)state;
    struct sql_connection *db = NULL, *other = NULL;
    char error[512] = "", there[512];
    assert_int_equal(open_another(&db), STATUS_OK);
    suite_do(db, "DROP DATABASE IF EXISTS latin", NONE_GIVEN);
    suite_do(db, "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0", NONE_GIVEN);
    snprintf(there, sizeof there, "%.*s/latin", (int)(strrchr(url, '/') - url), url);
    assert_int_equal(postgres_connect(&other, there, NULL, error, sizeof error), STATUS_CONFLICT);
    assert_null(other);
    assert_non_null(strstr(error, "LATIN1"));
    suite_close(db);
}

static void password_is_used_and_never_told(void **state)
{
    (void)state;
    struct sql_connection *db = NULL, *guarded = NULL;
    char error[512] = "", there[512];
    assert_int_equal(open_another(&db), STATUS_OK);
    suite_do(db, "DROP ROLE IF EXISTS guarded", NONE_GIVEN);
    suite_do(db, "CREATE ROLE guarded LOGIN PASSWORD 'open sesame'", NONE_GIVEN);
    snprintf(there, sizeof there, "postgresql://guarded@127.0.0.1:%s", strrchr(url, ':') + 1);
    assert_int_equal(postgres_connect(&guarded, there, "open sesame", error, sizeof error), STATUS_OK);
    struct sql_connection *reader = suite_reader(guarded);
    suite_close(reader);
    suite_close(guarded);
    assert_int_equal(postgres_connect(&guarded, there, "wrong sesame", error, sizeof error), STATUS_AWAY);
    assert_non_null(strstr(error, "password authentication failed"));
    assert_null(strstr(error, "sesame"));
    assert_int_equal(postgres_connect(&guarded, there, NULL, error, sizeof error), STATUS_AWAY);
    snprintf(there, sizeof there, "postgresql://guarded:wrong%%20sesame@127.0.0.1:%s",
        strrchr(url, ':') + 1);
    assert_int_equal(postgres_connect(&guarded, there, NULL, error, sizeof error), STATUS_AWAY);
    assert_null(strstr(error, "sesame"));
    suite_do(db, "DROP ROLE guarded", NONE_GIVEN);
    suite_close(db);
}

static void what_is_no_address_is_refused_without_showing_it(void **state)
{
    (void)state;
    const char *const wrong[] = { "", "mysql://stampede:sesame@127.0.0.1/x",
        "postgresql//stampede:sesame@127.0.0.1/x",
        "postgresql://stampede:sesame@127.0.0.1:port/x?no_such=sesame",
        "host=127.0.0.1 password=sesame" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sql_connection *db = NULL;
        char error[512] = "";
        const enum status status = postgres_connect(&db, wrong[i], NULL, error, sizeof error);
        assert_int_equal(status, STATUS_BAD_INPUT);
        assert_null(db);
        assert_true(strlen(error) > 0);
        assert_null(strstr(error, "sesame"));
    }
}

/* A rule that is checked at the end of the transaction. */
static void commit_that_is_refused_keeps_nothing(void **state)
{
    (void)state;
    struct sql_connection *db = NULL;
    assert_int_equal(open_another(&db), STATUS_OK);
    assert_int_equal(db->driver->script(db,
                         "DROP TABLE IF EXISTS later;"
                         "CREATE TABLE later(id INTEGER UNIQUE DEFERRABLE INITIALLY DEFERRED);"),
        STATUS_OK);
    suite_begin(db);
    suite_do(db, "INSERT INTO later VALUES(?1)", GIVEN(NUMBER(1)));
    suite_do(db, "INSERT INTO later VALUES(?1)", GIVEN(NUMBER(1)));
    assert_int_equal(db->driver->commit(db), STATUS_REFUSED);
    assert_int_equal(db->driver->error(db), SQL_ERROR_UNIQUE);
    assert_false(db->driver->is_open(db));
    db->driver->rollback(db);
    assert_int_equal(suite_number(db, "SELECT count(*) FROM later", NONE_GIVEN), 0);
    suite_close(db);
}

static void *interrupt_until_done(void *context)
{
    struct sql_connection *victim = ((void **)context)[0];
    const _Atomic bool *done = ((void **)context)[1];
    while (!atomic_load(done)) {
        usleep(SUITE_WAIT_US);
        victim->driver->interrupt(victim);
    }
    return NULL;
}

/* The server keeps it and then waits for a standby that is not there; interrupted, it says COMMIT
 * and warns. */
static void commit_that_did_not_wait_for_its_standby_is_unknown(void **state)
{
    (void)state;
    struct sql_connection *db = NULL, *other = NULL;
    _Atomic bool done = false;
    pthread_t thread;
    assert_int_equal(open_another(&db), STATUS_OK);
    assert_int_equal(open_another(&other), STATUS_OK);
    assert_int_equal(
        db->driver->script(db, "DROP TABLE IF EXISTS kept; CREATE TABLE kept(id INTEGER);"), STATUS_OK);
    suite_do(other, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'", NONE_GIVEN);
    assert_int_equal(suite_number(other, "SELECT pg_reload_conf()", NONE_GIVEN), 1);
    void *context[] = { db, &done };
    assert_int_equal(pthread_create(&thread, NULL, interrupt_until_done, context), 0);
    enum status status = STATUS_OK; /* until the server has read its settings, it does not wait */
    int64_t commits = 0;
    for (int i = 0; i < SUITE_TRIES_MAX && status != STATUS_UNKNOWN; i++) {
        status = db->driver->begin(db);
        if (status == STATUS_OK)
            status = suite_run(db, "INSERT INTO kept VALUES(1)", NONE_GIVEN);
        if (status == STATUS_OK) {
            status = db->driver->commit(db);
            commits++;
        }
        db->driver->rollback(db); /* an interrupt may also come earlier */
    }
    atomic_store(&done, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    suite_do(other, "ALTER SYSTEM RESET synchronous_standby_names", NONE_GIVEN);
    assert_int_equal(suite_number(other, "SELECT pg_reload_conf()", NONE_GIVEN), 1);
    assert_int_equal(status, STATUS_UNKNOWN);
    assert_int_equal(suite_number(other, "SELECT count(*) FROM kept", NONE_GIVEN), commits);
    suite_close(db);
    suite_close(other);
}

/* The first connection after a lost one may be refused: the relay is still busy with its end. */
static int64_t number_when_connected(struct sql_connection *db, const char *sql)
{
    enum { TRIES = 2000, PAUSE_MS = 10 };
    for (uint32_t i = 0; i < TRIES && suite_run(db, sql, NONE_GIVEN) == STATUS_AWAY; i++)
        poll(NULL, 0, PAUSE_MS);
    return suite_number(db, sql, NONE_GIVEN);
}

static void write_outside_of_a_transaction_without_an_answer_is_unknown(void **state)
{
    (void)state;
    struct relay *relay = relay_open(port);
    struct sql_connection *db = NULL;
    assert_int_equal(open_at(&db, relay_port(relay)), STATUS_OK);
    assert_int_equal(
        db->driver->script(db, "DROP TABLE IF EXISTS kept; CREATE TABLE kept(id INTEGER);"), STATUS_OK);
    static const char put[] = "INSERT INTO kept VALUES(?1)", counted[] = "SELECT count(*) FROM kept";
    suite_do(db, put, GIVEN(NUMBER(1)));
    relay_set(relay, RELAY_LOSE_ANSWER);
    assert_int_equal(suite_run(db, put, GIVEN(NUMBER(2))), STATUS_UNKNOWN);
    assert_int_equal(number_when_connected(db, counted), 2);
    relay_set(relay, RELAY_LOSE_ANSWER);
    assert_int_equal(suite_run(db, counted, NONE_GIVEN), STATUS_AWAY);
    assert_int_equal(number_when_connected(db, counted), 2);
    suite_close(db);
    relay_close(relay);
}

struct sleeper {
    struct sql_connection *db;
    enum status status;
    _Atomic bool is_done;
};

static void *sleep_long(void *context)
{
    struct sleeper *sleeper = context;
    sleeper->status = suite_run(sleeper->db, "SELECT pg_sleep(100)", NONE_GIVEN);
    atomic_store(&sleeper->is_done, true);
    return NULL;
}

/* libpq would wait for the answer to a cancel for ever, and a stop with it. */
static void interrupt_ends_a_statement_of_a_server_that_is_silent(void **state)
{
    (void)state;
    struct relay *relay = relay_open(port);
    struct sql_connection *db = NULL;
    pthread_t thread;
    assert_int_equal(open_at(&db, relay_port(relay)), STATUS_OK);
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
        again = suite_run(db, "SELECT 1", NONE_GIVEN);
        usleep(SUITE_WAIT_US);
    }
    assert_int_equal(again, STATUS_OK);
    suite_close(db);
    relay_close(relay);
}

/* Its connections stay open; the silence of a server that hangs. */
static void server_that_hangs_is_given_up(void **state)
{
    (void)state;
    struct relay *relay = relay_open(port);
    struct sql_connection *db = NULL;
    assert_int_equal(open_at(&db, relay_port(relay)), STATUS_OK);
    postgres_of(db)->answer_ms = 300;
    suite_begin(db);
    relay_set(relay, RELAY_SILENT);
    suite_fails(db, "SELECT 1", NONE_GIVEN, STATUS_AWAY, SQL_ERROR_AWAY);
    assert_false(db->driver->is_open(db));
    db->driver->rollback(db);
    relay_set(relay, RELAY_PASS);
    enum status status = STATUS_AWAY;
    for (int i = 0; i < SUITE_TRIES_MAX && status == STATUS_AWAY; i++) {
        postgres_of(db)->answer_ms = 60000;
        status = db->driver->begin(db);
        usleep(status == STATUS_AWAY ? SUITE_WAIT_US : 0);
    }
    assert_int_equal(status, STATUS_OK);
    postgres_of(db)->answer_ms = 300;
    relay_set(relay, RELAY_SILENT);
    assert_int_equal(db->driver->commit(db), STATUS_UNKNOWN);
    db->driver->rollback(db);
    suite_close(db);
    relay_close(relay);
}

static void statement_whose_columns_were_changed_is_prepared_again(void **state)
{
    (void)state;
    struct sql_connection *db = NULL;
    static const char all[] = "SELECT * FROM changing";
    assert_int_equal(open_another(&db), STATUS_OK);
    assert_int_equal(db->driver->script(db,
                         "DROP TABLE IF EXISTS changing; CREATE TABLE changing(id INTEGER);"
                         "INSERT INTO changing VALUES(1);"),
        STATUS_OK);
    assert_int_equal(suite_number(db, all, NONE_GIVEN), 1);
    assert_int_equal(db->driver->script(db, "ALTER TABLE changing ADD COLUMN more TEXT;"), STATUS_OK);
    suite_fails(db, all, NONE_GIVEN, STATUS_AWAY, SQL_ERROR_AGAIN);
    for (int i = 0; i < SUITE_TRIES_MAX && suite_run(db, "SELECT 1", NONE_GIVEN) == STATUS_AWAY; i++)
        usleep(SUITE_WAIT_US); /* it may be connecting anew */
    assert_int_equal(suite_number(db, all, NONE_GIVEN), 1);
    suite_close(db);
}

static void failed_transaction_says_why_until_it_is_rolled_back(void **state)
{
    (void)state;
    struct sql_connection *db = NULL;
    static const char put[] = "INSERT INTO kept VALUES(?1)";
    assert_int_equal(open_another(&db), STATUS_OK);
    assert_int_equal(db->driver->script(db,
                         "DROP TABLE IF EXISTS kept; CREATE TABLE kept(id INTEGER PRIMARY KEY);"),
        STATUS_OK);
    suite_begin(db);
    suite_do(db, put, GIVEN(NUMBER(1)));
    suite_fails(db, put, GIVEN(NUMBER(1)), STATUS_REFUSED, SQL_ERROR_UNIQUE);
    assert_true(db->driver->is_open(db));
    suite_fails(db, put, GIVEN(NUMBER(2)), STATUS_REFUSED, SQL_ERROR_UNIQUE);
    assert_int_equal(db->driver->part_begin(db, "part"), STATUS_REFUSED);
    /* PostgreSQL would say ROLLBACK, and no error */
    assert_int_equal(db->driver->commit(db), STATUS_REFUSED);
    assert_null(strstr(db->driver->message(db), "(1)")); /* no values of rows */
    db->driver->rollback(db);
    assert_int_equal(suite_number(db, "SELECT count(*) FROM kept", NONE_GIVEN), 0);
    suite_close(db);
}

static void transaction_that_waited_too_long_is_given_up_as_a_whole(void **state)
{
    (void)state;
    struct sql_connection *db = NULL, *other = NULL;
    static const char change[] = "UPDATE locked SET id = id + 10 WHERE id = 1";
    assert_int_equal(open_another(&db), STATUS_OK);
    assert_int_equal(open_another(&other), STATUS_OK);
    assert_int_equal(db->driver->script(db,
                         "DROP TABLE IF EXISTS locked; CREATE TABLE locked(id INTEGER PRIMARY KEY);"
                         "INSERT INTO locked VALUES(1), (2); SET lock_timeout = 100;"),
        STATUS_OK);
    suite_begin(other);
    suite_do(other, change, NONE_GIVEN);
    suite_begin(db);
    suite_do(db, "UPDATE locked SET id = 3 WHERE id = 2", NONE_GIVEN);
    assert_int_equal(db->driver->part_begin(db, "part"), STATUS_OK);
    suite_fails(db, change, NONE_GIVEN, STATUS_AWAY, SQL_ERROR_LOCKED);
    assert_false(db->driver->is_open(db));
    db->driver->part_drop(db, "part");
    assert_false(db->driver->is_open(db));
    assert_int_equal(db->driver->part_begin(db, "part"), STATUS_AWAY);
    assert_int_equal(db->driver->commit(db), STATUS_AWAY);
    db->driver->rollback(db);
    suite_commit(other);
    suite_close(other);
    suite_begin(db);
    suite_do(db, "UPDATE locked SET id = 1 WHERE id = 11", NONE_GIVEN);
    suite_commit(db);
    assert_int_equal(suite_number(db, "SELECT sum(id) FROM locked", NONE_GIVEN), 3);
    suite_close(db);
}

static int postgres_only(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_ours_whatever_the_defaults_are),
        cmocka_unit_test(database_of_another_encoding_is_refused),
        cmocka_unit_test(password_is_used_and_never_told),
        cmocka_unit_test(what_is_no_address_is_refused_without_showing_it),
        cmocka_unit_test(commit_that_is_refused_keeps_nothing),
        cmocka_unit_test(commit_that_did_not_wait_for_its_standby_is_unknown),
        cmocka_unit_test(write_outside_of_a_transaction_without_an_answer_is_unknown),
        cmocka_unit_test(server_that_hangs_is_given_up),
        cmocka_unit_test(interrupt_ends_a_statement_of_a_server_that_is_silent),
        cmocka_unit_test(statement_whose_columns_were_changed_is_prepared_again),
        cmocka_unit_test(failed_transaction_says_why_until_it_is_rolled_back),
        cmocka_unit_test(transaction_that_waited_too_long_is_given_up_as_a_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    url = getenv("STAMPEDE_TEST_POSTGRES");
    if (url == NULL) {
        puts("skipped: no PostgreSQL (run it by tools/with-postgres)");
        return 77;
    }
    uint32_t number = 0; /* …@127.0.0.1:PORT/DATABASE */
    struct span rest = span_from_string(strrchr(url, ':') + 1);
    if (!span_take_u32(&rest, &number) || number > UINT16_MAX)
        return 1;
    port = (uint16_t)number;
    const struct driver_world world = { .name = "postgres",
        .open = open_another,
        .cut = cut,
        .open_at = open_at,
        .port = port,
        .has_row_locks = true,
        .knows_the_key = true,
        .limits_text = true };
    return driver_suite_run(&world) + postgres_only();
}
