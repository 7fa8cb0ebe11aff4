/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/base/unit.h: cmocka with the headers it forgets, and a way to test that bugs
 * stop the program. Include it after the header under test. */
#ifndef STAMPEDE_TESTS_UNIT_BASE_UNIT_H
#define STAMPEDE_TESTS_UNIT_BASE_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* True if `act` ends in SIGABRT, as a broken invariant does. It runs in a child. */
static inline bool unit_stops(void (*act)(void))
{
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL); /* cmocka catches it to report a failed test */
        int quiet = open("/dev/null", O_WRONLY);
        dup2(quiet, STDERR_FILENO);
        act();
        _exit(0);
    }
    int how = 0;
    return child > 0 && waitpid(child, &how, 0) == child && WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT;
}

#endif
