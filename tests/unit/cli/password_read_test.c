/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/password_read.h"

#include "tests/unit/base/unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static char password[PASSWORD_BYTES_MAX];
static size_t size;

static const char *piped(const char *text, size_t bytes)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(write(ends[1], text, bytes), bytes);
    close(ends[1]);
    const char *wrong = password_read(ends[0], stderr, password, &size);
    close(ends[0]);
    return wrong;
}

static void the_first_line_of_a_pipe_is_the_password(void **state)
{
    (void)state;
    assert_null(piped("battery staple\nmore\n", 20));
    assert_int_equal(size, 14);
    assert_memory_equal(password, "battery staple", 14);
    assert_null(piped("battery staple\r\n", 16));
    assert_int_equal(size, 14);
    assert_null(piped("battery staple", 14)); /* without an end */
    assert_int_equal(size, 14);
}

static void a_password_that_is_too_short_or_too_long_is_refused(void **state)
{
    char text[PASSWORD_BYTES_MAX + 8];
    (void)state;
    memset(text, 'a', sizeof text);
    assert_non_null(strstr(piped(text, PASSWORD_BYTES_MIN - 1), "at least 12"));
    assert_null(piped(text, PASSWORD_BYTES_MIN));
    assert_null(piped(text, PASSWORD_BYTES_MAX));
    assert_non_null(strstr(piped(text, PASSWORD_BYTES_MAX + 1), "at most 128"));
    assert_non_null(strstr(piped("", 0), "at least 12"));
}

/* Types `text` at a terminal; what the terminal shows is in `shown`. */
static const char *typed(const char *text, char *shown, size_t bytes)
{
    const int user = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(user >= 0);
    assert_int_equal(grantpt(user), 0);
    assert_int_equal(unlockpt(user), 0);
    const int terminal = open(ptsname(user), O_RDWR | O_NOCTTY | O_CLOEXEC);
    assert_true(terminal >= 0);
    FILE *prompts = fdopen(dup(terminal), "w");
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { /* types when the second prompt is there or the first one was answered */
        size_t seen = 0;
        for (const char *line = text; *line != 0;) {
            const char *end = strchr(line, '\n') + 1;
            char part[256];
            ssize_t got = 0;
            while (memchr(part, ':', (size_t)got) == NULL)
                got = read(user, part, sizeof part);
            seen += (size_t)got;
            if (write(user, line, (size_t)(end - line)) != end - line)
                _exit(1);
            line = end;
        }
        _exit(seen > 0 ? 0 : 1);
    }
    const char *wrong = password_read(terminal, prompts, password, &size);
    fclose(prompts);
    struct termios after;
    assert_int_equal(tcgetattr(terminal, &after), 0);
    assert_true((after.c_lflag & ECHO) != 0); /* as it was */
    assert_int_equal(fcntl(user, F_SETFL, O_NONBLOCK), 0);
    const ssize_t rest = read(user, shown, bytes - 1);
    shown[rest > 0 ? rest : 0] = 0;
    close(terminal);
    close(user);
    return wrong;
}

static void a_terminal_asks_twice_and_does_not_show_what_is_typed(void **state)
{
    char shown[512];
    (void)state;
    assert_null(typed("battery staple\nbattery staple\n", shown, sizeof shown));
    assert_memory_equal(password, "battery staple", 14);
    assert_null(strstr(shown, "battery"));
    assert_non_null(strstr(typed("battery staple\nbattery stable\n", shown, sizeof shown), "differ"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_line_of_a_pipe_is_the_password),
        cmocka_unit_test(a_password_that_is_too_short_or_too_long_is_refused),
        cmocka_unit_test(a_terminal_asks_twice_and_does_not_show_what_is_typed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
