/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spawn.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { DESCRIPTORS_LOOKED_AT = 64 };

/* The child's side: says what it sees, then repeats its input. */
static int child_main(char *word, char **environment)
{
    char line[64];
    sigset_t blocked;
    int open = 0, size = 0;
    for (int fd = STDERR_FILENO + 1; fd < DESCRIPTORS_LOOKED_AT; fd++)
        open += fcntl(fd, F_GETFD) >= 0;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    size = snprintf(line, sizeof line, "%s %d %d %d %d ", word, open,
        sigismember(&blocked, SIGTERM), getpgrp() == getpid(), environment[0] == NULL);
    if (write(STDOUT_FILENO, line, (size_t)size) != size)
        return 1;
    const ssize_t bytes = read(STDIN_FILENO, line, sizeof line);
    return bytes > 0 && write(STDOUT_FILENO, line, (size_t)bytes) == bytes ? 7 : 1;
}

static void a_child_has_its_words_its_files_and_nothing_else(void **state)
{
    (void)state;
    char *const argv[] = { "test", "child", NULL };
    char *const environment[] = { NULL };
    const int in = memfd_create("in", 0), out = memfd_create("out", 0); /* not closed by exec */
    sigset_t some, before;
    pid_t pid;
    int status;
    char said[64] = "";
    assert_int_equal(pwrite(in, "input", 5, 0), 5);
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    sigprocmask(SIG_BLOCK, &some, &before);
    assert_int_equal(spawn_self(&pid, argv, environment, in, out), 0);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_true(pread(out, said, sizeof said - 1, 0) > 0);
    assert_string_equal(said, "child 0 0 1 1 input");
    close(in);
    close(out);
}

int main(int argc, char **argv, char **environment)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_its_words_its_files_and_nothing_else),
    };
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return child_main(argv[1], environment);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
