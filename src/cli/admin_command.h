/* SPDX-License-Identifier: Apache-2.0 */
/* cli/admin_command.h: `stampede admin …`: the admin API from the command line (docs/cli.md).
 * The key comes from STAMPEDE_ADMIN_KEY or a file, never from an argument that other users of the
 * machine could see. Thread: one. */
#ifndef STAMPEDE_CLI_ADMIN_COMMAND_H
#define STAMPEDE_CLI_ADMIN_COMMAND_H

#include <stdio.h>

enum admin_cli_result {
    ADMIN_CLI_DONE = 0,
    ADMIN_CLI_REFUSED = 1, /* the server answered with a problem */
    ADMIN_CLI_USAGE = 2,
    ADMIN_CLI_NO_SERVER = 3, /* no connection, or no answer that makes sense */
};

int admin_cli_main(int argc, char **argv);
enum admin_cli_result admin_cli_run(int argc, char **argv, FILE *out, FILE *errors);

#endif
