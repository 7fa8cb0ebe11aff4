/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mysql/text.h"

#include "tests/unit/base/unit.h"

#define TABLE_END ") ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARACTER SET utf8mb4 COLLATE exact"

static char room[4096];
static bool by_table;

static void becomes(const char *sql, const char *expected)
{
    struct text text = text_in(room, mysql_text_room(strlen(sql)));
    mysql_script_text(&text, span_from_string(sql), &(struct mysql_dialect){ "exact", by_table });
    room[text.size] = '\0';
    assert_string_equal(room, expected);
}

static void script_is_cut_where_its_statements_end(void **state)
{
    (void)state;
    struct span script =
        SPAN("CREATE TABLE a(x INTEGER);\n  INSERT INTO a VALUES('; ''');UPDATE a SET x = 1; ");
    struct span statement;
    assert_true(mysql_script_take(&script, &statement));
    assert_true(span_equal(statement, SPAN("CREATE TABLE a(x INTEGER)")));
    assert_true(mysql_script_take(&script, &statement));
    assert_true(span_equal(statement, SPAN("INSERT INTO a VALUES('; ''')")));
    assert_true(mysql_script_take(&script, &statement));
    assert_true(span_equal(statement, SPAN("UPDATE a SET x = 1")));
    assert_false(mysql_script_take(&script, &statement));
}

static void table_gets_types_and_says_how_it_is_kept(void **state)
{
    (void)state;
    becomes("CREATE TABLE t(id INTEGER PRIMARY KEY AUTOINCREMENT, a TEXT NOT NULL, b TEXT{255} NOT "
            "NULL UNIQUE,"
            " c BLOB, d BLOB{32} NOT NULL) STRICT",
        "CREATE TABLE t(id BIGINT PRIMARY KEY AUTO_INCREMENT, a MEDIUMTEXT NOT NULL,"
        " b VARCHAR(255) NOT NULL UNIQUE, c MEDIUMBLOB, d VARBINARY(32) NOT NULL" TABLE_END);
    becomes("CREATE TABLE t(a INTEGER NOT NULL, b INTEGER NOT NULL, PRIMARY KEY(a, b)) STRICT, "
            "WITHOUT ROWID",
        "CREATE TABLE t(a BIGINT NOT NULL, b BIGINT NOT NULL, PRIMARY KEY(a, b)" TABLE_END);
}

static void rules_of_columns_stand_at_the_end_of_the_table(void **state)
{
    (void)state;
    becomes("CREATE TABLE t(a INTEGER NOT NULL CHECK(a IN (0, 1)) DEFAULT 0, b INTEGER REFERENCES "
            "s(id),"
            " c TEXT{3} CHECK(length(c) = 3), UNIQUE(a, b), CHECK(length(c) > a))",
        "CREATE TABLE t(a BIGINT NOT NULL  DEFAULT 0, b BIGINT , c VARCHAR(3) , UNIQUE(a, b),"
        " CHECK(char_length(c) > a), CHECK(a IN (0, 1)), FOREIGN KEY(b) REFERENCES s(id),"
        " CHECK(char_length(c) = 3)" TABLE_END);
}

static void default_of_a_long_text_stands_in_brackets(void **state)
{
    (void)state;
    becomes("CREATE TABLE t(a TEXT NOT NULL DEFAULT 'x, y', b TEXT{9} DEFAULT '')",
        "CREATE TABLE t(a MEDIUMTEXT NOT NULL DEFAULT ('x, y'), b VARCHAR(9) DEFAULT ''" TABLE_END);
}

static void column_is_added_with_its_rules(void **state)
{
    (void)state;
    becomes("ALTER TABLE t ADD COLUMN a INTEGER NOT NULL DEFAULT 0 CHECK(a >= 0)",
        "ALTER TABLE t ADD COLUMN a BIGINT NOT NULL DEFAULT 0 , ADD CHECK(a >= 0)");
    becomes("ALTER TABLE t ADD COLUMN a TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE t ADD COLUMN a MEDIUMTEXT NOT NULL DEFAULT ('')");
    becomes("ALTER TABLE t DROP COLUMN a", "ALTER TABLE t DROP COLUMN a");
}

