/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/driver_suite_transactions.c: kept or not kept, matched rows, kinds of errors. */
#include "tests/seam/driver_suite_parts.h"

static const char put_thing[] = "INSERT INTO things(id, amount) VALUES(?1, ?2)";
static const char put_rule[] = "INSERT INTO rules(id, code, units, label) VALUES(?1, ?2, ?3, ?4)";
static const char count_things[] = "SELECT count(*) FROM things";

static void thing_put(struct sql_connection *db, int64_t id)
{
    suite_do(db, put_thing, GIVEN(NUMBER(id), NUMBER(0)));
}

static void commit_keeps_and_rollback_does_not(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    assert_false(db->driver->is_open(db));
    suite_begin(db);
    assert_true(db->driver->is_open(db));
    thing_put(db, 1);
    suite_commit(db);
    assert_false(db->driver->is_open(db));
    suite_begin(db);
    thing_put(db, 2);
    assert_int_equal(suite_number(db, count_things, NONE_GIVEN), 2); /* its own changes are seen */
    db->driver->rollback(db);
    assert_false(db->driver->is_open(db));
    assert_int_equal(suite_number(db, count_things, NONE_GIVEN), 1);
    db->driver->rollback(db); /* harmless */
    suite_begin(db);
    suite_commit(db);
}

static void parts_are_kept_or_dropped_inside_of_parts(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    const struct driver *driver = db->driver;
    suite_begin(db);
    thing_put(db, 1);
    assert_int_equal(driver->part_begin(db, "request"), STATUS_OK);
    thing_put(db, 2);
    assert_int_equal(driver->part_begin(db, "part"), STATUS_OK);
    thing_put(db, 3);
    driver->part_drop(db, "part");
    assert_int_equal(driver->part_begin(db, "part"), STATUS_OK); /* the name is free again */
    thing_put(db, 4);
    assert_int_equal(driver->part_keep(db, "part"), STATUS_OK);
    assert_int_equal(driver->part_keep(db, "request"), STATUS_OK);
    assert_int_equal(driver->part_begin(db, "request"), STATUS_OK);
    thing_put(db, 5);
    assert_int_equal(driver->part_begin(db, "part"), STATUS_OK);
    thing_put(db, 6);
    assert_int_equal(driver->part_keep(db, "part"), STATUS_OK);
    driver->part_drop(db, "request"); /* and what was kept inside of it */
    assert_true(driver->is_open(db));
    suite_commit(db);
    assert_int_equal(suite_number(db, count_things, NONE_GIVEN), 3);
    assert_int_equal(suite_number(db, "SELECT sum(id) FROM things", NONE_GIVEN), 1 + 2 + 4);
}

static void part_that_failed_is_dropped_and_the_rest_is_kept(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    const struct driver *driver = db->driver;
    suite_begin(db);
    thing_put(db, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(driver->part_begin(db, "part"), STATUS_OK);
        thing_put(db, 10 + i);
        suite_fails(db, put_thing, GIVEN(NUMBER(1), NUMBER(0)), STATUS_REFUSED, SQL_ERROR_UNIQUE);
        driver->part_drop(db, "part");
        assert_true(driver->is_open(db));
        assert_int_equal(suite_number(db, count_things, NONE_GIVEN), 1 + i);
        thing_put(db, 20 + i);
    }
    assert_int_equal(driver->part_begin(db, "request"), STATUS_OK);
    assert_int_equal(driver->part_begin(db, "part"), STATUS_OK);
    suite_fails(db, put_thing, GIVEN(NUMBER(1), NUMBER(0)), STATUS_REFUSED, SQL_ERROR_UNIQUE);
    driver->part_drop(db, "part");
    thing_put(db, 30);
    assert_int_equal(driver->part_keep(db, "request"), STATUS_OK);
    suite_commit(db);
    assert_int_equal(suite_number(db, count_things, NONE_GIVEN), 5);
}

static void transaction_goes_on_after_a_rollback_of_a_failed_one(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    thing_put(db, 1);
    for (int i = 0; i < 3; i++) {
        suite_begin(db);
        thing_put(db, 2);
        suite_fails(db, put_thing, GIVEN(NUMBER(1), NUMBER(0)), STATUS_REFUSED, SQL_ERROR_UNIQUE);
        db->driver->rollback(db);
        assert_false(db->driver->is_open(db));
        assert_int_equal(suite_number(db, count_things, NONE_GIVEN), 1);
    }
    suite_begin(db);
    thing_put(db, 2);
    suite_commit(db);
    assert_int_equal(suite_number(db, count_things, NONE_GIVEN), 2);
}

