/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/driver_suite_values.c: what is put in comes out, row by row. */
#include "tests/seam/driver_suite_parts.h"

#include <stdlib.h>

enum { LONG_BYTES = 200000 };

static const char put_amount[] = "INSERT INTO things(id, amount) VALUES(?1, ?2)";
static const char put_label[] = "INSERT INTO things(id, label) VALUES(?1, ?2)";
static const char put_code[] = "INSERT INTO things(id, code) VALUES(?1, ?2)";
static const char put_body[] = "INSERT INTO things(id, body) VALUES(?1, ?2)";
static const char put_pair[] = "INSERT INTO pairs(a, b, units) VALUES(?1, ?2, ?3)";

static void numbers_of_all_64_bits_come_back(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    const int64_t numbers[] = { 0, 1, -1, INT32_MAX, INT32_MIN, (int64_t)INT32_MAX + 1, UINT32_MAX,
        (int64_t)1 << 53, ((int64_t)1 << 53) + 1, INT64_MAX, INT64_MAX - 1, INT64_MIN,
        INT64_MIN + 1, (int64_t)UINT64_MAX, (int64_t)0x8000000000000001u };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        suite_do(db, put_amount, GIVEN(NUMBER(i), NUMBER(numbers[i])));
        assert_int_equal(
            suite_number(db, "SELECT amount FROM things WHERE id = ?1", GIVEN(NUMBER(i))), numbers[i]);
        assert_int_equal(suite_number(db, "SELECT id FROM things WHERE amount = ?1 AND id = ?2",
                             GIVEN(NUMBER(numbers[i]), NUMBER(i))),
            i);
    }
}

static void texts_come_back_byte_by_byte(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    const char *const texts[] = { "", " ", "plain", "it's \"quoted\" \\ and \\n %s ?1 $1 {x}",
        "line\nline\ttab", "\xE7\xA7\x92\xE6\x9D\x80", /* 秒杀 */
        "\xF0\x9F\x90\x98 \xF0\xA0\x80\x80",           /* four bytes each */
        "\xC3\xA9", "e\xCC\x81", "\xEF\xBB\xBF", "trailing  " };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        suite_do(db, put_label, GIVEN(NUMBER(i), WORDS(texts[i])));
        suite_text(db, "SELECT label FROM things WHERE id = ?1", GIVEN(NUMBER(i)), texts[i]);
        assert_int_equal(
            suite_number(db, "SELECT id FROM things WHERE label = ?1", GIVEN(WORDS(texts[i]))), i);
        suite_do(db, put_code,
            GIVEN(NUMBER(100 + i), WORDS_OF(texts[i], strlen(texts[i]) < 20 ? strlen(texts[i]) : 0)));
    }
    suite_text(db, "SELECT code FROM things WHERE id = ?1", GIVEN(NUMBER(106)), texts[6]);
}

static void text_of_a_given_length_needs_no_zero_at_its_end(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    suite_do(db, put_label, GIVEN(NUMBER(1), WORDS_OF("onetwothree", 3)));
    suite_do(db, put_label, GIVEN(NUMBER(2), WORDS_OF("onetwothree", 0)));
    suite_text(db, "SELECT label FROM things WHERE id = ?1", GIVEN(NUMBER(1)), "one");
    suite_text(db, "SELECT label FROM things WHERE id = ?1", GIVEN(NUMBER(2)), "");
    assert_int_equal(suite_number(db, "SELECT count(*) FROM things WHERE label IS NULL", NONE_GIVEN), 0);
}

static void texts_are_equal_when_their_bytes_are(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    const char *const codes[] = { "a", "A", "a ", "\xC3\xA9", "e\xCC\x81", "e", "\xC3\x89" };
    const size_t count = sizeof codes / sizeof *codes;
    for (size_t i = 0; i < count; i++)
        suite_do(db, "INSERT INTO rules(id, code, units, label) VALUES(?1, ?2, 0, 'x')",
            GIVEN(NUMBER(i + 1), WORDS(codes[i])));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            suite_number(db, "SELECT id FROM rules WHERE code = ?1", GIVEN(WORDS(codes[i]))), i + 1);
}

