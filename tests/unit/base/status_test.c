/* SPDX-License-Identifier: Apache-2.0 */
#include "base/status.h"

#include "unit.h"

#include <string.h>

static void every_status_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int a = STATUS_OK; a <= STATUS_UNKNOWN; a++) {
        assert_string_not_equal(status_name((enum status)a), "unknown");
        for (int b = STATUS_OK; b < a; b++)
            assert_string_not_equal(status_name((enum status)a), status_name((enum status)b));
    }
    assert_string_equal(status_name((enum status)(STATUS_UNKNOWN + 1)), "unknown");
}

static void break_invariant(void)
{
    invariant(1 + 1 == 3);
}
static void keep_invariant(void)
{
    invariant(1 + 1 == 2);
}

static void a_broken_invariant_stops_the_program_and_a_kept_one_does_not(void **state)
{
    (void)state;
    assert_true(unit_stops(break_invariant));
    assert_false(unit_stops(keep_invariant));
}

static void a_broken_invariant_says_what_and_where_in_one_line_however_long(void **state)
{
    (void)state;
    static char what[2000];
    memset(what, 'x', sizeof what - 1);
    memcpy(what, "stock >= 0", 10);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        invariant_failed(what, "stock.c", 42);
    }
    close(ends[1]);
    char line[4096];
    ssize_t size = read(ends[0], line, sizeof line - 1);
    close(ends[0]);
    waitpid(child, NULL, 0);
    assert_true(size > 0);
    line[size] = '\0';
    assert_ptr_equal(strstr(line, "stock.c:42: invariant broken: stock >= 0"), line);
    assert_ptr_equal(strchr(line, '\n'), line + size - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        cmocka_unit_test(a_broken_invariant_stops_the_program_and_a_kept_one_does_not),
        cmocka_unit_test(a_broken_invariant_says_what_and_where_in_one_line_however_long),
    };
    return cmocka_run_group_tests_name("base/status", tests, NULL, NULL);
}
