/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mysql/text.h"

#include "tests/unit/base/unit.h"

static char room[4096];
static uint16_t order[MYSQL_PARAMETERS_MAX];

static struct mysql_text made(const char *sql)
{
    struct mysql_text text = { .sql = text_in(room, sizeof room), .order = order };
    mysql_text_make(&text, span_from_string(sql));
    return text;
}

static void becomes(const char *sql, const char *expected)
{
    const struct mysql_text text = made(sql);
    room[text.sql.size] = '\0';
    assert_string_equal(room, expected);
    assert_true(text.sql.size < mysql_text_room(strlen(sql)));
}

static void value_is_found_by_its_place(void **state)
{
    (void)state;
    becomes("UPDATE t SET a = ?2, b = ?1 + ?2 WHERE c = ?12", "UPDATE t SET a = ?, b = ? + ? WHERE c = ?");
    const struct mysql_text text = made("UPDATE t SET a = ?2, b = ?1 + ?2 WHERE c = ?12");
    assert_int_equal(text.parameters, 4);
    assert_int_equal(text.values, 12);
    const uint16_t expected[] = { 1, 0, 1, 11 };
    assert_memory_equal(order, expected, sizeof expected);
    assert_int_equal(made("SELECT ?65535").values, 65535);
    assert_int_equal(order[0], 65534);
}

static void plain_statement_stays_as_it_is(void **state)
{
    (void)state;
    static const char sql[] =
        "SELECT a, count(*) FROM t\n WHERE b = 'x' ORDER BY a LIMIT 1 FOR UPDATE";
    becomes(sql, sql);
    const struct mysql_text text = made(sql);
    assert_int_equal(text.parameters + text.values, 0);
    assert_false(text.is_upsert || text.returns_id);
}

static void what_stands_in_quotes_is_not_read(void **state)
{
    (void)state;
    static const char sql[] =
        "SELECT '?1 it''s ON CONFLICT(a) DO NOTHING RETURNING id', '', 'excluded.a length(x)'";
    becomes(sql, sql);
}

static void conflict_that_does_nothing_sets_the_key_to_itself(void **state)
{
    (void)state;
    becomes("INSERT INTO t(a, b) VALUES(?1, ?2) ON CONFLICT(a, b) DO NOTHING",
        "INSERT INTO t(a, b) VALUES(?, ?) ON DUPLICATE KEY UPDATE a = t.a");
    /* a column of the same name in the table that is read */
    becomes("INSERT INTO t(a) SELECT a FROM s WHERE b = ?1 ON CONFLICT(a) DO NOTHING",
        "INSERT INTO t(a) SELECT a FROM s WHERE b = ? ON DUPLICATE KEY UPDATE a = t.a");
    becomes("INSERT INTO t(b, a) VALUES(?1, ?2) ON CONFLICT DO NOTHING",
        "INSERT INTO t(b, a) VALUES(?, ?) ON DUPLICATE KEY UPDATE b = t.b");
    assert_false(made("INSERT INTO t(a) VALUES(?1) ON CONFLICT(a) DO NOTHING").is_upsert);
}

static void conflict_that_changes_takes_the_values_that_were_given(void **state)
{
    (void)state;
    static const char sql[] = "INSERT INTO t(a, c) VALUES(?1, ?2)"
                              " ON CONFLICT(a) DO UPDATE SET c = t.c + excluded.c, d = ?3";
    becomes(sql, "INSERT INTO t(a, c) VALUES(?, ?) ON DUPLICATE KEY UPDATE c = t.c + VALUES(c), d = ?");
    assert_true(made(sql).is_upsert);
}

static void on_of_a_join_is_no_conflict(void **state)
{
    (void)state;
    static const char sql[] = "SELECT 1 FROM a JOIN b ON b.id = a.id WHERE b.x = 1";
    becomes(sql, sql);
}

static void returning_is_taken_off(void **state)
{
    (void)state;
    static const char sql[] = "INSERT INTO t(a) VALUES(?1) RETURNING id";
    becomes(sql, "INSERT INTO t(a) VALUES(?) ");
    assert_true(made(sql).returns_id);
}

static void length_counts_characters(void **state)
{
    (void)state;
    becomes("SELECT length(a), length FROM t", "SELECT char_length(a), length FROM t");
}

static void value_without_a_number(void)
{
    (void)made("SELECT ?");
}

static void value_after_the_last(void)
{
    (void)made("SELECT ?65536");
}

static void returning_of_something_else(void)
{
    (void)made("INSERT INTO t(a) VALUES(1) RETURNING a");
}

static void string_without_an_end(void)
{
    (void)made("SELECT 'a");
}

static void text_that_breaks_the_forms_stops_the_program(void **state)
{
    (void)state;
    assert_true(unit_stops(value_without_a_number));
    assert_true(unit_stops(value_after_the_last));
    assert_true(unit_stops(returning_of_something_else));
    assert_true(unit_stops(string_without_an_end));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_is_found_by_its_place),
        cmocka_unit_test(plain_statement_stays_as_it_is),
        cmocka_unit_test(what_stands_in_quotes_is_not_read),
        cmocka_unit_test(conflict_that_does_nothing_sets_the_key_to_itself),
        cmocka_unit_test(conflict_that_changes_takes_the_values_that_were_given),
        cmocka_unit_test(on_of_a_join_is_no_conflict),
        cmocka_unit_test(returning_is_taken_off),
        cmocka_unit_test(length_counts_characters),
        cmocka_unit_test(text_that_breaks_the_forms_stops_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