static void texts_are_ordered_by_their_bytes(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    const char *const codes[] = { "", "0", "B", "a", "a ", "ab", "b", "\xC3\xA9", "\xE7\xA7\x92",
        "\xF0\x9F\x90\x98" };
    const int count = sizeof codes / sizeof *codes;
    for (int i = count - 1; i >= 0; i--)
        suite_do(db, "INSERT INTO things(id, code, label) VALUES(?1, ?2, ?2)",
            GIVEN(NUMBER(i), WORDS(codes[i])));
    struct sql_row *row;
    assert_int_equal(
        db->driver->query(db, "SELECT id FROM things ORDER BY code", NONE_GIVEN, &row), STATUS_OK);
    for (int i = 0; i < count; i++) {
        assert_int_equal(db->driver->next(row), STATUS_OK);
        assert_int_equal(db->driver->number(row, 0), i);
    }
    db->driver->finish(row);
    assert_int_equal(
        suite_number(db, "SELECT count(*) FROM things WHERE label > 'Z'", NONE_GIVEN), count - 3);
}

static void blobs_come_back_byte_by_byte(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    uint8_t all[256];
    for (int i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    const size_t sizes[] = { 256, 1, 0 };
    for (size_t i = 0; i < 3; i++) {
        struct sql_row *row;
        size_t bytes = 9;
        suite_do(db, put_body, GIVEN(NUMBER(i), BYTES(all, sizes[i])));
        assert_int_equal(
            db->driver->query(db, "SELECT body FROM things WHERE id = ?1", GIVEN(NUMBER(i)), &row),
            STATUS_OK);
        assert_int_equal(db->driver->next(row), STATUS_OK);
        const void *body = db->driver->bytes(row, 0, &bytes);
        assert_int_equal(bytes, sizes[i]);
        if (bytes > 0)
            assert_memory_equal(body, all, bytes);
        db->driver->finish(row);
        assert_int_equal(
            suite_number(db, "SELECT id FROM things WHERE body = ?1", GIVEN(BYTES(all, sizes[i]))), i);
        assert_int_equal(
            suite_number(db, "SELECT length(body) FROM things WHERE id = ?1", GIVEN(NUMBER(i))),
            sizes[i]);
    }
}

static void long_texts_and_blobs_come_back(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    char *text = malloc(LONG_BYTES + 1);
    assert_non_null(text);
    for (size_t i = 0; i < LONG_BYTES; i++)
        text[i] = (char)('a' + i % 23);
    text[LONG_BYTES] = '\0';
    suite_do(db, "INSERT INTO things(id, label, body) VALUES(1, ?1, ?2)",
        GIVEN(WORDS(text), BYTES(text, LONG_BYTES)));
    suite_text(db, "SELECT label FROM things WHERE id = 1", NONE_GIVEN, text);
    suite_text(db, "SELECT body FROM things WHERE id = 1", NONE_GIVEN, text);
    free(text);
}

static void null_is_zero_and_no_bytes(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char put[] =
        "INSERT INTO things(id, amount, label, code, body) VALUES(?1, ?2, ?3, ?3, ?4)";
    suite_do(db, put, GIVEN(NUMBER(1), NO_VALUE, NO_VALUE, NO_VALUE)); /* first without types, then with */
    suite_do(db, put, GIVEN(NUMBER(2), NUMBER(7), WORDS("x"), BYTES("y", 1)));
    suite_do(db, put, GIVEN(NUMBER(3), NO_VALUE, NO_VALUE, NO_VALUE));
    assert_int_equal(
        suite_number(db,
            "SELECT count(*) FROM things WHERE amount IS NULL AND label IS NULL AND code IS NULL"
            " AND body IS NULL",
            NONE_GIVEN),
        2);
    struct sql_row *row;
    assert_int_equal(
        db->driver->query(db, "SELECT amount, label, body FROM things WHERE id = 3", NONE_GIVEN, &row),
        STATUS_OK);
    assert_int_equal(db->driver->next(row), STATUS_OK);
    size_t bytes = 9;
    assert_int_equal(db->driver->number(row, 0), 0);
    (void)db->driver->bytes(row, 1, &bytes);
    assert_int_equal(bytes, 0);
    bytes = 9;
    (void)db->driver->bytes(row, 2, &bytes);
    assert_int_equal(bytes, 0);
    db->driver->finish(row);
    assert_int_equal(suite_number(db, "SELECT amount FROM things WHERE id = 2", NONE_GIVEN), 7);
}

static void sums_counts_and_answers_of_yes_or_no_are_exact(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    assert_int_equal(suite_number(db, "SELECT sum(units) FROM pairs", NONE_GIVEN), 0);
    suite_do(db, put_pair, GIVEN(NUMBER(1), NUMBER(1), NUMBER(INT64_MIN)));
    assert_int_equal(suite_number(db, "SELECT sum(units) FROM pairs WHERE a = 1", NONE_GIVEN), INT64_MIN);
    suite_do(db, put_pair, GIVEN(NUMBER(2), NUMBER(1), NUMBER(INT64_MAX - 10)));
    suite_do(db, put_pair, GIVEN(NUMBER(2), NUMBER(2), NUMBER(10)));
    suite_do(db, put_pair, GIVEN(NUMBER(3), NUMBER(1), NUMBER(9999)));
    suite_do(db, put_pair, GIVEN(NUMBER(3), NUMBER(2), NUMBER(1)));
    static const char sum[] = "SELECT coalesce(sum(units), 0) FROM pairs WHERE a = ?1";
    assert_int_equal(suite_number(db, sum, GIVEN(NUMBER(2))), INT64_MAX);
    assert_int_equal(suite_number(db, sum, GIVEN(NUMBER(3))), 10000);
    assert_int_equal(suite_number(db, sum, GIVEN(NUMBER(4))), 0);
    suite_do(db, put_pair, GIVEN(NUMBER(3), NUMBER(3), NUMBER(990000)));
    assert_int_equal(suite_number(db, sum, GIVEN(NUMBER(3))), 1000000);
    assert_int_equal(
        suite_number(db, "SELECT sum(units >> 32) FROM pairs WHERE a = 2", NONE_GIVEN), INT32_MAX);
    assert_int_equal(suite_number(db, "SELECT count(*) FROM pairs", NONE_GIVEN), 6);
    assert_int_equal(suite_number(db, "SELECT max(units) FROM pairs", NONE_GIVEN), INT64_MAX - 10);
    static const char is_there[] = "SELECT EXISTS(SELECT 1 FROM pairs WHERE a = ?1)";
    assert_int_equal(suite_number(db, is_there, GIVEN(NUMBER(1))), 1);
    assert_int_equal(suite_number(db, is_there, GIVEN(NUMBER(9))), 0);
    assert_int_equal(
        suite_number(db, "SELECT CASE WHEN a > 2 THEN 1 ELSE 0 END FROM pairs WHERE a = 1", NONE_GIVEN),
        0);
}

static void sum_of_more_than_64_bits_is_an_error_and_no_number(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char sum[] = "SELECT sum(units) FROM pairs";
    suite_do(db, put_pair, GIVEN(NUMBER(1), NUMBER(1), NUMBER(INT64_MAX)));
    assert_int_equal(suite_number(db, sum, NONE_GIVEN), INT64_MAX);
    suite_do(db, put_pair, GIVEN(NUMBER(1), NUMBER(2), NUMBER(1)));
    suite_fails(db, sum, NONE_GIVEN, STATUS_CORRUPT, SQL_ERROR_CORRUPT);
    suite_do(db, "UPDATE pairs SET units = ?1", GIVEN(NUMBER(INT64_MIN)));
    suite_fails(db, sum, NONE_GIVEN, STATUS_CORRUPT, SQL_ERROR_CORRUPT);
}

static void one_value_may_be_used_twice_and_in_any_order(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    suite_do(db, "INSERT INTO pairs(b, a, units) VALUES(?2, ?1, ?2)", GIVEN(NUMBER(5), NUMBER(6)));
    assert_int_equal(
        suite_number(db, "SELECT count(*) FROM pairs WHERE b = ?3 AND a = ?1 AND units = ?3 AND ?2 = ?2",
            GIVEN(NUMBER(5), NUMBER(1), NUMBER(6))),
        1);
    suite_do(db,
        "INSERT INTO things(id, amount, label)"
        " VALUES(?1, ?2 + ?3 + ?4 + ?5 + ?6 + ?7 + ?8 + ?9 + ?10, ?11)",
        GIVEN(NUMBER(1), NUMBER(2), NUMBER(3), NUMBER(4), NUMBER(5), NUMBER(6), NUMBER(7),
            NUMBER(8), NUMBER(9), NUMBER(-2), WORDS("eleven")));
    assert_int_equal(
        suite_number(db, "SELECT amount FROM things WHERE label = 'eleven'", NONE_GIVEN), 42);
}

static void words_in_quotes_stay_as_they_are(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    static const char odd[] = "?1 TEXT INTEGER; BLOB it's STRICT FOR UPDATE";
    assert_int_equal(db->driver->script(db,
                         "INSERT INTO things(id, label) VALUES(1, '?1 TEXT INTEGER; BLOB it''s "
                         "STRICT FOR UPDATE');"
                         "INSERT INTO things(id, label) VALUES(2, 'second; statement');"),
        STATUS_OK);
    suite_text(db, "SELECT label FROM things WHERE id = 1", NONE_GIVEN, odd);
    suite_text(db, "SELECT '?1 {x} it''s ON CONFLICT(a) DO NOTHING' FROM things WHERE id = ?1",
        GIVEN(NUMBER(2)), "?1 {x} it's ON CONFLICT(a) DO NOTHING");
    suite_text(db, "SELECT label FROM things WHERE id = 2", NONE_GIVEN, "second; statement");
}

static void pairs_fill(struct sql_connection *db, int count)
{
    suite_begin(db);
    for (int i = 0; i < count; i++)
        suite_do(db, put_pair, GIVEN(NUMBER(1), NUMBER(i), NUMBER(i * i)));
    suite_commit(db);
}

static void rows_come_one_by_one_to_the_last(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    struct sql_row *row;
    pairs_fill(db, 100);
    static const char list[] = "SELECT b, units, a FROM pairs WHERE b >= ?1 ORDER BY b";
    for (int from = 0; from <= 100; from += 50) {
        assert_int_equal(db->driver->query(db, list, GIVEN(NUMBER(from)), &row), STATUS_OK);
        for (int i = from; i < 100; i++) {
            assert_int_equal(db->driver->next(row), STATUS_OK);
            assert_int_equal(db->driver->number(row, 0), i);
            assert_int_equal(db->driver->number(row, 1), i * i);
            assert_int_equal(db->driver->number(row, 2), 1);
        }
        assert_int_equal(db->driver->next(row), STATUS_NOT_FOUND);
        db->driver->finish(row);
    }
}

static void cursor_may_be_finished_early_and_used_again(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    struct sql_row *row;
    pairs_fill(db, 100);
    static const char list[] = "SELECT b FROM pairs WHERE b >= ?1 ORDER BY b";
    for (int read = 0; read < 5; read++) {
        assert_int_equal(db->driver->query(db, list, GIVEN(NUMBER(read)), &row), STATUS_OK);
        for (int i = 0; i < read; i++) {
            assert_int_equal(db->driver->next(row), STATUS_OK);
            assert_int_equal(db->driver->number(row, 0), read + i);
        }
        db->driver->finish(row);
        suite_do(db, "UPDATE pairs SET units = units + 1 WHERE b = ?1", GIVEN(NUMBER(read)));
    }
}

static void cursors_of_two_texts_are_open_at_once(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    struct sql_row *up, *down;
    pairs_fill(db, 10);
    assert_int_equal(db->driver->query(db, "SELECT b FROM pairs ORDER BY b", NONE_GIVEN, &up), STATUS_OK);
    assert_int_equal(
        db->driver->query(db, "SELECT b FROM pairs ORDER BY b DESC", NONE_GIVEN, &down), STATUS_OK);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(db->driver->next(up), STATUS_OK);
        assert_int_equal(db->driver->next(down), STATUS_OK);
        assert_int_equal(db->driver->number(up, 0), i);
        assert_int_equal(db->driver->number(down, 0), 9 - i);
    }
    db->driver->finish(up);
    assert_int_equal(db->driver->next(down), STATUS_NOT_FOUND);
    db->driver->finish(down);
}

