/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/admin_command.h"

#include "tests/unit/base/unit.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

/* A server of one thread that gives the prepared answers, one connection each, and keeps what it
 * was asked. */
enum { ANSWERS_MAX = 8, REQUEST_BYTES = 256 * 1024 };
struct server {
    int listener;
    unsigned port;
    pthread_t thread;
    uint32_t answers, asked;
    const char *status[ANSWERS_MAX], *body[ANSWERS_MAX];
    char request[ANSWERS_MAX][REQUEST_BYTES];
};
static struct server server;
static char out_text[16384], error_text[4096];

static void request_read(int fd, char *request)
{
    size_t size = 0, wanted = REQUEST_BYTES - 1;
    while (size < wanted) {
        const ssize_t got = read(fd, request + size, REQUEST_BYTES - 1 - size);
        if (got <= 0)
            break;
        size += (size_t)got;
        request[size] = 0;
        const char *end = strstr(request, "\r\n\r\n"), *length = strcasestr(request, "content-length:");
        if (end != NULL)
            wanted = (size_t)(end + 4 - request)
                + (length != NULL && length < end ? strtoul(length + 15, NULL, 10) : 0);
    }
}

static void *server_run(void *context)
{
    (void)context;
    for (uint32_t i = 0; i < server.answers; i++) {
        const int fd = accept(server.listener, NULL, NULL);
        if (fd < 0)
            break;
        request_read(fd, server.request[i]);
        server.asked++;
        char head[256];
        const int size = snprintf(head, sizeof head,
            "HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
            "Content-Length: %zu\r\nConnection: close\r\n\r\n",
            server.status[i], strlen(server.body[i]));
        assert_int_equal(write(fd, head, (size_t)size), size);
        assert_int_equal(write(fd, server.body[i], strlen(server.body[i])), strlen(server.body[i]));
        close(fd);
    }
    return NULL;
}

static int server_open(void **state)
{
    (void)state;
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server.listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(server.listener, 8), 0);
    assert_int_equal(getsockname(server.listener, (struct sockaddr *)&address, &size), 0);
    server.port = ntohs(address.sin_port);
    setenv("STAMPEDE_ADMIN_KEY", "sk_test", 1);
    return 0;
}

static int server_close(void **state)
{
    (void)state;
    return close(server.listener);
}

static void will_answer(const char *status, const char *body)
{
    server.status[server.answers] = status;
    server.body[server.answers++] = body;
}

/* Runs `line` (words without spaces inside) against the server. */
static enum admin_cli_result run(const char *line)
{
    char url[64], words[512];
    char *arguments[40] = { "admin", "--url", url };
    int count = 3;
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", server.port);
    snprintf(words, sizeof words, "%s", line);
    for (char *at = words, *word; (word = strsep(&at, " ")) != NULL;)
        arguments[count++] = word;
    memset(out_text, 0, sizeof out_text);
    memset(error_text, 0, sizeof error_text);
    FILE *out = fmemopen(out_text, sizeof out_text, "w"),
         *errors = fmemopen(error_text, sizeof error_text, "w");
    server.asked = 0;
    if (server.answers > 0)
        assert_int_equal(pthread_create(&server.thread, NULL, server_run, NULL), 0);
    const enum admin_cli_result result = admin_cli_run(count, arguments, out, errors);
    if (server.answers > 0)
        assert_int_equal(pthread_join(server.thread, NULL), 0);
    server.answers = 0;
    fclose(out);
    fclose(errors);
    return result;
}

#define assert_has(text, part) \
    do { \
        if (strstr((text), (part)) == NULL) \
            fail_msg("\"%s\" is not in:\n%s", (part), (text)); \
    } while (0)

static void a_sale_is_created_with_key_type_and_body(void **state)
{
    (void)state;
    will_answer("201 Created", "{\"id\":3,\"title\":\"Noon\"}");
    assert_int_equal(run("sale create --title Noon --start 2026-11-11T12:00:00Z --end "
                         "1794402000000 --eligible-only"),
        ADMIN_CLI_DONE);
    assert_has(server.request[0], "POST /admin/v1/sales HTTP/1.1\r\n");
    assert_has(server.request[0], "Authorization: Bearer sk_test\r\n");
    assert_has(server.request[0], "Content-Type: application/json\r\n");
    assert_has(server.request[0],
        "{\"title\":\"Noon\",\"start_ms\":1794398400000,"
        "\"end_ms\":1794402000000,\"eligible_only\":true}");
    assert_string_equal(out_text, "id: 3\ntitle: Noon\n");
}

static void a_gate_has_no_body_and_says_what_became_of_it(void **state)
{
    (void)state;
    will_answer("200 OK", "{\"sale\":2,\"changed\":true}");
    assert_int_equal(run("sale pause 2"), ADMIN_CLI_DONE);
    assert_has(server.request[0], "POST /admin/v1/sales/2/pause HTTP/1.1\r\n");
    assert_has(server.request[0], "Content-Length: 0\r\n");
    assert_string_equal(out_text, "sale: 2\nchanged: yes\n");
}

