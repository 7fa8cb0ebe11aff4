/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/admin_command.h"

#include "tests/unit/base/unit.h"
#include "tests/unit/cli/cli_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void a_sale_is_created_with_key_type_and_body(void **state)
{
    (void)state;
    cli_will_answer("201 Created", "{\"id\":3,\"title\":\"Noon\"}");
    assert_int_equal(cli_run("sale create --title Noon --start 2026-11-11T12:00:00Z --end "
                             "1794402000000 --eligible-only"),
        ADMIN_CLI_DONE);
    assert_has(cli_server.request[0], "POST /admin/v1/sales HTTP/1.1\r\n");
    assert_has(cli_server.request[0], "Authorization: Bearer sk_test\r\n");
    assert_has(cli_server.request[0], "Content-Type: application/json\r\n");
    assert_has(cli_server.request[0],
        "{\"title\":\"Noon\",\"start_ms\":1794398400000,"
        "\"end_ms\":1794402000000,\"eligible_only\":true}");
    assert_string_equal(cli_out, "id: 3\ntitle: Noon\n");
}

static void a_gate_has_no_body_and_says_what_became_of_it(void **state)
{
    (void)state;
    cli_will_answer("200 OK", "{\"sale\":2,\"changed\":true}");
    assert_int_equal(cli_run("sale pause 2"), ADMIN_CLI_DONE);
    assert_has(cli_server.request[0], "POST /admin/v1/sales/2/pause HTTP/1.1\r\n");
    assert_has(cli_server.request[0], "Content-Length: 0\r\n");
    assert_string_equal(cli_out, "sale: 2\nchanged: yes\n");
}

static void a_schedule_is_patched(void **state)
{
    (void)state;
    cli_will_answer("200 OK", "{\"id\":2}");
    assert_int_equal(cli_run("sale schedule 2 --end 1794402000000"), ADMIN_CLI_DONE);
    assert_has(cli_server.request[0], "PATCH /admin/v1/sales/2 HTTP/1.1\r\n");
    assert_has(cli_server.request[0], "{\"end_ms\":1794402000000}");
}

static void what_visitors_must_do_is_created_and_changed(void **state)
{
    (void)state;
    cli_will_answer("201 Created", "{\"id\":2}");
    assert_int_equal(
        cli_run("sale create --title T --start 1 --end 2 --human-check pow --waiting-room "
                "--pass-once --drop 30 --pace 500 --shards 4"),
        ADMIN_CLI_DONE);
    assert_has(cli_server.request[0],
        "\"human_check\":\"pow\",\"waiting_room\":true,\"pass_once\":true,\"drop_percent\":30,"
        "\"pace_per_s\":500,\"shards\":4}");
    cli_will_answer("200 OK", "{\"id\":2}");
    assert_int_equal(
        cli_run("sale change 2 --human-check none --waiting-room no --pass-once yes --shards 32"),
        ADMIN_CLI_DONE);
    assert_has(cli_server.request[0], "PATCH /admin/v1/sales/2 HTTP/1.1\r\n");
    assert_has(cli_server.request[0],
        "{\"human_check\":\"none\",\"waiting_room\":false,\"pass_once\":true,\"shards\":32}");
    assert_int_equal(cli_run("sale change 2 --waiting-room maybe"), ADMIN_CLI_USAGE);
    assert_has(cli_errors, "--waiting-room must be yes or no");
}

static void a_list_is_a_table_and_its_pages_are_one(void **state)
{
    (void)state;
    cli_will_answer("200 OK",
        "{\"products\":[{\"id\":1,\"name\":\"Phone\",\"currency\":\"CNY\","
        "\"list_price\":499900}],\"next\":1}");
    cli_will_answer("200 OK",
        "{\"products\":[{\"id\":12,\"name\":\"TV\",\"currency\":\"CNY\",\"list_price\":5}]}");
    assert_int_equal(cli_run("product list"), ADMIN_CLI_DONE);
    assert_has(cli_server.request[1], "GET /admin/v1/products?after=1 HTTP/1.1\r\n");
    assert_string_equal(cli_out,
        "id  name   list_price  currency\n"
        " 1  Phone     4999.00  CNY\n"
        "12  TV           0.05  CNY\n");
}