static void rows_are_read_while_others_are_written(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    struct sql_row *row;
    pairs_fill(db, 20);
    suite_begin(db);
    assert_int_equal(
        db->driver->query(db, "SELECT b FROM pairs WHERE a = 1 ORDER BY b", NONE_GIVEN, &row), STATUS_OK);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(db->driver->next(row), STATUS_OK);
        const int64_t b = db->driver->number(row, 0);
        assert_int_equal(b, i);
        suite_do(db, put_amount, GIVEN(NUMBER(b), NUMBER(-b)));
    }
    assert_int_equal(db->driver->next(row), STATUS_NOT_FOUND);
    db->driver->finish(row);
    suite_commit(db);
    assert_int_equal(suite_number(db, "SELECT sum(amount) FROM things", NONE_GIVEN), -190);
}

static void statement_without_rows_is_done_with_the_first_next(void **state)
{
    struct sql_connection *db = ((struct driver_case *)*state)->db;
    struct sql_row *row;
    assert_int_equal(db->driver->query(db, put_amount, GIVEN(NUMBER(1), NUMBER(2)), &row), STATUS_OK);
    assert_int_equal(db->driver->next(row), STATUS_NOT_FOUND);
    assert_int_equal(db->driver->matched(db), 1);
    db->driver->finish(row);
    assert_int_equal(suite_number(db, "SELECT amount FROM things WHERE id = 1", NONE_GIVEN), 2);
}