static void rule_fails(struct sql_connection *db, struct sql_values values, enum sql_error error)
{
    suite_fails(db, put_rule, values, STATUS_REFUSED, error);
}

static void row_that_breaks_a_rule_is_refused_with_its_kind(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    suite_do(db, put_rule, GIVEN(NUMBER(1), WORDS("one"), NUMBER(5), WORDS("x")));
    rule_fails(db, GIVEN(NUMBER(1), WORDS("two"), NUMBER(5), WORDS("x")), SQL_ERROR_UNIQUE);
    rule_fails(db, GIVEN(NUMBER(2), WORDS("one"), NUMBER(5), WORDS("x")), SQL_ERROR_UNIQUE);
    rule_fails(db, GIVEN(NUMBER(2), WORDS("two"), NUMBER(-1), WORDS("x")), SQL_ERROR_CHECK);
    rule_fails(db, GIVEN(NUMBER(0), WORDS("two"), NUMBER(5), WORDS("x")), SQL_ERROR_CHECK);
    rule_fails(db, GIVEN(NUMBER(1001), WORDS("two"), NUMBER(5), WORDS("x")), SQL_ERROR_CHECK);
    rule_fails(db, GIVEN(NUMBER(2), WORDS("two"), NUMBER(1000), WORDS("")), SQL_ERROR_CHECK);
    rule_fails(db, GIVEN(NUMBER(2), WORDS("two"), NUMBER(5), NO_VALUE), SQL_ERROR_CHECK);
    suite_fails(db, "INSERT INTO rules(id, code, units) VALUES(?1, ?2, 1)",
        GIVEN(NUMBER(2), WORDS("two")), STATUS_REFUSED, SQL_ERROR_CHECK); /* no default */
    suite_fails(db, "INSERT INTO children(id, thing) VALUES(1, ?1)", GIVEN(NUMBER(77)),
        STATUS_REFUSED, SQL_ERROR_CHECK);
    thing_put(db, 77);
    suite_do(db, "INSERT INTO children(id, thing) VALUES(1, ?1)", GIVEN(NUMBER(77)));
    suite_fails(
        db, "DELETE FROM things WHERE id = ?1", GIVEN(NUMBER(77)), STATUS_REFUSED, SQL_ERROR_CHECK);
    suite_fails(db, "UPDATE rules SET units = units - ?1", GIVEN(NUMBER(6)), STATUS_REFUSED,
        SQL_ERROR_CHECK);
    assert_int_equal(suite_number(db, "SELECT count(*) FROM rules WHERE units = 5", NONE_GIVEN), 1);
    assert_int_equal(suite_number(db, "SELECT count(*) FROM rules", NONE_GIVEN), 1);
}

static void text_that_is_too_long_is_refused(void **state)
{
    const struct driver_case *test = *state;
    /* 20 characters, not bytes */
    static const char twenty[] =
        "\xE7\xA7\x92\xE7\xA7\x92\xE7\xA7\x92\xE7\xA7\x92\xE7\xA7\x92"
        "\xF0\x9F\x90\x98\xF0\x9F\x90\x98\xF0\x9F\x90\x98\xF0\x9F\x90\x98\xF0\x9F\x90\x98"
        "0123456789";
    suite_do(test->db, put_rule, GIVEN(NUMBER(1), WORDS(twenty), NUMBER(5), WORDS("x")));
    suite_text(test->db, "SELECT code FROM rules WHERE id = 1", NONE_GIVEN, twenty);
    if (!test->world->limits_text)
        return;
    static const char more[] = "012345678901234567890";
    rule_fails(test->db, GIVEN(NUMBER(2), WORDS(more), NUMBER(5), WORDS("x")), SQL_ERROR_CHECK);
    assert_int_equal(suite_number(test->db, "SELECT count(*) FROM rules", NONE_GIVEN), 1);
}

static void statement_on_a_table_that_is_not_there_says_that_the_tables_are_not_ours(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    suite_fails(db, "SELECT id FROM no_such_table", NONE_GIVEN, STATUS_CORRUPT, SQL_ERROR_CORRUPT);
    suite_fails(db, "SELECT no_such_column FROM things", NONE_GIVEN, STATUS_CORRUPT, SQL_ERROR_CORRUPT);
    assert_int_equal(
        db->driver->script(db, "CREATE TABLE things(id INTEGER PRIMARY KEY);"), STATUS_CORRUPT);
    assert_int_equal(suite_number(db, count_things, NONE_GIVEN), 0);
}

