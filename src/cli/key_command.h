/* SPDX-License-Identifier: Apache-2.0 */
/* cli/key_command.h: `stampede key new|password|list`: admin keys and passwords for the console. A new key is
 * shown once, on standard output; a password is read from the terminal or standard input, never from the
 * arguments. The file only keeps hashes (config/admin_keys.h reads it). Thread: one; two commands at once on
 * one file wait for each other. */
#ifndef STAMPEDE_CLI_KEY_COMMAND_H
#define STAMPEDE_CLI_KEY_COMMAND_H

#include <stdio.h>

enum { KEY_DONE = 0, KEY_FAILED = 1, KEY_USAGE = 2 };

int key_command_main(int argc, char **argv);
int key_command_run(int argc, char **argv, int in, FILE *out, FILE *errors);

#endif
