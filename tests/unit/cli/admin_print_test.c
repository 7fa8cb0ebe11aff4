/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/admin_parts.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static char text[8192];

static const char *printed(const char *json, const char *columns)
{
    json_t *answer = json_loads(json, 0, NULL);
    assert_non_null(answer);
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    admin_print(answer, columns, out);
    fclose(out);
    json_decref(answer);
    return text;
}

static void numbers_stand_right_and_words_left(void **state)
{
    (void)state;
    assert_string_equal(
        printed("{\"rows\":[{\"id\":1,\"name\":\"a\"},{\"id\":100,\"name\":\"long\"}]}", "id name"),
        " id  name\n  1  a\n100  long\n");
}

static void columns_that_no_row_has_are_left_out_and_missing_cells_are_dashes(void **state)
{
    (void)state;
    assert_string_equal(
        printed("[{\"a\":1},{\"b\":\"x\",\"a\":null}]", "a nothing b"), "a  b\n1  -\n-  x\n");
    assert_string_equal(printed("[{\"a\":1,\"b\":true}]", "none"), "a  b\n1  yes\n");
    assert_string_equal(printed("{\"rows\":[]}", "a"), "(none)\n");
}

static void a_path_reaches_into_a_row(void **state)
{
    (void)state;
    assert_string_equal(printed("[{\"view\":{\"state\":\"paid\"}}]", "view.state"), "state\npaid\n");
}

static void moments_are_readable_and_durations_stay_numbers(void **state)
{
    (void)state;
    assert_string_equal(printed("{\"start_ms\":1794398400250,\"pay_window_ms\":900000}", NULL),
        "start_ms: 2026-11-11T12:00:00.250Z\npay_window_ms: 900000\n");
}

static void what_is_inside_is_named_by_its_path(void **state)
{
    (void)state;
    assert_string_equal(printed("{\"item\":1,\"counts\":{\"free\":3,\"channels\":{\"web\":3}},"
                                "\"images\":[\"/a\"],\"none\":[]}",
                            NULL),
        "item: 1\ncounts.free: 3\ncounts.channels.web: 3\nimages:\n  /a\nnone: -\n");
}

static void wide_characters_keep_the_columns_straight(void **state)
{
    (void)state;
    assert_string_equal(printed("[{\"n\":\"手机\",\"p\":1},{\"n\":\"TV\",\"p\":2}]", "n p"),
        "n     p\n手机  1\nTV    2\n");
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    assert_string_equal(printed("{\"name\":\"a\\u001b[2Jb\"}", NULL), "name: a [2Jb\n");
}

static void a_problem_is_one_sentence_whatever_came(void **state)
{
    (void)state;
    json_t *problem = json_loads("{\"title\":\"Conflict\",\"detail\":\"It ended.\"}", 0, NULL);
    FILE *out = fmemopen(text, sizeof text, "w");
    admin_print_problem(409, problem, out);
    admin_print_problem(500, NULL, out);
    fclose(out);
    json_decref(problem);
    assert_string_equal(text,
        "stampede admin: Conflict: It ended. (409)\n"
        "stampede admin: the server answered 500 without saying why\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_stand_right_and_words_left),
        cmocka_unit_test(columns_that_no_row_has_are_left_out_and_missing_cells_are_dashes),
        cmocka_unit_test(a_path_reaches_into_a_row),
        cmocka_unit_test(moments_are_readable_and_durations_stay_numbers),
        cmocka_unit_test(what_is_inside_is_named_by_its_path),
        cmocka_unit_test(wide_characters_keep_the_columns_straight),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(a_problem_is_one_sentence_whatever_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
