/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/timetable_rules.h"

#include "tests/unit/base/unit.h"

#define HOUR_MS UINT64_C(3600000)
/* 2026-11-11, a Wednesday, at 00:00 UTC. */
#define MIDNIGHT_MS UINT64_C(1794355200000)
enum { WEDNESDAY_11 = 20768 };

static struct timetable evening(void)
{
    return (struct timetable){ .id = 1,
        .start_minute = 20 * 60,
        .duration_s = 3600,
        .weekdays = TIMETABLE_EVERY_DAY,
        .offset_min = 480,
        .ahead_s = 24 * 3600,
        .active = true };
}

static enum session_step step_at(const struct timetable *table, uint32_t day, uint64_t now_ms)
{
    const struct timetable_day plain = timetable_day_plain(table, day);
    return timetable_step(table, &plain, now_ms);
}

static void a_day_begins_at_midnight_there(void **state)
{
    struct timetable table = evening();
    (void)state;
    assert_int_equal(timetable_day_at(&table, MIDNIGHT_MS), WEDNESDAY_11);
    assert_int_equal(timetable_day_at(&table, MIDNIGHT_MS - 8 * HOUR_MS), WEDNESDAY_11);
    assert_int_equal(timetable_day_at(&table, MIDNIGHT_MS - 8 * HOUR_MS - 1), WEDNESDAY_11 - 1);
    table.offset_min = -300;
    assert_int_equal(timetable_day_at(&table, MIDNIGHT_MS + 5 * HOUR_MS - 1), WEDNESDAY_11 - 1);
    assert_int_equal(timetable_day_at(&table, 0), 0);
}

static void times_follow_the_clock_there(void **state)
{
    const struct timetable table = evening();
    struct timetable_day day = timetable_day_plain(&table, WEDNESDAY_11);
    (void)state;
    struct session_times times = timetable_times(&table, &day);
    assert_int_equal(times.day_ms, MIDNIGHT_MS - 8 * HOUR_MS);
    assert_int_equal(times.start_ms, MIDNIGHT_MS + 12 * HOUR_MS);
    assert_int_equal(times.end_ms, MIDNIGHT_MS + 13 * HOUR_MS);
    day.start_minute = 0;
    day.duration_s = 60;
    times = timetable_times(&table, &day);
    assert_int_equal(times.start_ms, times.day_ms);
    assert_int_equal(times.end_ms, times.day_ms + 60000);
}

static void a_session_waits_is_made_or_was_missed(void **state)
{
    struct timetable table = evening();
    const uint64_t start_ms = MIDNIGHT_MS + 12 * HOUR_MS;
    (void)state;
    assert_int_equal(step_at(&table, WEDNESDAY_11, start_ms - 24 * HOUR_MS - 1), SESSION_WAIT);
    assert_int_equal(step_at(&table, WEDNESDAY_11, start_ms - 24 * HOUR_MS), SESSION_MAKE);
    assert_int_equal(step_at(&table, WEDNESDAY_11, start_ms + HOUR_MS - 1), SESSION_MAKE);
    assert_int_equal(step_at(&table, WEDNESDAY_11, start_ms + HOUR_MS), SESSION_MISSED);
    table.since_ms = start_ms;
    assert_int_equal(step_at(&table, WEDNESDAY_11, start_ms + HOUR_MS), SESSION_MISSED);
    table.since_ms = start_ms + 1; /* it began before the timetable was there */
    assert_int_equal(step_at(&table, WEDNESDAY_11, start_ms + HOUR_MS), SESSION_NOT_HELD);
}

static void only_its_weekdays_count_and_an_edited_day(void **state)
{
    struct timetable table = evening();
    struct timetable_day day = timetable_day_plain(&table, WEDNESDAY_11);
    (void)state;
    table.weekdays = 1 << 2; /* Wednesday */
    assert_int_equal(timetable_step(&table, &day, MIDNIGHT_MS), SESSION_MAKE);
    table.weekdays = TIMETABLE_EVERY_DAY & ~(1u << 2);
    assert_int_equal(timetable_step(&table, &day, MIDNIGHT_MS), SESSION_NOT_HELD);
    day.duration_s = 60;
    assert_int_equal(timetable_step(&table, &day, MIDNIGHT_MS), SESSION_MAKE);
}

static void what_is_decided_stays_decided(void **state)
{
    const struct timetable table = evening();
    struct timetable_day day = timetable_day_plain(&table, WEDNESDAY_11);
    (void)state;
    for (int decided = DAY_MADE; decided < DAY_STATES; decided++) {
        day.state = (uint8_t)decided;
        assert_int_equal(timetable_step(&table, &day, MIDNIGHT_MS), SESSION_DECIDED);
        assert_int_equal(timetable_step(&table, &day, MIDNIGHT_MS + 24 * HOUR_MS), SESSION_DECIDED);
    }
}

static void dates_and_times_of_day_are_read_strictly_and_written_back(void **state)
{
    static const char *const days[] = { "1970-01-01", "2000-02-29", "2024-02-29", "2026-11-11",
        "2026-12-31" };
    static const char *const wrong[] = { "", "2026-11-1", "2026-02-29", "2100-02-29", "2026-13-01",
        "2026-00-10", "2026-11-00", "2026-11-31", "1969-12-31", "2026/11/11", "2026-11-11 ",
        "20261111--" };
    char text[DAY_TEXT_BYTES], minute_text[MINUTE_TEXT_BYTES];
    uint32_t day, minute;
    (void)state;
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        assert_true(day_parse(span_from_string(days[i]), &day));
        day_format(day, text);
        assert_string_equal(text, days[i]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(day_parse(span_from_string(wrong[i]), &day));
    assert_true(day_parse(SPAN("2026-11-11"), &day));
    assert_int_equal(day, WEDNESDAY_11);
    assert_true(minute_parse(SPAN("23:59"), &minute));
    assert_int_equal(minute, 1439);
    minute_format(minute, minute_text);
    assert_string_equal(minute_text, "23:59");
    assert_false(minute_parse(SPAN("24:00"), &minute));
    assert_false(minute_parse(SPAN("12:60"), &minute));
    assert_false(minute_parse(SPAN("1:00"), &minute));
    assert_false(minute_parse(SPAN("12:000"), &minute));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_day_begins_at_midnight_there),
        cmocka_unit_test(times_follow_the_clock_there),
        cmocka_unit_test(a_session_waits_is_made_or_was_missed),
        cmocka_unit_test(only_its_weekdays_count_and_an_edited_day),
        cmocka_unit_test(what_is_decided_stays_decided),
        cmocka_unit_test(dates_and_times_of_day_are_read_strictly_and_written_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
