/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of an alarm: its begin once, a reminder at an interval, its end once. */
#include "worker/alarm_messages.h"

#include "tests/unit/base/unit.h"
#include "worker/trend_checks.h"

enum { REMIND_MS = 1000 };

static void an_alarm_that_never_was_up_is_not_told(void **unused)
{
    const struct alarm_told told = { 0 };
    const struct alarm_view view = { 0 };
    (void)unused;
    assert_int_equal(alarm_message_due(&told, &view, 99, REMIND_MS), MESSAGE_NONE);
}

static void its_begin_is_told_once_and_a_reminder_follows_at_the_interval(void **unused)
{
    struct alarm_told told = { 0 };
    const struct alarm_view view = { .up = true, .episode = 1, .since_ms = 5 };
    (void)unused;
    assert_int_equal(alarm_message_due(&told, &view, 10, REMIND_MS), MESSAGE_RAISED);
    told = (struct alarm_told){ .episode = 1, .told_ms = 10 };
    assert_int_equal(alarm_message_due(&told, &view, 10 + REMIND_MS - 1, REMIND_MS), MESSAGE_NONE);
    assert_int_equal(alarm_message_due(&told, &view, 10 + REMIND_MS, REMIND_MS), MESSAGE_REMINDED);
    assert_int_equal(alarm_message_due(&told, &view, UINT64_MAX, 0), MESSAGE_NONE);
}

static void its_end_is_told_once(void **unused)
{
    struct alarm_told told = { .episode = 1, .told_ms = 10 };
    const struct alarm_view view = { .up = false, .episode = 1, .since_ms = 5, .ended_ms = 20 };
    (void)unused;
    assert_int_equal(alarm_message_due(&told, &view, UINT64_MAX, REMIND_MS), MESSAGE_CLEARED);
    told.ended = true;
    assert_int_equal(alarm_message_due(&told, &view, UINT64_MAX, REMIND_MS), MESSAGE_NONE);
}

static void one_that_came_and_went_unheard_is_told_with_begin_and_end(void **unused)
{
    struct alarm_told told = { .episode = 1, .ended = true };
    const struct alarm_view view = { .up = false, .episode = 3, .since_ms = 5, .ended_ms = 20 };
    (void)unused;
    assert_int_equal(alarm_message_due(&told, &view, 30, REMIND_MS), MESSAGE_RAISED);
    told = (struct alarm_told){ .episode = 3, .told_ms = 30 };
    assert_int_equal(alarm_message_due(&told, &view, 31, REMIND_MS), MESSAGE_CLEARED);
}

static void a_trend_at_its_bound_does_not_flicker(void **unused)
{
    (void)unused;
    assert_false(trend_is_up(false, 100, 100));
    assert_true(trend_is_up(false, 101, 100));
    assert_true(trend_is_up(true, 51, 100));
    assert_false(trend_is_up(true, 50, 100));
    assert_false(trend_is_up(false, UINT64_MAX, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alarm_that_never_was_up_is_not_told),
        cmocka_unit_test(its_begin_is_told_once_and_a_reminder_follows_at_the_interval),
        cmocka_unit_test(its_end_is_told_once),
        cmocka_unit_test(one_that_came_and_went_unheard_is_told_with_begin_and_end),
        cmocka_unit_test(a_trend_at_its_bound_does_not_flicker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
