/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include "base/clock.h"

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static int stderr_kept, reader;
static char packet[8192];

/* Standard error becomes a socket that keeps writes apart, so a line in two writes would show. */
static int log_setup(void **state)
{
    (void)state;
    int ends[2];
    stderr_kept = dup(STDERR_FILENO);
    if (stderr_kept < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) != 0)
        return -1;
    reader = ends[0];
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    return 0;
}

static int log_teardown(void **state)
{
    (void)state;
    dup2(stderr_kept, STDERR_FILENO);
    close(stderr_kept);
    close(reader);
    log_level_set(LOG_INFO);
    return 0;
}

/* The next write, or NULL. */
static const char *next_line(void)
{
    ssize_t size = recv(reader, packet, sizeof packet - 1, 0);
    if (size <= 0)
        return NULL;
    packet[size] = '\0';
    return packet;
}

static void a_line_is_time_level_component_message_in_one_write(void **state)
{
    (void)state;
    uint64_t before_ms = clock_wall_ms();
    log_warn("journal", "sync is slow took_ms=%d", 250);
    uint64_t after_ms = clock_wall_ms();
    const char *line = next_line();
    assert_non_null(line);
    int year, month, day, hour, minute, second, ms, rest = 0;
    assert_int_equal(sscanf(line, "%4d-%2d-%2dT%2d:%2d:%2d.%3dZ%n", &year, &month, &day, &hour,
                         &minute, &second, &ms, &rest),
        7);
    assert_int_equal(rest, 24);
    assert_string_equal(line + 24, " warn journal sync is slow took_ms=250\n");
    struct tm utc = { .tm_year = year - 1900,
        .tm_mon = month - 1,
        .tm_mday = day,
        .tm_hour = hour,
        .tm_min = minute,
        .tm_sec = second };
    assert_in_range((uint64_t)timegm(&utc) * 1000 + (uint64_t)ms, before_ms, after_ms);
    assert_null(next_line());
}

static void levels_below_the_least_are_not_logged(void **state)
{
    (void)state;
    log_debug("x", "hidden by default");
    assert_null(next_line());
    log_info("x", "shown");
    assert_non_null(strstr(next_line(), " info x shown\n"));
    log_level_set(LOG_ERROR);
    log_warn("x", "hidden");
    assert_null(next_line());
    log_error("x", "shown");
    assert_non_null(strstr(next_line(), " error x shown\n"));
    log_level_set(LOG_DEBUG);
    log_debug("x", "shown");
    assert_non_null(strstr(next_line(), " debug x shown\n"));
}

static void values_can_neither_start_a_line_nor_steer_the_terminal(void **state)
{
    (void)state;
    log_info("x", "name=%s", "a\nb\x1b[2J\x7f\x9b\\n\t~ ");
    assert_string_equal(next_line() + 24, " info x name=a\\nb\\x1b[2J\\x7f\\x9b\\\\n\\x09~ \n");
    assert_null(next_line());
}

static void a_line_too_long_is_cut_and_says_so(void **state)
{
    (void)state;
    char value[3000];
    static const char fill[] = { 'v', '\x01' }; /* the second grows fourfold by escaping */
    for (size_t i = 0; i < sizeof fill; i++) {
        memset(value, fill[i], sizeof value);
        value[sizeof value - 1] = '\0';
        log_info("x", "%s", value);
        const char *line = next_line();
        assert_non_null(line);
        assert_true(strlen(line) < 2200);
        assert_string_equal(line + strlen(line) - 4, "...\n");
    }
}

static void errno_survives_logging(void **state)
{
    (void)state;
    errno = ENOSPC;
    log_info("x", "hello");
    assert_int_equal(errno, ENOSPC);
    close(STDERR_FILENO); /* not even a failing write may change it */
    log_info("x", "hello");
    assert_int_equal(errno, ENOSPC);
}

static void site_that_repeats(int i)
{
    log_info("x", "again i=%d", i);
}

static void a_site_logs_twenty_lines_a_second_and_then_says_how_many_it_dropped(void **state)
{
    (void)state;
    int dropped = 7, logged = 0;
    uint64_t second_before, second_after;
    do { /* again if the burst crossed into the next second */
        while (next_line() != NULL)
            ;
        while (clock_monotonic_ns() % 1000000000u > 100000000u) /* start early in a second */
            usleep(10000);
        while (next_line() != NULL)
            ;
        second_before = clock_monotonic_ns() / 1000000000u;
        for (int i = 0; i < LOG_BURST + dropped; i++)
            site_that_repeats(i);
        log_info("x", "another site is not held back");
        second_after = clock_monotonic_ns() / 1000000000u;
    } while (second_before != second_after);
    const char *line;
    while ((line = next_line()) != NULL && strstr(line, "another") == NULL)
        logged++;
    assert_int_equal(logged, LOG_BURST);
    assert_non_null(line);
    while (clock_monotonic_ns() / 1000000000u == second_after)
        usleep(10000);
    site_that_repeats(0);
    assert_string_equal(next_line() + 24, " info x again i=0 dropped=7\n");
    site_that_repeats(1);
    assert_string_equal(next_line() + 24, " info x again i=1\n");
}

#define LOG_TEST(test) cmocka_unit_test_setup_teardown(test, log_setup, log_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(a_line_is_time_level_component_message_in_one_write),
        LOG_TEST(levels_below_the_least_are_not_logged),
        LOG_TEST(values_can_neither_start_a_line_nor_steer_the_terminal),
        LOG_TEST(a_line_too_long_is_cut_and_says_so),
        LOG_TEST(errno_survives_logging),
        LOG_TEST(a_site_logs_twenty_lines_a_second_and_then_says_how_many_it_dropped),
    };
    return cmocka_run_group_tests_name("base/log", tests, NULL, NULL);
}
