/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/driver_suite.c: see driver_suite.h. The tables and the steps that all tests take. */
#include "tests/seam/driver_suite.h"

#include "tests/seam/driver_suite_parts.h"

#include <stdlib.h>

static const struct driver_world *the_world;

static const char no_tables[] = "DROP TABLE IF EXISTS children;"
                                "DROP TABLE IF EXISTS things;"
                                "DROP TABLE IF EXISTS rules;"
                                "DROP TABLE IF EXISTS numbered;"
                                "DROP TABLE IF EXISTS pairs;"
                                "DROP TABLE IF EXISTS claims;";
static const char tables[] =
    "CREATE TABLE things("
    "  id INTEGER PRIMARY KEY,"
    "  amount INTEGER, label TEXT, code TEXT{20}, body BLOB"
    ") STRICT;"
    "CREATE INDEX things_by_amount ON things(amount){amount} WHERE amount > 0;"
    "CREATE TABLE children("
    "  id INTEGER PRIMARY KEY, thing INTEGER NOT NULL REFERENCES things(id)"
    ") STRICT;"
    "CREATE TABLE rules("
    "  id INTEGER PRIMARY KEY CHECK(id BETWEEN 1 AND 1000), code TEXT{20} NOT NULL UNIQUE,"
    "  units INTEGER NOT NULL CHECK(units >= 0), label TEXT NOT NULL,"
    "  CHECK(units < 1000 OR label <> '')"
    ") STRICT;"
    "CREATE TABLE numbered(id INTEGER PRIMARY KEY AUTOINCREMENT, units INTEGER NOT NULL) STRICT;"
    "CREATE TABLE pairs("
    "  a INTEGER NOT NULL, b INTEGER NOT NULL, units INTEGER NOT NULL DEFAULT 0,"
    "  PRIMARY KEY(a, b)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE claims("
    "  id INTEGER PRIMARY KEY, owner INTEGER NOT NULL, state INTEGER NOT NULL"
    ") STRICT;"
    "CREATE UNIQUE INDEX claims_live ON claims(owner){owner} WHERE state = 1;";

int driver_suite_setup(void **state)
{
    struct driver_case *test = calloc(1, sizeof *test);
    assert_non_null(test);
    test->world = the_world;
    test->db = suite_open(test);
    assert_int_equal(test->db->driver->script(test->db, no_tables), STATUS_OK);
    assert_int_equal(test->db->driver->script(test->db, tables), STATUS_OK);
    *state = test;
    return 0;
}

int driver_suite_teardown(void **state)
{
    struct driver_case *test = *state;
    suite_close(test->db);
    free(test);
    return 0;
}

enum status suite_run(struct sql_connection *db, const char *sql, struct sql_values values)
{
    struct sql_row *row;
    enum status status = db->driver->query(db, sql, values, &row);
    if (status != STATUS_OK)
        return status;
    while ((status = db->driver->next(row)) == STATUS_OK)
        continue;
    db->driver->finish(row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

void suite_do(struct sql_connection *db, const char *sql, struct sql_values values)
{
    const enum status status = suite_run(db, sql, values);
    if (status != STATUS_OK)
        print_error("%s: %s\n", sql, db->driver->message(db));
    assert_int_equal(status, STATUS_OK);
}

static struct sql_row *row_of(struct sql_connection *db, const char *sql, struct sql_values values)
{
    struct sql_row *row = NULL;
    enum status status = db->driver->query(db, sql, values, &row);
    if (status == STATUS_OK)
        status = db->driver->next(row);
    if (status != STATUS_OK)
        print_error("%s: %s\n", sql, db->driver->message(db));
    assert_int_equal(status, STATUS_OK);
    return row;
}

static void row_is_last(struct sql_connection *db, struct sql_row *row)
{
    assert_int_equal(db->driver->next(row), STATUS_NOT_FOUND);
    db->driver->finish(row);
}

int64_t suite_number(struct sql_connection *db, const char *sql, struct sql_values values)
{
    struct sql_row *row = row_of(db, sql, values);
    const int64_t number = db->driver->number(row, 0);
    row_is_last(db, row);
    return number;
}

void suite_text(struct sql_connection *db, const char *sql, struct sql_values values, const char *expected)
{
    struct sql_row *row = row_of(db, sql, values);
    size_t bytes = 0;
    const char *text = db->driver->bytes(row, 0, &bytes);
    assert_int_equal(bytes, strlen(expected));
    if (bytes > 0)
        assert_memory_equal(text, expected, bytes);
    row_is_last(db, row);
}

struct sql_connection *suite_open(const struct driver_case *test)
{
    struct sql_connection *db = NULL;
    assert_int_equal(test->world->open(&db), STATUS_OK);
    assert_non_null(db);
    return db;
}

struct sql_connection *suite_reader(struct sql_connection *db)
{
    struct sql_connection *reader = NULL;
    assert_int_equal(db->driver->reader_open(db, &reader), STATUS_OK);
    assert_non_null(reader);
    return reader;
}

void suite_close(struct sql_connection *db)
{
    db->driver->close(db);
}

void suite_begin(struct sql_connection *db)
{
    assert_int_equal(db->driver->begin(db), STATUS_OK);
}

void suite_commit(struct sql_connection *db)
{
    assert_int_equal(db->driver->commit(db), STATUS_OK);
}

void suite_fails(struct sql_connection *db, const char *sql, struct sql_values values,
    enum status status, enum sql_error error)
{
    assert_int_equal(suite_run(db, sql, values), status);
    assert_int_equal(db->driver->error(db), error);
    assert_true(strlen(db->driver->message(db)) > 0);
}

int driver_suite_run(const struct driver_world *world)
{
    the_world = world;
    int failed = 0;
    const struct {
        const char *name;
        const struct CMUnitTest *tests;
        size_t count;
    } groups[] = {
        { "values and rows", driver_suite_values, driver_suite_values_count },
        { "transactions and errors", driver_suite_transactions, driver_suite_transactions_count },
        { "several connections", driver_suite_several, driver_suite_several_count },
    };
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        print_message("%s: %s\n", world->name, groups[i].name);
        failed += _cmocka_run_group_tests(groups[i].name, groups[i].tests, groups[i].count, NULL, NULL);
    }
    return failed;
}
