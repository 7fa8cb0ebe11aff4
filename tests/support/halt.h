/* SPDX-License-Identifier: Apache-2.0 */
/* tests/support/halt.h: stops another process until it gets SIGCONT. kill(pid, SIGSTOP) alone does not: the
 * signal goes to one thread, and until that one has had a core, the others work on.
 * Stops the test if it can't. */
#ifndef STAMPEDE_TESTS_SUPPORT_HALT_H
#define STAMPEDE_TESTS_SUPPORT_HALT_H

#include <sys/types.h>

void halt(pid_t pid); /* comes back when all threads stand still */

#endif
