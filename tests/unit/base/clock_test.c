/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include "unit.h"

#include <time.h>

static void ask_before_start(void)
{
    clock_now_ms();
}

static void asking_before_the_start_stops_the_program(void **state)
{
    (void)state;
    assert_true(unit_stops(ask_before_start));
}

static void server_time_starts_at_wall_time(void **state)
{
    (void)state;
    uint64_t before_ms = clock_wall_ms();
    clock_start(0);
    uint64_t now_ms = clock_now_ms();
    uint64_t after_ms = clock_wall_ms();
    assert_true(now_ms + 1 >= before_ms); /* two clocks, each rounded down */
    assert_true(now_ms <= after_ms + 1);
    assert_true(now_ms > 1600000000000u); /* milliseconds, not seconds */
}

static void server_time_never_starts_behind_the_log(void **state)
{
    (void)state;
    uint64_t log_ms = clock_wall_ms() + 3600000;
    clock_start(log_ms);
    uint64_t now_ms = clock_now_ms();
    assert_true(now_ms >= log_ms && now_ms < log_ms + 10000);
    clock_start(clock_wall_ms() - 3600000); /* a log of an hour ago holds nothing back */
    assert_true(clock_now_ms() + 10000 > clock_wall_ms());
    assert_true(clock_now_ms() < clock_wall_ms() + 10000);
}

static void server_time_and_durations_run_forward_at_the_right_speed(void **state)
{
    (void)state;
    clock_start(0);
    uint64_t start_ns = clock_monotonic_ns();
    uint64_t start_ms = clock_now_ms();
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
    uint64_t passed_ms = clock_now_ms() - start_ms;
    uint64_t passed_ns = clock_monotonic_ns() - start_ns;
    assert_true(passed_ns >= 20000000u && passed_ns < 10000000000u);
    assert_true(passed_ms >= 19 && passed_ms < 10000);
    for (int i = 0; i < 10000; i++) {
        uint64_t now_ms = clock_now_ms();
        assert_true(now_ms >= start_ms);
        start_ms = now_ms;
    }
}

static void another_clock_is_apart_by_what_is_sure(void **state)
{
    (void)state;
    assert_int_equal(clock_apart_ms(1000, 1000, 1000), 0);
    assert_int_equal(clock_apart_ms(1000, 1100, 1000), 0); /* anywhere between is none */
    assert_int_equal(clock_apart_ms(1000, 1100, 1100), 0);
    assert_int_equal(clock_apart_ms(1000, 1100, 1101), 1);
    assert_int_equal(clock_apart_ms(1000, 1100, 999), -1);
    assert_int_equal(clock_apart_ms(1000, 61000, 30000), 0); /* an answer that took a minute says nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asking_before_the_start_stops_the_program),
        cmocka_unit_test(server_time_starts_at_wall_time),
        cmocka_unit_test(server_time_never_starts_behind_the_log),
        cmocka_unit_test(server_time_and_durations_run_forward_at_the_right_speed),
        cmocka_unit_test(another_clock_is_apart_by_what_is_sure),
    };
    return cmocka_run_group_tests_name("base/clock", tests, NULL, NULL);
}
