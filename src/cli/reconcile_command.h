/* SPDX-License-Identifier: Apache-2.0 */
/* cli/reconcile_command.h: `stampede reconcile …`: asks a running server to reconcile and shows what
 * it found (docs/reconcile.md). Address and key as for `stampede admin`. Thread: one. */
#ifndef STAMPEDE_CLI_RECONCILE_COMMAND_H
#define STAMPEDE_CLI_RECONCILE_COMMAND_H

#include "cli/admin_command.h"

#include <jansson.h>
#include <stdbool.h>

/* 0: nothing is left; 1: findings are left; 2: it could not run. */
int reconcile_main(int argc, char **argv);

bool reconcile_print_runs(const json_t *report); /* it is not over */
/* ADMIN_CLI_REFUSED: findings are left; ADMIN_CLI_NO_SERVER: the run failed. */
enum admin_cli_result reconcile_print(const json_t *report, bool json, FILE *out);

#endif
