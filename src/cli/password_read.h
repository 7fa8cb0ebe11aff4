/* SPDX-License-Identifier: Apache-2.0 */
/* cli/password_read.h: a new password, from a terminal that does not show it and asks twice, or as the first
 * line of a pipe or file. Thread: one. */
#ifndef STAMPEDE_CLI_PASSWORD_READ_H
#define STAMPEDE_CLI_PASSWORD_READ_H

#include "base/password.h"

#include <stdio.h>

/* NULL: `size` bytes of it are in `password`; else why not. The caller wipes it. `prompts`: where a terminal
 * is asked. */
const char *password_read(int in, FILE *prompts, char password[PASSWORD_BYTES_MAX], size_t *size);

#endif
