/* SPDX-License-Identifier: Apache-2.0 */
/* cli/key_command.h: `stampede key new|list`: admin keys. The key is shown once, on standard
 * output; its file only keeps `name:role:sha256` (config/admin_keys.h reads it). Thread: one; two
 * commands at once on one file wait for each other. */
#ifndef STAMPEDE_CLI_KEY_COMMAND_H
#define STAMPEDE_CLI_KEY_COMMAND_H

#include <stdio.h>

enum { KEY_DONE = 0, KEY_FAILED = 1, KEY_USAGE = 2 };

int key_command_main(int argc, char **argv);
int key_command_run(int argc, char **argv, FILE *out, FILE *errors);

#endif
