/* SPDX-License-Identifier: Apache-2.0 */
/* cli/statement_command.h: `stampede admin statement import FILE --provider NAME`: reads the provider's
 * file here (payment/statement.h), has the server compare it part by part, asks what is missing there,
 * and prints the differences. Thread: one. */
#ifndef STAMPEDE_CLI_STATEMENT_COMMAND_H
#define STAMPEDE_CLI_STATEMENT_COMMAND_H

#include "cli/admin_command.h"

#include <jansson.h>
#include <stdbool.h>

struct statement_cli {
    /* Asks the server. ADMIN_CLI_DONE: the caller frees *answer. Otherwise it was told why not. */
    enum admin_cli_result (*ask)(
        void *context, const char *method, const char *path, const json_t *body, json_t **answer);
    void *context;
    bool json;
    FILE *out, *errors;
};

/* `options`: provider, and from_ms and to_ms if they were given. ADMIN_CLI_REFUSED also: there are
 * differences. */
enum admin_cli_result statement_cli_run(
    const struct statement_cli *cli, const char *path, const json_t *options);

#endif
