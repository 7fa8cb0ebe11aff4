/* SPDX-License-Identifier: Apache-2.0 */
/* base/spawn.h: this program again, as a child in a group of its own (a Ctrl-C is the server's to handle),
 * with nothing open but `in`, `out` and standard error, and with no signal blocked.
 * Thread: any. Errors: an errno, 0: it runs. */
#ifndef STAMPEDE_BASE_SPAWN_H
#define STAMPEDE_BASE_SPAWN_H

#include "base/status.h"

#include <sys/types.h>

MUST_CHECK int spawn_self(pid_t *pid, char *const argv[], char *const environment[], int in, int out);

#endif
