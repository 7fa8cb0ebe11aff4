/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv.h"

#include "tests/unit/base/unit.h"

#include <string.h>

enum { CELL = 8, CELLS = 3 };

static void written(const char *cell, const char *wanted)
{
    char bytes[64];
    struct text text = text_in(bytes, sizeof bytes - 1);
    csv_cell(&text, span_from_string(cell));
    bytes[text.size] = 0;
    assert_string_equal(bytes, wanted);
}

static void no_cell_is_a_formula(void **state)
{
    (void)state;
    written("=1+1", "'=1+1");
    written("+49 30", "'+49 30");
    written("-5", "'-5");
    written("@SUM", "'@SUM");
    written("\tx", "'\tx");
    written("a=b", "a=b");
    written("", "");
    written("=\"a\"", "\"'=\"\"a\"\"\"");
}

static void quotes_stand_where_they_are_needed(void **state)
{
    (void)state;
    written("plain", "plain");
    written("a,b", "\"a,b\"");
    written("a\nb", "\"a\nb\"");
    written("say \"hi\"", "\"say \"\"hi\"\"\"");
    written(" x", "\" x\"");
}

static void records_are_read_strictly(void **state)
{
    static const char file[] =
        "a,b,c\r\n\"x,\"\"y\",,\n\"open,1,2\nd,e,f,g\nlonglonglong,1,2\nq\"r,1,2\n1,2";
    struct span rest = SPAN(file);
    char cells[CELLS][CELL];
    uint32_t count = 0;
    uint64_t line = 1;
    (void)state;
    assert_int_equal(csv_record(&rest, cells[0], CELL, CELLS, &count, &line), STATUS_OK);
    assert_int_equal(count, 3);
    assert_string_equal(cells[2], "c");
    assert_int_equal(line, 2);
    assert_int_equal(csv_record(&rest, cells[0], CELL, CELLS, &count, &line), STATUS_OK);
    assert_string_equal(cells[0], "x,\"y");
    assert_string_equal(cells[2], "");
    for (uint64_t bad = 3; bad <= 6; bad++) { /* an open quote takes only its own line */
        assert_int_equal(line, bad);
        assert_int_equal(csv_record(&rest, cells[0], CELL, CELLS, &count, &line), STATUS_BAD_INPUT);
    }
    assert_int_equal(line, 7);
    assert_int_equal(csv_record(&rest, cells[0], CELL, CELLS, &count, &line), STATUS_OK);
    assert_int_equal(count, 2);
    assert_int_equal(csv_record(&rest, cells[0], CELL, CELLS, &count, &line), STATUS_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_cell_is_a_formula),
        cmocka_unit_test(quotes_stand_where_they_are_needed),
        cmocka_unit_test(records_are_read_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