static void update_matches_rows_that_keep_their_values(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char set_all[] = "UPDATE things SET amount = ?1";
    for (int i = 1; i <= 3; i++)
        thing_put(db, i);
    assert_int_equal(db->driver->matched(db), 1);
    suite_do(db, set_all, GIVEN(NUMBER(0)));
    assert_int_equal(db->driver->matched(db), 3);
    assert_int_equal(suite_number(db, count_things, NONE_GIVEN), 3);
    assert_int_equal(db->driver->matched(db), 3); /* a SELECT changes nothing of it */
    suite_do(db, "UPDATE things SET amount = ?1 WHERE id > ?2", GIVEN(NUMBER(0), NUMBER(3)));
    assert_int_equal(db->driver->matched(db), 0);
    suite_do(db, "DELETE FROM things WHERE id < ?1", GIVEN(NUMBER(3)));
    assert_int_equal(db->driver->matched(db), 2);
}

static void conflict_does_nothing_and_matches_nothing(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char put[] =
        "INSERT INTO pairs(a, b, units) VALUES(?1, ?2, ?3) ON CONFLICT(a, b) DO NOTHING";
    suite_begin(db);
    suite_do(db, put, GIVEN(NUMBER(1), NUMBER(2), NUMBER(3)));
    assert_int_equal(db->driver->matched(db), 1);
    suite_do(db, put, GIVEN(NUMBER(1), NUMBER(2), NUMBER(4)));
    assert_int_equal(db->driver->matched(db), 0);
    suite_do(db, put, GIVEN(NUMBER(1), NUMBER(3), NUMBER(5)));
    assert_int_equal(db->driver->matched(db), 1);
    suite_commit(db);
    assert_int_equal(suite_number(db, "SELECT sum(units) FROM pairs", NONE_GIVEN), 8);
}

static void many_rows_are_inserted_but_for_those_that_are_there(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char head[] = "INSERT INTO pairs(a, b, units)";
    enum { ROWS = 300 };
    uint64_t numbers[ROWS * 3];
    if (db->driver->insert_many == NULL)
        skip();
    for (uint64_t i = 0; i < ROWS; i++)
        memcpy(&numbers[i * 3], ((uint64_t[]){ i, (uint64_t)INT64_MIN + i, UINT64_MAX - i }), 24);
    suite_begin(db);
    assert_int_equal(db->driver->insert_many(db, head, numbers, 3, 1), STATUS_OK);
    assert_int_equal(db->driver->matched(db), 1);
    assert_int_equal(db->driver->insert_many(db, head, numbers, 3, ROWS), STATUS_OK);
    assert_int_equal(db->driver->matched(db), ROWS - 1);
    suite_commit(db);
    for (uint64_t i = 0; i < ROWS; i += ROWS - 1) {
        assert_int_equal(suite_number(db, "SELECT b FROM pairs WHERE a = ?1", GIVEN(NUMBER(i))),
            INT64_MIN + (int64_t)i);
        assert_int_equal(suite_number(db, "SELECT units FROM pairs WHERE a = ?1", GIVEN(NUMBER(i))),
            -1 - (int64_t)i);
    }
}

static void conflict_on_any_key_does_nothing_where_none_is_named(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char put[] = "INSERT INTO rules(id, code, units, label) VALUES(?1, ?2, ?3, 'x')"
                              " ON CONFLICT DO NOTHING";
    suite_begin(db);
    suite_do(db, put, GIVEN(NUMBER(1), WORDS("one"), NUMBER(1)));
    assert_int_equal(db->driver->matched(db), 1);
    suite_do(db, put, GIVEN(NUMBER(1), WORDS("two"), NUMBER(1)));
    assert_int_equal(db->driver->matched(db), 0);
    suite_do(db, put, GIVEN(NUMBER(2), WORDS("one"), NUMBER(1)));
    assert_int_equal(db->driver->matched(db), 0);
    suite_do(db, put, GIVEN(NUMBER(2), WORDS("two"), NUMBER(1)));
    assert_int_equal(db->driver->matched(db), 1);
    suite_commit(db);
    suite_fails(db, put, GIVEN(NUMBER(3), WORDS("three"), NUMBER(-1)), STATUS_REFUSED, SQL_ERROR_CHECK);
    assert_int_equal(suite_number(db, "SELECT count(*) FROM rules", NONE_GIVEN), 2);
}

