/* SPDX-License-Identifier: Apache-2.0 */
/* server/serve.h: `stampede serve` and `stampede config`: settings from file, environment and
 * command line. */
#ifndef STAMPEDE_SERVER_SERVE_H
#define STAMPEDE_SERVER_SERVE_H

#include "config/config.h"

int serve_main(int argc, char **argv);
int config_main(int argc, char **argv);
/* For other commands with the same options. False: what is wrong was told on standard error. */
bool serve_settings_read(struct config *config, int argc, char **argv);
/* Prints the usage of a command with these options on standard output, if its last word is --help. */
bool serve_help(const char *usage, int argc, char **argv);
/* Takes one option of a command line. */
enum status serve_option_take(
    struct config *config, const char *option, const char *value, char error[CONFIG_ERROR]);

#endif
