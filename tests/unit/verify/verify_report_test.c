/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/verify.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/verify/verify_folder.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static void the_json_report_parses_and_says_the_same(void **state)
{
    (void)state;
    int result;
    const char *text =
        folder_verify(sold_folder.path, "user-3", 0, FOLDER_START_MS + 300, true, &result);
    json_error_t error;
    json_t *report = json_loads(text, 0, &error);
    assert_non_null(report);
    assert_string_equal(json_string_value(json_object_get(report, "result")), "verified");
    assert_int_equal(json_integer_value(json_object_get(report, "records")), 16);
    assert_int_equal(json_array_size(json_object_get(report, "items")), 2);
    const json_t *at = json_object_get(report, "at");
    assert_int_equal(json_integer_value(json_object_get(at, "position")), 7);
    const json_t *item = json_array_get(json_object_get(at, "items"), 0);
    assert_int_equal(json_integer_value(json_object_get(item, "free")), 6);
    const json_t *user = json_object_get(report, "user");
    assert_true(json_is_true(json_object_get(user, "won")));
    const json_t *won = json_array_get(json_object_get(user, "records"), 0);
    assert_int_equal(json_integer_value(json_object_get(won, "free_before")), 7);
    assert_int_equal(json_integer_value(json_object_get(won, "ahead_in_second")), 3);
    assert_int_equal(json_array_size(json_object_get(report, "checks")), 15);
    json_decref(report);
}

static void the_json_report_of_damage_names_the_place(void **state)
{
    (void)state;
    int result;
    folder_flip(&sold_folder, "journal/segment-0000000000000001", 4096 * 5 + 90);
    const char *text = folder_verify(sold_folder.path, NULL, 0, 0, true, &result);
    json_t *report = json_loads(text, 0, NULL);
    assert_non_null(report);
    assert_string_equal(json_string_value(json_object_get(report, "result")), "damaged");
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(report, "damage"), "byte")), 20480);
    json_decref(report);
    text = folder_verify("/tmp/stampede-no-such", NULL, 0, 0, true, &result);
    report = json_loads(text, 0, NULL);
    assert_non_null(report);
    json_decref(report);
}

static void a_failed_check_is_marked_and_ends_the_report(void **state)
{
    (void)state;
    folder_sql(&sold_folder, "DELETE FROM orders WHERE ticket IN (5, 6)");
    const char *text = sold_verified(VERIFY_FAILED);
    assert_says(text, "  FAILED  each ticket has its order, each order its ticket (I5): ticket ");
    assert_says(text, "2 such failures");
    assert_says(text, "\nFAILED: each ticket has its order");
}

static void quiet_says_one_line(void **state)
{
    (void)state;
    char line[512] = "";
    const struct verify_options options = { .folder = sold_folder.path, .quiet = true };
    FILE *out = fmemopen(line, sizeof line, "w");
    assert_non_null(out);
    assert_int_equal(verify_run(&options, out), VERIFY_HOLDS);
    fclose(out);
    assert_string_equal(line, "verified: 16 records, 11 tickets, all checks hold\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_json_report_parses_and_says_the_same, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(the_json_report_of_damage_names_the_place, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(
            a_failed_check_is_marked_and_ends_the_report, sold_make, sold_remove),
        cmocka_unit_test_setup_teardown(quiet_says_one_line, sold_make, sold_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
