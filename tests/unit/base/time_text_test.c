/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time_text.h"

#include "tests/unit/base/unit.h"

#include <stdlib.h>
#include <time.h>

static uint64_t parsed(const char *text, uint64_t now_ms)
{
    uint64_t ms = 0;
    assert_int_equal(time_text_parse(span_from_string(text), now_ms, &ms), STATUS_OK);
    return ms;
}

static void milliseconds_and_iso_8601_are_the_same_moment(void **state)
{
    (void)state;
    assert_int_equal(parsed("1794398400250", 0), UINT64_C(1794398400250));
    assert_int_equal(parsed("2026-11-11T12:00:00.250Z", 0), UINT64_C(1794398400250));
    assert_int_equal(parsed("2026-11-11T12:00:00.2Z", 0), UINT64_C(1794398400200));
    assert_int_equal(parsed("2026-11-11T12:00:00Z", 0), UINT64_C(1794398400000));
    assert_int_equal(parsed("1970-01-01T00:00:00Z", 0), 0);
    assert_int_equal(parsed("2000-02-29T23:59:59.999Z", 0), UINT64_C(951868799999));
    assert_int_equal(parsed("2000-03-01T00:00:00Z", 0), UINT64_C(951868800000));
}

static void offsets_and_local_times_name_the_same_moment(void **state)
{
    (void)state;
    assert_int_equal(parsed("2026-11-11T20:00:00.250+08:00", 0), UINT64_C(1794398400250));
    assert_int_equal(parsed("2026-11-11T20:00+08:00", 0), UINT64_C(1794398400000));
    assert_int_equal(parsed("2026-11-11T06:30-05:30", 0), UINT64_C(1794398400000));
    assert_int_equal(parsed("2026-11-11T12:00Z", 0), UINT64_C(1794398400000));
    char text[TIME_TEXT_BYTES];
    setenv("TZ", "CST-8", 1); /* eight hours east */
    tzset();
    assert_int_equal(parsed("2026-11-11T20:00", 0), UINT64_C(1794398400000));
    time_text_format_local(UINT64_C(1794398400250), text);
    assert_string_equal(text, "2026-11-11T20:00:00.250+08:00");
    setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
    tzset();
    time_text_format_local(UINT64_C(1794398400250), text);
    assert_string_equal(text, "2026-11-11T07:00:00.250-05:00");
    uint64_t ms = 7; /* the clocks leave this hour out */
    assert_int_equal(time_text_parse(SPAN("2026-03-08T02:30"), 0, &ms), STATUS_BAD_INPUT);
    setenv("TZ", "UTC", 1);
    tzset();
    time_text_format_local(UINT64_C(1794398400250), text);
    assert_string_equal(text, "2026-11-11T12:00:00.250Z");
    assert_int_equal(parsed("2026-11-11T12:00:00", 0), UINT64_C(1794398400000));
}

static void from_now_on_counts_in_five_units(void **state)
{
    (void)state;
    assert_int_equal(parsed("+250ms", 1000), 1250);
    assert_int_equal(parsed("+30s", 1000), 31000);
    assert_int_equal(parsed("+10m", 1000), 601000);
    assert_int_equal(parsed("+2h", 1000), 7201000);
    assert_int_equal(parsed("+1d", 1000), 86401000);
}

static void everything_else_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "+", "+s", "+1", "+1w", "+-1s", "-5", "noon", "2026-11-11",
        "2026-11-11T12", "2026-11-11T12:00:0Z", "2026-11-11T12:00+8:00", "2026-11-11T12:00+0800",
        "2026-11-11T12:00+15:00", "2026-11-11T12:00+08:60", "2026-11-11T12:00 Z",
        "1970-01-01T00:00:00+08:00", "2026-11-11T12:00:00.Z", "2026-11-11T12:00:00.1234Z",
        "2026-13-11T12:00:00Z", "2026-02-29T12:00:00Z", "2100-02-29T12:00:00Z",
        "2026-11-31T12:00:00Z", "2026-11-11T24:00:00Z", "2026-11-11T12:60:00Z", "2026-11-11T12:00:60Z",
        "2026-11-00T12:00:00Z", "1969-11-11T12:00:00Z", "2026-11-11 12:00:00Z", "2026-11-11T12:00:00z",
        "18446744073709551615", "+99999999999999999d", "+18446744073709551616s" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t ms = 7;
        if (time_text_parse(span_from_string(bad[i]), 1000, &ms) == STATUS_OK)
            fail_msg("%s was taken", bad[i]);
        assert_int_equal(ms, 7);
    }
    uint64_t ms;
    assert_int_equal(time_text_parse(SPAN("+30s"), 0, &ms), STATUS_BAD_INPUT); /* from when? */
}

static void a_moment_reads_back_as_it_was_written(void **state)
{
    (void)state;
    char text[TIME_TEXT_BYTES];
    time_text_format(UINT64_C(1794398400250), text);
    assert_string_equal(text, "2026-11-11T12:00:00.250Z");
    for (uint64_t ms = 1; ms < UINT64_C(253402300799999); ms = ms * 3 + 86400007) {
        time_text_format(ms, text);
        assert_int_equal(parsed(text, 0), ms);
    }
    time_text_format(UINT64_MAX, text);
    assert_string_equal(text, "18446744073709551615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(milliseconds_and_iso_8601_are_the_same_moment),
        cmocka_unit_test(offsets_and_local_times_name_the_same_moment),
        cmocka_unit_test(from_now_on_counts_in_five_units),
        cmocka_unit_test(everything_else_is_refused),
        cmocka_unit_test(a_moment_reads_back_as_it_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