const struct CMUnitTest driver_suite_values[] = {
    SUITE_TEST(numbers_of_all_64_bits_come_back),
    SUITE_TEST(texts_come_back_byte_by_byte),
    SUITE_TEST(text_of_a_given_length_needs_no_zero_at_its_end),
    SUITE_TEST(texts_are_equal_when_their_bytes_are),
    SUITE_TEST(texts_are_ordered_by_their_bytes),
    SUITE_TEST(blobs_come_back_byte_by_byte),
    SUITE_TEST(long_texts_and_blobs_come_back),
    SUITE_TEST(null_is_zero_and_no_bytes),
    SUITE_TEST(sums_counts_and_answers_of_yes_or_no_are_exact),
    SUITE_TEST(sum_of_more_than_64_bits_is_an_error_and_no_number),
    SUITE_TEST(one_value_may_be_used_twice_and_in_any_order),
    SUITE_TEST(words_in_quotes_stay_as_they_are),
    SUITE_TEST(rows_come_one_by_one_to_the_last),
    SUITE_TEST(cursor_may_be_finished_early_and_used_again),
    SUITE_TEST(cursors_of_two_texts_are_open_at_once),
    SUITE_TEST(rows_are_read_while_others_are_written),
    SUITE_TEST(statement_without_rows_is_done_with_the_first_next),
};
const size_t driver_suite_values_count = sizeof driver_suite_values / sizeof *driver_suite_values;