static void a_schedule_is_patched(void **state)
{
    (void)state;
    will_answer("200 OK", "{\"id\":2}");
    assert_int_equal(run("sale schedule 2 --end 1794402000000"), ADMIN_CLI_DONE);
    assert_has(server.request[0], "PATCH /admin/v1/sales/2 HTTP/1.1\r\n");
    assert_has(server.request[0], "{\"end_ms\":1794402000000}");
}

static void what_visitors_must_do_is_created_and_changed(void **state)
{
    (void)state;
    will_answer("201 Created", "{\"id\":2}");
    assert_int_equal(run("sale create --title T --start 1 --end 2 --human-check pow --waiting-room "
                         "--pass-once --drop 30 --pace 500"),
        ADMIN_CLI_DONE);
    assert_has(server.request[0],
        "\"human_check\":\"pow\",\"waiting_room\":true,\"pass_once\":true,\"drop_percent\":30,"
        "\"pace_per_s\":500}");
    will_answer("200 OK", "{\"id\":2}");
    assert_int_equal(
        run("sale change 2 --human-check none --waiting-room no --pass-once yes"), ADMIN_CLI_DONE);
    assert_has(server.request[0], "PATCH /admin/v1/sales/2 HTTP/1.1\r\n");
    assert_has(server.request[0], "{\"human_check\":\"none\",\"waiting_room\":false,\"pass_once\":true}");
    assert_int_equal(run("sale change 2 --waiting-room maybe"), ADMIN_CLI_USAGE);
    assert_has(error_text, "--waiting-room must be yes or no");
}

static void a_list_is_a_table_and_its_pages_are_one(void **state)
{
    (void)state;
    will_answer("200 OK",
        "{\"products\":[{\"id\":1,\"name\":\"Phone\",\"currency\":\"CNY\","
        "\"list_price\":499900}],\"next\":1}");
    will_answer("200 OK",
        "{\"products\":[{\"id\":12,\"name\":\"TV\",\"currency\":\"CNY\",\"list_price\":5}]}");
    assert_int_equal(run("product list"), ADMIN_CLI_DONE);
    assert_has(server.request[1], "GET /admin/v1/products?after=1 HTTP/1.1\r\n");
    assert_string_equal(out_text,
        "id  name   list_price  currency\n"
        " 1  Phone     4999.00  CNY\n"
        "12  TV           0.05  CNY\n");
}

static void json_gives_the_answer_as_it_is(void **state)
{
    (void)state;
    will_answer("200 OK", "{\"audit\":[]}");
    assert_int_equal(run("audit --json"), ADMIN_CLI_DONE);
    assert_string_equal(out_text, "{\"audit\":[]}\n");
}

static void one_sale_is_shown_with_its_items(void **state)
{
    (void)state;
    will_answer("200 OK", "{\"id\":4,\"title\":\"Noon\",\"start_ms\":1794398400000}");
    will_answer("200 OK", "{\"items\":[{\"id\":9,\"sale\":4,\"total\":100,\"preheated\":false}]}");
    assert_int_equal(run("sale show 4"), ADMIN_CLI_DONE);
    assert_has(server.request[1], "GET /admin/v1/items?sale=4 HTTP/1.1\r\n");
    assert_has(out_text, "start_ms: 2026-11-11T12:00:00.000Z\n");
    assert_has(out_text, "id  sale  total  preheated\n 9     4    100  no\n");
}

static void a_problem_is_one_sentence_and_exit_code_1(void **state)
{
    (void)state;
    will_answer("409 Conflict",
        "{\"type\":\"/problems/conflict\",\"title\":\"Conflict\",\"status\":409,"
        "\"detail\":\"It ended.\"}");
    assert_int_equal(run("sale open 1"), ADMIN_CLI_REFUSED);
    assert_string_equal(error_text, "stampede admin: Conflict: It ended. (409)\n");
    assert_string_equal(out_text, "");
    will_answer("502 Bad Gateway", "<html>");
    assert_int_equal(run("sale open 1"), ADMIN_CLI_REFUSED);
    assert_has(error_text, "answered 502");
}

static void something_that_is_not_stampede_is_told(void **state)
{
    (void)state;
    will_answer("200 OK", "<html>hello</html>");
    assert_int_equal(run("sale list"), ADMIN_CLI_NO_SERVER);
    assert_has(error_text, "does not answer like Stampede");
}

static void a_change_whose_answer_does_not_come_is_repeated_with_its_key(void **state)
{
    (void)state;
    static const char unknown[] = "{\"title\":\"Outcome unknown\",\"detail\":\"x\"}";
    will_answer("504 Gateway Timeout", unknown);
    will_answer("200 OK", "{\"item\":1,\"applied\":5}");
    assert_int_equal(run("item adjust 1 5"), ADMIN_CLI_DONE);
    assert_int_equal(server.asked, 2);
    const char *first = strstr(server.request[0], "Idempotency-Key: ");
    const char *second = strstr(server.request[1], "Idempotency-Key: ");
    assert_non_null(first);
    assert_non_null(second);
    assert_memory_equal(first, second, sizeof "Idempotency-Key: " - 1 + 32);
    will_answer("200 OK", "{\"item\":1,\"applied\":5}");
    assert_int_equal(run("item adjust 1 5"), ADMIN_CLI_DONE);
    assert_memory_not_equal(strstr(server.request[0], "Idempotency-Key: "), second, 48);
    for (int i = 0; i < 4; i++)
        will_answer("504 Gateway Timeout", unknown);
    assert_int_equal(run("item adjust 1 5"), ADMIN_CLI_REFUSED);
    assert_int_equal(server.asked, 4);
    assert_has(error_text, "may have been made; check before you repeat it");
    will_answer("200 OK", "{\"sales\":[]}");
    assert_int_equal(run("sale list"), ADMIN_CLI_DONE);
    assert_null(strstr(server.request[0], "Idempotency-Key"));
}

