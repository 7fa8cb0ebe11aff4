/* SPDX-License-Identifier: Apache-2.0 */
/* What a report of reconciliation says to people and to scripts. */
#include "cli/reconcile_command.h"

#include "tests/unit/base/unit.h"

#include <stdlib.h>
#include <string.h>

static char *text;

static enum admin_cli_result printed(const char *json, bool as_json)
{
    size_t size = 0;
    json_t *report = json_loads(json, 0, NULL);
    assert_non_null(report);
    free(text);
    FILE *out = open_memstream(&text, &size);
    const enum admin_cli_result result = reconcile_print(report, as_json, out);
    fclose(out);
    json_decref(report);
    return result;
}

static void a_clean_run_is_success(void **state)
{
    (void)state;
    assert_int_equal(printed("{\"state\":\"done\",\"found\":0,\"left\":0,\"orders\":12}", false),
        ADMIN_CLI_DONE);
    assert_non_null(strstr(text, "12 orders"));
    assert_non_null(strstr(text, "nothing found"));
    assert_null(strstr(text, "not compared"));
}

static void findings_that_are_left_are_no_success_and_repaired_ones_are(void **state)
{
    static const char left[] =
        "{\"state\":\"done\",\"found\":2,\"repaired\":1,\"left\":1,\"skipped\":3,\"findings\":["
        "{\"code\":\"sold-differs\",\"text\":\"item 1\",\"repaired\":true,\"repairable\":true},"
        "{\"code\":\"price-differs\",\"text\":\"order "
        "2\",\"repaired\":false,\"repairable\":false}]}";
    (void)state;
    assert_int_equal(printed(left, false), ADMIN_CLI_REFUSED);
    assert_non_null(strstr(text, "sold-differs: repaired\n  item 1\n"));
    assert_non_null(strstr(text, "price-differs: needs a person\n  order 2\n"));
    assert_non_null(strstr(text, "2 found, 1 repaired, 1 left"));
    assert_non_null(strstr(text, "3 not compared"));
    assert_int_equal(printed("{\"state\":\"done\",\"found\":1,\"repaired\":1,\"left\":0}", false),
        ADMIN_CLI_DONE);
    assert_int_equal(printed(left, true), ADMIN_CLI_REFUSED);
    assert_int_equal(text[0], '{');
}

static void a_run_that_failed_is_told_and_never_success(void **state)
{
    static const char failed[] =
        "{\"state\":\"failed\",\"trouble\":\"the database can't be read now\",\"left\":0}";
    (void)state;
    assert_int_equal(printed(failed, false), ADMIN_CLI_NO_SERVER);
    assert_string_equal(text, "reconciliation failed: the database can't be read now\n");
    assert_int_equal(printed(failed, true), ADMIN_CLI_NO_SERVER);
}

static void only_a_run_under_way_runs(void **state)
{
    (void)state;
    json_t *running = json_pack("{s:s}", "state", "running"),
           *done = json_pack("{s:s}", "state", "done");
    assert_true(reconcile_print_runs(running));
    assert_false(reconcile_print_runs(done));
    json_decref(running);
    json_decref(done);
}

static int group_end(void **state)
{
    (void)state;
    free(text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_run_is_success),
        cmocka_unit_test(findings_that_are_left_are_no_success_and_repaired_ones_are),
        cmocka_unit_test(a_run_that_failed_is_told_and_never_success),
        cmocka_unit_test(only_a_run_under_way_runs),
    };
    return cmocka_run_group_tests(tests, NULL, group_end);
}
