/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cli/cli_server.h"

#include "tests/unit/base/unit.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct cli_server cli_server;
char cli_out[CLI_OUT_BYTES], cli_errors[CLI_ERROR_BYTES];

static void request_read(int fd, char *request)
{
    size_t size = 0, wanted = CLI_REQUEST_BYTES - 1;
    while (size < wanted) {
        const ssize_t got = read(fd, request + size, CLI_REQUEST_BYTES - 1 - size);
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
    for (uint32_t i = 0; i < cli_server.answers; i++) {
        const int fd = accept(cli_server.listener, NULL, NULL);
        if (fd < 0)
            break;
        request_read(fd, cli_server.request[i]);
        cli_server.asked++;
        char head[256];
        const int size = snprintf(head, sizeof head,
            "HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
            "Content-Length: %zu\r\nConnection: close\r\n\r\n",
            cli_server.status[i], strlen(cli_server.body[i]));
        assert_int_equal(write(fd, head, (size_t)size), size);
        assert_int_equal(
            write(fd, cli_server.body[i], strlen(cli_server.body[i])), strlen(cli_server.body[i]));
        close(fd);
    }
    return NULL;
}

int cli_server_open(void **state)
{
    (void)state;
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    cli_server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(cli_server.listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(cli_server.listener, 8), 0);
    assert_int_equal(getsockname(cli_server.listener, (struct sockaddr *)&address, &size), 0);
    cli_server.port = ntohs(address.sin_port);
    setenv("STAMPEDE_ADMIN_KEY", "sk_test", 1);
    return 0;
}

int cli_server_close(void **state)
{
    (void)state;
    return close(cli_server.listener);
}

void cli_will_answer(const char *status, const char *body)
{
    cli_server.status[cli_server.answers] = status;
    cli_server.body[cli_server.answers++] = body;
}

/* Runs `line` (words without spaces inside) against the cli_server. */
enum admin_cli_result cli_run(const char *line)
{
    char url[64], words[512];
    char *arguments[40] = { "admin", "--url", url };
    int count = 3;
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", cli_server.port);
    snprintf(words, sizeof words, "%s", line);
    for (char *at = words, *word; (word = strsep(&at, " ")) != NULL;)
        arguments[count++] = word;
    memset(cli_out, 0, sizeof cli_out);
    memset(cli_errors, 0, sizeof cli_errors);
    FILE *out = fmemopen(cli_out, sizeof cli_out, "w"),
         *errors = fmemopen(cli_errors, sizeof cli_errors, "w");
    cli_server.asked = 0;
    if (cli_server.answers > 0)
        assert_int_equal(pthread_create(&cli_server.thread, NULL, server_run, NULL), 0);
    const enum admin_cli_result result = admin_cli_run(count, arguments, out, errors);
    if (cli_server.answers > 0)
        assert_int_equal(pthread_join(cli_server.thread, NULL), 0);
    cli_server.answers = 0;
    fclose(out);
    fclose(errors);
    return result;
}
