/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/cli/cli_server.h: runs `stampede admin` against a server that gives prepared answers. */
#ifndef STAMPEDE_TESTS_CLI_SERVER_H
#define STAMPEDE_TESTS_CLI_SERVER_H

#include "cli/admin_command.h"

#include <pthread.h>
#include <stdint.h>

/* A server of one thread that gives the prepared answers, one connection each, and keeps what it
 * was asked. */
enum {
    CLI_ANSWERS_MAX = 8,
    CLI_REQUEST_BYTES = 256 * 1024,
    CLI_OUT_BYTES = 16384,
    CLI_ERROR_BYTES = 4096
};
struct cli_server {
    int listener;
    unsigned port;
    pthread_t thread;
    uint32_t answers, asked;
    const char *status[CLI_ANSWERS_MAX], *body[CLI_ANSWERS_MAX];
    char request[CLI_ANSWERS_MAX][CLI_REQUEST_BYTES];
};
extern struct cli_server cli_server;
extern char cli_out[CLI_OUT_BYTES], cli_errors[CLI_ERROR_BYTES];

/* For cmocka's group; the key is sk_test. */
int cli_server_open(void **state);
int cli_server_close(void **state);
void cli_will_answer(const char *status, const char *body);
/* Runs `line` (words without spaces inside) against the server. */
enum admin_cli_result cli_run(const char *line);

#define assert_has(text, part) \
    do { \
        if (strstr((text), (part)) == NULL) \
            fail_msg("\"%s\" is not in:\n%s", (part), (text)); \
    } while (0)

#endif