static void no_server_is_exit_code_3(void **state)
{
    (void)state;
    char *arguments[] = { "admin", "--url", "http://127.0.0.1:1", "audit", NULL };
    FILE *errors = fmemopen(error_text, sizeof error_text, "w");
    assert_int_equal(admin_cli_run(4, arguments, errors, errors), ADMIN_CLI_NO_SERVER);
    fclose(errors);
    assert_has(error_text, "http://127.0.0.1:1: ");
}

static void users_go_in_chunks_of_a_thousand_without_empty_lines(void **state)
{
    (void)state;
    char path[] = "/tmp/stampede-users-XXXXXX", line[128];
    FILE *file = fdopen(mkstemp(path), "w");
    for (int i = 0; i < 1001; i++)
        fprintf(file, "user-%d\r\n%s", i, i == 5 ? "\n" : "");
    fclose(file);
    will_answer("200 OK", "{\"sale\":7,\"users\":1000,\"loaded\":1000}");
    will_answer("200 OK", "{\"sale\":7,\"users\":1,\"loaded\":1}");
    snprintf(line, sizeof line, "sale users 7 %s", path);
    assert_int_equal(run(line), ADMIN_CLI_DONE);
    assert_has(server.request[0], "POST /admin/v1/sales/7/users HTTP/1.1\r\n");
    assert_has(server.request[0], "{\"users\":[\"user-0\",\"user-1\",");
    assert_has(server.request[0], "\"user-999\"]}");
    assert_has(server.request[1], "{\"users\":[\"user-1000\"]}");
    assert_string_equal(out_text, "1001 users loaded into sale 7\n");
    will_answer("403 Forbidden", "{\"title\":\"Not allowed\",\"detail\":\"No.\"}");
    assert_int_equal(run(line), ADMIN_CLI_REFUSED);
    unlink(path);
    assert_int_equal(run(line), ADMIN_CLI_USAGE);
}

static void the_key_comes_from_the_environment_or_a_file_never_from_an_argument(void **state)
{
    (void)state;
    char path[] = "/tmp/stampede-key-XXXXXX", line[128];
    FILE *file = fdopen(mkstemp(path), "w");
    fputs("sk_from_file\n", file);
    fclose(file);
    snprintf(line, sizeof line, "audit --key-file %s", path);
    will_answer("200 OK", "{\"audit\":[]}");
    assert_int_equal(run(line), ADMIN_CLI_DONE);
    assert_has(server.request[0], "Authorization: Bearer sk_from_file\r\n");
    unlink(path);
    assert_int_equal(run(line), ADMIN_CLI_USAGE);
    assert_int_equal(run("audit --key sk_x"), ADMIN_CLI_USAGE);
    assert_has(error_text, "STAMPEDE_ADMIN_KEY");
    unsetenv("STAMPEDE_ADMIN_KEY");
    assert_int_equal(run("audit"), ADMIN_CLI_USAGE);
    assert_has(error_text, "set STAMPEDE_ADMIN_KEY or use --key-file");
    setenv("STAMPEDE_ADMIN_KEY", "sk_test", 1);
}

static void wrong_words_are_exit_code_2_and_help_is_not(void **state)
{
    (void)state;
    assert_int_equal(run("sale fly 1"), ADMIN_CLI_USAGE);
    assert_has(error_text, "unknown verb '");
    assert_int_equal(run("sale open"), ADMIN_CLI_USAGE);
    assert_has(error_text, "sale open needs N");
    assert_int_equal(run("--help"), ADMIN_CLI_DONE);
    assert_has(out_text, "dead-letter list");
    assert_int_equal(run("item adjust --help"), ADMIN_CLI_DONE);
    assert_has(out_text, "usage: stampede admin item adjust N DELTA [--channel …]");
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
        cmocka_unit_test(a_problem_is_one_sentence_and_exit_code_1),
        cmocka_unit_test(something_that_is_not_stampede_is_told),
        cmocka_unit_test(a_change_whose_answer_does_not_come_is_repeated_with_its_key),
        cmocka_unit_test(no_server_is_exit_code_3),
        cmocka_unit_test(users_go_in_chunks_of_a_thousand_without_empty_lines),
        cmocka_unit_test(the_key_comes_from_the_environment_or_a_file_never_from_an_argument),
        cmocka_unit_test(wrong_words_are_exit_code_2_and_help_is_not),
    };
    return cmocka_run_group_tests(tests, server_open, server_close);
}