static void conflict_on_another_key_is_an_error(void **state)
{
    const struct driver_case *test = *state;
    struct sql_connection *db = test->db;
    static const char put[] = "INSERT INTO rules(id, code, units, label) VALUES(?1, ?2, ?3, 'x')"
                              " ON CONFLICT(id) DO NOTHING";
    suite_do(db, put, GIVEN(NUMBER(1), WORDS("one"), NUMBER(1)));
    suite_do(db, put, GIVEN(NUMBER(1), WORDS("two"), NUMBER(1)));
    suite_fails(db, put, GIVEN(NUMBER(2), WORDS("two"), NUMBER(-1)), STATUS_REFUSED, SQL_ERROR_CHECK);
    if (test->world->knows_the_key)
        suite_fails(db, put, GIVEN(NUMBER(2), WORDS("one"), NUMBER(1)), STATUS_REFUSED, SQL_ERROR_UNIQUE);
    assert_int_equal(suite_number(db, "SELECT count(*) FROM rules", NONE_GIVEN), 1);
}

static void conflict_adds_to_the_row_that_is_there(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char add[] =
        "INSERT INTO pairs(a, b, units) VALUES(?1, ?2, ?3)"
        " ON CONFLICT(a, b) DO UPDATE SET units = pairs.units + excluded.units";
    for (int i = 0; i < 3; i++) {
        suite_do(db, add, GIVEN(NUMBER(1), NUMBER(2), NUMBER(20)));
        assert_int_equal(db->driver->matched(db), 1);
    }
    suite_do(db, add, GIVEN(NUMBER(1), NUMBER(2), NUMBER(0))); /* to the same values */
    assert_int_equal(db->driver->matched(db), 1);
    assert_int_equal(suite_number(db, "SELECT units FROM pairs WHERE a = 1 AND b = 2", NONE_GIVEN), 60);
    static const char set[] =
        "INSERT INTO rules(id, code, units, label) VALUES(?1, ?2, ?3, ?4)"
        " ON CONFLICT(id) DO UPDATE SET units = excluded.units, label = excluded.label";
    suite_do(db, set, GIVEN(NUMBER(1), WORDS("one"), NUMBER(1), WORDS("first")));
    suite_do(db, set, GIVEN(NUMBER(1), WORDS("other"), NUMBER(2), WORDS("second")));
    suite_text(db, "SELECT label FROM rules WHERE code = 'one' AND units = 2", NONE_GIVEN, "second");
}

static void numbers_are_given_upwards_and_told(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char put[] = "INSERT INTO numbered(units) VALUES(?1) RETURNING id";
    uint64_t last = 99;
    assert_int_equal(db->driver->counter(db, "numbered", &last), STATUS_OK);
    assert_int_equal(last, 0);
    assert_int_equal(suite_number(db, put, GIVEN(NUMBER(5))), 1);
    assert_int_equal(db->driver->matched(db), 1);
    assert_int_equal(suite_number(db, put, GIVEN(NUMBER(6))), 2);
    assert_int_equal(db->driver->counter(db, "numbered", &last), STATUS_OK);
    assert_int_equal(last, 2);
    suite_do(db, "DELETE FROM numbered WHERE id = 2", NONE_GIVEN);
    assert_int_equal(suite_number(db, put, GIVEN(NUMBER(7))), 3); /* never used again */
    assert_int_equal(suite_number(db, "SELECT units FROM numbered WHERE id = 3", NONE_GIVEN), 7);
}

static void counter_is_lifted_and_never_lowered(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char put[] = "INSERT INTO numbered(units) VALUES(?1) RETURNING id";
    uint64_t last = 0;
    assert_int_equal(db->driver->counter_lift(db, "numbered", 0), STATUS_OK);
    assert_int_equal(suite_number(db, put, GIVEN(NUMBER(1))), 1);
    assert_int_equal(db->driver->counter_lift(db, "numbered", 5000000000), STATUS_OK);
    assert_int_equal(db->driver->counter(db, "numbered", &last), STATUS_OK);
    assert_int_equal(last, 5000000000);
    assert_int_equal(suite_number(db, put, GIVEN(NUMBER(1))), 5000000001);
    assert_int_equal(db->driver->counter_lift(db, "numbered", 7), STATUS_OK);
    assert_true(suite_number(db, put, GIVEN(NUMBER(1))) > 5000000001);
}

