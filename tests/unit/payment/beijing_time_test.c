/* SPDX-License-Identifier: Apache-2.0 */
#include "payment/beijing_time.h"

#include "tests/unit/base/unit.h"

static void eight_hours_ahead_all_year_round(void **state)
{
    char text[BEIJING_TIME_CHARS + 1];
    uint64_t seconds = 0;
    (void)state;
    beijing_time_write(UINT64_C(1794398400999), text); /* 2026-11-11 12:00:00 UTC */
    assert_string_equal(text, "2026-11-11 20:00:00");
    assert_int_equal(beijing_time_read(SPAN("2026-11-11 20:00:00"), &seconds), STATUS_OK);
    assert_int_equal(seconds, 1794398400);
    beijing_time_write(0, text);
    assert_string_equal(text, "1970-01-01 08:00:00");
    assert_int_equal(beijing_time_read(SPAN("1970-01-01 08:00:00"), &seconds), STATUS_OK);
    assert_int_equal(seconds, 0);
    assert_int_equal(beijing_time_read(SPAN("2028-02-29 00:00:00"), &seconds), STATUS_OK);
    beijing_time_write(seconds * 1000, text);
    assert_string_equal(text, "2028-02-29 00:00:00");
    beijing_time_write(UINT64_MAX, text);
    assert_string_equal(text, "9999-12-31 23:59:59");
    assert_int_equal(beijing_time_read(SPAN("9999-12-31 23:59:59"), &seconds), STATUS_OK);
}

static void anything_else_is_refused(void **state)
{
    static const char *const wrong[] = { "", "2026-11-11", "2026-11-11T20:00:00",
        "2026-11-11 20:00:0", "2026-11-11 20:00:000", "2026-11-31 20:00:00", "2027-02-29 00:00:00",
        "2026-13-01 00:00:00", "2026-00-01 00:00:00", "2026-01-00 00:00:00", "2026-01-01 24:00:00",
        "2026-01-01 00:60:00", "2026-01-01 00:00:60", "-026-01-01 00:00:00", "2026-01-01 00:00:0x",
        "+026-01-01 00:00:00", "1970-01-01 07:59:59", "1969-12-31 23:59:59", "0000-01-01 00:00:00" };
    uint64_t seconds = 7;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(beijing_time_read(span_from_string(wrong[i]), &seconds), STATUS_BAD_INPUT);
    assert_int_equal(seconds, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_hours_ahead_all_year_round),
        cmocka_unit_test(anything_else_is_refused),
    };
    return cmocka_run_group_tests_name("payment/beijing_time", tests, NULL, NULL);
}