static void check_of_a_column_has_the_name_that_the_server_gave_it(void **state)
{
    (void)state;
    const char sql[] = "ALTER TABLE t CHECK 2 a(a BETWEEN 1 AND (3 + 4))";
    becomes(sql,
        "ALTER TABLE t DROP CONSTRAINT CONSTRAINT_2, ADD CONSTRAINT CONSTRAINT_2"
        " CHECK(a BETWEEN 1 AND (3 + 4))");
    by_table = true;
    becomes(sql,
        "ALTER TABLE t DROP CONSTRAINT t_chk_2, ADD CONSTRAINT t_chk_2"
        " CHECK(a BETWEEN 1 AND (3 + 4))");
    by_table = false;
}

static void index_of_some_rows_is_one_of_the_columns_in_braces(void **state)
{
    (void)state;
    becomes("CREATE INDEX i ON t(a, b)", "CREATE INDEX i ON t(a, b)");
    becomes("CREATE UNIQUE INDEX i ON t(a)", "CREATE UNIQUE INDEX i ON t(a)");
    becomes("CREATE INDEX i ON t(a){c, a} WHERE c = 1", "CREATE INDEX i ON t(c, a)");
    becomes("CREATE INDEX i ON t(CASE WHEN a < 3 THEN b ELSE c END){a, b} WHERE a > 0",
        "CREATE INDEX i ON t(a, b)");
    becomes("CREATE INDEX i ON t(a) WHERE c = 1", "CREATE INDEX i ON t(a)");
}

static void unique_index_of_some_rows_gets_a_column_that_tells_which(void **state)
{
    (void)state;
    becomes("CREATE UNIQUE INDEX i ON t(a, b){c, a} WHERE c IN (1, 3) ",
        "ALTER TABLE t ADD COLUMN i_holds TINYINT GENERATED ALWAYS AS (CASE WHEN c IN (1, 3) THEN "
        "1 END)"
        " STORED INVISIBLE, ADD UNIQUE INDEX i(a, b, i_holds)");
}

static void other_statements_are_read_as_statements(void **state)
{
    (void)state;
    becomes("INSERT INTO t(a) VALUES('TEXT{3}') ON CONFLICT(a) DO NOTHING",
        "INSERT INTO t(a) VALUES('TEXT{3}') ON DUPLICATE KEY UPDATE a = t.a");
    becomes("DROP TABLE IF EXISTS t", "DROP TABLE IF EXISTS t");
}

static void script_with_a_value(void)
{
    becomes("INSERT INTO t(a) VALUES(?1)", "");
}

static void column_of_another_type(void)
{
    becomes("CREATE TABLE t(a REAL)", "");
}

static void script_without_an_end(void)
{
    struct span script = SPAN("UPDATE t SET a = 1"), statement;
    (void)mysql_script_take(&script, &statement);
}

static void script_that_breaks_the_forms_stops_the_program(void **state)
{
    (void)state;
    assert_true(unit_stops(script_with_a_value));
    assert_true(unit_stops(column_of_another_type));
    assert_true(unit_stops(script_without_an_end));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(script_is_cut_where_its_statements_end),
        cmocka_unit_test(table_gets_types_and_says_how_it_is_kept),
        cmocka_unit_test(rules_of_columns_stand_at_the_end_of_the_table),
        cmocka_unit_test(default_of_a_long_text_stands_in_brackets),
        cmocka_unit_test(column_is_added_with_its_rules),
        cmocka_unit_test(check_of_a_column_has_the_name_that_the_server_gave_it),
        cmocka_unit_test(index_of_some_rows_is_one_of_the_columns_in_braces),
        cmocka_unit_test(unique_index_of_some_rows_gets_a_column_that_tells_which),
        cmocka_unit_test(other_statements_are_read_as_statements),
        cmocka_unit_test(script_that_breaks_the_forms_stops_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
