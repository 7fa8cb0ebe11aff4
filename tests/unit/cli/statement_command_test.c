/* SPDX-License-Identifier: Apache-2.0 */
/* A provider's statement on its way to the server: read whole before anything is sent, sent in
 * parts, and all pages of what is missing asked for. The server is a function of the test. */
#include "cli/statement_command.h"

#include "tests/unit/base/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 250, PARTS = 3 };

static struct {
    uint32_t parts, rows, firsts, pages_asked, pages;
    int difference_at; /* in this part the server finds a difference; 0: in none */
    enum admin_cli_result answer;
    char paths[16][256];
} server;
static char *out_text, *error_text;

static enum admin_cli_result ask(
    void *context, const char *method, const char *path, const json_t *body, json_t **answer)
{
    (void)context;
    if (server.answer != ADMIN_CLI_DONE)
        return server.answer;
    if (strcmp(method, "POST") == 0) {
        const size_t rows = json_array_size(json_object_get(body, "rows"));
        server.parts++;
        server.rows += (uint32_t)rows;
        server.firsts += json_is_true(json_object_get(body, "first"));
        *answer = json_pack("{s:I, s:I, s:I, s:[]}", "agree", (json_int_t)rows, "of_others",
            (json_int_t)0, "asked", (json_int_t)0, "differences");
        if (server.difference_at == (int)server.parts)
            json_array_append_new(json_object_get(*answer, "differences"),
                json_pack("{s:s}", "difference", "other-amount"));
        return ADMIN_CLI_DONE;
    }
    snprintf(server.paths[server.pages_asked % 16], sizeof server.paths[0], "%s", path);
    server.pages_asked++;
    const bool more = server.pages_asked < server.pages;
    *answer = json_pack("{s:[{s:s}], s:I}", "missing", "difference", "missing-there", "next",
        (json_int_t)(more ? 7 : 0));
    if (server.pages == 0)
        json_array_clear(json_object_get(*answer, "missing"));
    return ADMIN_CLI_DONE;
}

/* `rows` lines of Stripe's export; `bad`: the last one can't be read. */
static enum admin_cli_result import(uint32_t rows, bool bad, const char *provider)
{
    char path[] = "/tmp/stampede-statement-XXXXXX";
    const int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    fprintf(file, "Type,Amount,Currency,Created (UTC),reference (metadata)\n");
    for (uint32_t i = 0; i < rows; i++)
        fprintf(file, "charge,%s,usd,2026-11-15 12:30,%016x-1\n",
            bad && i + 1 == rows ? "x" : "1.00", i + 1);
    fclose(file);
    size_t out_size = 0, error_size = 0;
    free(out_text);
    free(error_text);
    struct statement_cli cli = { .ask = ask,
        .out = open_memstream(&out_text, &out_size),
        .errors = open_memstream(&error_text, &error_size) };
    json_t *options = json_pack("{s:s}", "provider", provider);
    const enum admin_cli_result result = statement_cli_run(&cli, path, options);
    json_decref(options);
    fclose(cli.out);
    fclose(cli.errors);
    unlink(path);
    return result;
}

static int fresh(void **state)
{
    (void)state;
    memset(&server, 0, sizeof server);
    return 0;
}

static void every_row_is_sent_in_parts_and_only_the_first_is_the_first(void **state)
{
    (void)state;
    assert_int_equal(import(ROWS, false, "stripe"), ADMIN_CLI_DONE);
    assert_int_equal(server.parts, PARTS);
    assert_int_equal(server.rows, ROWS);
    assert_int_equal(server.firsts, 1);
    assert_non_null(strstr(out_text, "250 rows: 250 agree"));
}

static void a_file_that_is_not_understood_to_its_end_imports_nothing(void **state)
{
    (void)state;
    assert_int_equal(import(ROWS, true, "stripe"), ADMIN_CLI_USAGE);
    assert_int_equal(server.parts, 0);
    assert_non_null(strstr(error_text, "line 251"));
    assert_non_null(strstr(error_text, "nothing was imported"));
    assert_int_equal(import(1, false, "cowries"), ADMIN_CLI_USAGE);
    assert_int_equal(server.parts, 0);
}

static void a_difference_in_any_part_is_no_success(void **state)
{
    (void)state;
    server.difference_at = PARTS;
    assert_int_equal(import(ROWS, false, "stripe"), ADMIN_CLI_REFUSED);
    assert_non_null(strstr(out_text, "other-amount"));
    assert_non_null(strstr(out_text, "1 differences"));
}

static void all_pages_of_what_is_missing_are_asked_for(void **state)
{
    (void)state;
    server.pages = 3;
    assert_int_equal(import(1, false, "stripe"), ADMIN_CLI_REFUSED);
    assert_int_equal(server.pages_asked, 3 + 1); /* payments, and refunds on one page */
    assert_non_null(strstr(server.paths[0], "of=payments"));
    assert_non_null(strstr(server.paths[0], "after=0"));
    assert_non_null(strstr(server.paths[1], "after=7"));
    assert_non_null(strstr(server.paths[3], "of=refunds"));
    assert_non_null(strstr(out_text, "4 differences"));
}

static void a_server_that_refuses_ends_the_import(void **state)
{
    (void)state;
    server.answer = ADMIN_CLI_NO_SERVER;
    assert_int_equal(import(ROWS, false, "stripe"), ADMIN_CLI_NO_SERVER);
    assert_string_equal(out_text, "");
}

static int group_end(void **state)
{
    (void)state;
    free(out_text);
    free(error_text);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_row_is_sent_in_parts_and_only_the_first_is_the_first, fresh),
        cmocka_unit_test_setup(a_file_that_is_not_understood_to_its_end_imports_nothing, fresh),
        cmocka_unit_test_setup(a_difference_in_any_part_is_no_success, fresh),
        cmocka_unit_test_setup(all_pages_of_what_is_missing_are_asked_for, fresh),
        cmocka_unit_test_setup(a_server_that_refuses_ends_the_import, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, group_end);
}