static void rows_with_numbers_of_their_own_are_let_in(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    suite_do(db, "INSERT INTO numbered(id, units) VALUES(?1, 1)", GIVEN(NUMBER(40)));
    assert_int_equal(db->driver->counter_lift(db, "numbered", 40), STATUS_OK);
    assert_true(
        suite_number(db, "INSERT INTO numbered(units) VALUES(?1) RETURNING id", GIVEN(NUMBER(1))) > 40);
}

static void partial_unique_index_holds_where_its_condition_does(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char put[] = "INSERT INTO claims(id, owner, state) VALUES(?1, ?2, ?3)";
    suite_do(db, put, GIVEN(NUMBER(1), NUMBER(7), NUMBER(1)));
    suite_fails(db, put, GIVEN(NUMBER(2), NUMBER(7), NUMBER(1)), STATUS_REFUSED, SQL_ERROR_UNIQUE);
    suite_do(db, put, GIVEN(NUMBER(2), NUMBER(7), NUMBER(2)));
    suite_do(db, put, GIVEN(NUMBER(3), NUMBER(7), NUMBER(2)));
    suite_do(db, put, GIVEN(NUMBER(4), NUMBER(8), NUMBER(1)));
    suite_fails(db, "UPDATE claims SET state = 1 WHERE id = ?1", GIVEN(NUMBER(2)), STATUS_REFUSED,
        SQL_ERROR_UNIQUE);
    suite_do(db, "UPDATE claims SET state = 3 WHERE id = ?1", GIVEN(NUMBER(1)));
    suite_do(db, "UPDATE claims SET state = 1 WHERE id = ?1", GIVEN(NUMBER(2)));
    assert_int_equal(suite_number(db, "SELECT count(*) FROM claims WHERE state = 1", NONE_GIVEN), 2);
}

static void script_changes_tables_that_are_in_use(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char all[] = "SELECT count(*), sum(amount) FROM things";
    thing_put(db, 1);
    assert_int_equal(suite_number(db, all, NONE_GIVEN), 1);
    assert_int_equal(
        db->driver->script(db,
            "ALTER TABLE things ADD COLUMN extra INTEGER NOT NULL DEFAULT 0 CHECK(extra >= 0);"
            "ALTER TABLE things ADD COLUMN note TEXT{40} NOT NULL DEFAULT '';"
            "CREATE INDEX things_extra ON things(extra){extra, amount} WHERE (extra > 0 AND amount "
            "> 0);"
            "UPDATE things SET extra = 3;"),
        STATUS_OK);
    thing_put(db, 2);
    assert_int_equal(suite_number(db, all, NONE_GIVEN), 2);
    assert_int_equal(suite_number(db, "SELECT sum(extra) FROM things WHERE note = ''", NONE_GIVEN), 3);
}

const struct CMUnitTest driver_suite_transactions[] = {
    SUITE_TEST(commit_keeps_and_rollback_does_not),
    SUITE_TEST(parts_are_kept_or_dropped_inside_of_parts),
    SUITE_TEST(part_that_failed_is_dropped_and_the_rest_is_kept),
    SUITE_TEST(transaction_goes_on_after_a_rollback_of_a_failed_one),
    SUITE_TEST(row_that_breaks_a_rule_is_refused_with_its_kind),
    SUITE_TEST(text_that_is_too_long_is_refused),
    SUITE_TEST(statement_on_a_table_that_is_not_there_says_that_the_tables_are_not_ours),
    SUITE_TEST(update_matches_rows_that_keep_their_values),
    SUITE_TEST(conflict_does_nothing_and_matches_nothing),
    SUITE_TEST(many_rows_are_inserted_but_for_those_that_are_there),
    SUITE_TEST(conflict_on_any_key_does_nothing_where_none_is_named),
    SUITE_TEST(conflict_on_another_key_is_an_error),
    SUITE_TEST(conflict_adds_to_the_row_that_is_there),
    SUITE_TEST(numbers_are_given_upwards_and_told),
    SUITE_TEST(counter_is_lifted_and_never_lowered),
    SUITE_TEST(rows_with_numbers_of_their_own_are_let_in),
    SUITE_TEST(partial_unique_index_holds_where_its_condition_does),
    SUITE_TEST(script_changes_tables_that_are_in_use),
};
const size_t driver_suite_transactions_count =
    sizeof driver_suite_transactions / sizeof *driver_suite_transactions;