static void json_gives_the_answer_as_it_is(void **state)
{
    (void)state;
    cli_will_answer("200 OK", "{\"audit\":[]}");
    assert_int_equal(cli_run("audit --json"), ADMIN_CLI_DONE);
    assert_string_equal(cli_out, "{\"audit\":[]}\n");
}

static void one_sale_is_shown_with_its_items(void **state)
{
    (void)state;
    cli_will_answer("200 OK", "{\"id\":4,\"title\":\"Noon\",\"start_ms\":1794398400000}");
    cli_will_answer("200 OK", "{\"items\":[{\"id\":9,\"sale\":4,\"total\":100,\"preheated\":false}]}");
    assert_int_equal(cli_run("sale show 4"), ADMIN_CLI_DONE);
    assert_has(cli_server.request[1], "GET /admin/v1/items?sale=4 HTTP/1.1\r\n");
    assert_has(cli_out, "start_ms: 2026-11-11T12:00:00.000Z\n");
    assert_has(cli_out, "id  sale  total  preheated\n 9     4    100  no\n");
}

static void users_go_in_chunks_of_a_thousand_without_empty_lines(void **state)
{
    (void)state;
    char path[] = "/tmp/stampede-users-XXXXXX", line[128];
    FILE *file = fdopen(mkstemp(path), "w");
    for (int i = 0; i < 1001; i++)
        fprintf(file, "user-%d\r\n%s", i, i == 5 ? "\n" : "");
    fclose(file);
    cli_will_answer("200 OK", "{\"sale\":7,\"users\":1000,\"loaded\":1000}");
    cli_will_answer("200 OK", "{\"sale\":7,\"users\":1,\"loaded\":1}");
    snprintf(line, sizeof line, "sale users 7 %s", path);
    assert_int_equal(cli_run(line), ADMIN_CLI_DONE);
    assert_has(cli_server.request[0], "POST /admin/v1/sales/7/users HTTP/1.1\r\n");
    assert_has(cli_server.request[0], "{\"users\":[\"user-0\",\"user-1\",");
    assert_has(cli_server.request[0], "\"user-999\"]}");
    assert_has(cli_server.request[1], "{\"users\":[\"user-1000\"]}");
    assert_string_equal(cli_out, "1001 users loaded into sale 7\n");
    cli_will_answer("403 Forbidden", "{\"title\":\"Not allowed\",\"detail\":\"No.\"}");
    assert_int_equal(cli_run(line), ADMIN_CLI_REFUSED);
    unlink(path);
    assert_int_equal(cli_run(line), ADMIN_CLI_USAGE);
}

static void wrong_words_are_exit_code_2_and_help_is_not(void **state)
{
    (void)state;
    assert_int_equal(cli_run("sale fly 1"), ADMIN_CLI_USAGE);
    assert_has(cli_errors, "unknown verb '");
    assert_int_equal(cli_run("sale open"), ADMIN_CLI_USAGE);
    assert_has(cli_errors, "sale open needs N");
    assert_int_equal(cli_run("--help"), ADMIN_CLI_DONE);
    assert_has(cli_out, "dead-letter list");
    assert_int_equal(cli_run("item adjust --help"), ADMIN_CLI_DONE);
    assert_has(cli_out, "usage: stampede admin item adjust N DELTA [--channel …]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sale_is_created_with_key_type_and_body),
        cmocka_unit_test(a_gate_has_no_body_and_says_what_became_of_it),
        cmocka_unit_test(a_schedule_is_patched),
        cmocka_unit_test(what_visitors_must_do_is_created_and_changed),
        cmocka_unit_test(a_list_is_a_table_and_its_pages_are_one),
        cmocka_unit_test(json_gives_the_answer_as_it_is),
        cmocka_unit_test(one_sale_is_shown_with_its_items),
        cmocka_unit_test(users_go_in_chunks_of_a_thousand_without_empty_lines),
        cmocka_unit_test(wrong_words_are_exit_code_2_and_help_is_not),
    };
    return cmocka_run_group_tests(tests, cli_server_open, cli_server_close);
}
