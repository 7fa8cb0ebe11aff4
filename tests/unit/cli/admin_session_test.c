/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cli/admin_session_test.c: a request carries its key, is repeated only when that is safe, and
 * whatever comes back is told. */
#include "cli/admin_session.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/cli/cli_server.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void a_problem_is_one_sentence_and_exit_code_1(void **state)
{
    (void)state;
    cli_will_answer("409 Conflict",
        "{\"type\":\"/problems/conflict\",\"title\":\"Conflict\",\"status\":409,"
        "\"detail\":\"It ended.\"}");
    assert_int_equal(cli_run("sale open 1"), ADMIN_CLI_REFUSED);
    assert_string_equal(cli_errors, "stampede admin: Conflict: It ended. (409)\n");
    assert_string_equal(cli_out, "");
    cli_will_answer("502 Bad Gateway", "<html>");
    assert_int_equal(cli_run("sale open 1"), ADMIN_CLI_REFUSED);
    assert_has(cli_errors, "answered 502");
}

static void something_that_is_not_stampede_is_told(void **state)
{
    (void)state;
    cli_will_answer("200 OK", "<html>hello</html>");
    assert_int_equal(cli_run("sale list"), ADMIN_CLI_NO_SERVER);
    assert_has(cli_errors, "does not answer like Stampede");
}

static void a_change_whose_answer_does_not_come_is_repeated_with_its_key(void **state)
{
    (void)state;
    static const char unknown[] = "{\"title\":\"Outcome unknown\",\"detail\":\"x\"}";
    cli_will_answer("504 Gateway Timeout", unknown);
    cli_will_answer("200 OK", "{\"item\":1,\"applied\":5}");
    assert_int_equal(cli_run("item adjust 1 5"), ADMIN_CLI_DONE);
    assert_int_equal(cli_server.asked, 2);
    const char *first = strstr(cli_server.request[0], "Idempotency-Key: ");
    const char *second = strstr(cli_server.request[1], "Idempotency-Key: ");
    assert_non_null(first);
    assert_non_null(second);
    assert_memory_equal(first, second, sizeof "Idempotency-Key: " - 1 + 32);
    cli_will_answer("200 OK", "{\"item\":1,\"applied\":5}");
    assert_int_equal(cli_run("item adjust 1 5"), ADMIN_CLI_DONE);
    assert_memory_not_equal(strstr(cli_server.request[0], "Idempotency-Key: "), second, 48);
    for (int i = 0; i < 4; i++)
        cli_will_answer("504 Gateway Timeout", unknown);
    assert_int_equal(cli_run("item adjust 1 5"), ADMIN_CLI_REFUSED);
    assert_int_equal(cli_server.asked, 4);
    assert_has(cli_errors, "may have been made; check before you repeat it");
    cli_will_answer("200 OK", "{\"sales\":[]}");
    assert_int_equal(cli_run("sale list"), ADMIN_CLI_DONE);
    assert_null(strstr(cli_server.request[0], "Idempotency-Key"));
}

static void no_server_is_exit_code_3(void **state)
{
    (void)state;
    char *arguments[] = { "admin", "--url", "http://127.0.0.1:1", "audit", NULL };
    FILE *errors = fmemopen(cli_errors, sizeof cli_errors, "w");
    assert_int_equal(admin_cli_run(4, arguments, errors, errors), ADMIN_CLI_NO_SERVER);
    fclose(errors);
    assert_has(cli_errors, "http://127.0.0.1:1: ");
}

static void the_key_comes_from_the_environment_or_a_file_never_from_an_argument(void **state)
{
    (void)state;
    char path[] = "/tmp/stampede-key-XXXXXX", line[128];
    FILE *file = fdopen(mkstemp(path), "w");
    fputs("sk_from_file\n", file);
    fclose(file);
    snprintf(line, sizeof line, "audit --key-file %s", path);
    cli_will_answer("200 OK", "{\"audit\":[]}");
    assert_int_equal(cli_run(line), ADMIN_CLI_DONE);
    assert_has(cli_server.request[0], "Authorization: Bearer sk_from_file\r\n");
    unlink(path);
    assert_int_equal(cli_run(line), ADMIN_CLI_USAGE);
    assert_int_equal(cli_run("audit --key sk_x"), ADMIN_CLI_USAGE);
    assert_has(cli_errors, "STAMPEDE_ADMIN_KEY");
    unsetenv("STAMPEDE_ADMIN_KEY");
    assert_int_equal(cli_run("audit"), ADMIN_CLI_USAGE);
    assert_has(cli_errors, "set STAMPEDE_ADMIN_KEY or use --key-file");
    setenv("STAMPEDE_ADMIN_KEY", "sk_test", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_is_one_sentence_and_exit_code_1),
        cmocka_unit_test(something_that_is_not_stampede_is_told),
        cmocka_unit_test(a_change_whose_answer_does_not_come_is_repeated_with_its_key),
        cmocka_unit_test(no_server_is_exit_code_3),
        cmocka_unit_test(the_key_comes_from_the_environment_or_a_file_never_from_an_argument),
    };
    return cmocka_run_group_tests(tests, cli_server_open, cli_server_close);
}
