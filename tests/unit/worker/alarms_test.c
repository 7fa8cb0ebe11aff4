/* SPDX-License-Identifier: Apache-2.0 */
/* Alarms: one line at the beginning, one at the end, and what is seen in between. */
#include "worker/alarms.h"

#include "tests/unit/base/unit.h"

#include <string.h>

static void all_in(char *bytes, size_t size)
{
    struct text out = text_in(bytes, size - 1);
    alarms_json(&out);
    assert_false(out.overflow);
    bytes[out.size] = 0;
}

static void an_alarm_is_up_from_its_first_raise_to_its_clear(void **unused)
{
    char bytes[8192];
    (void)unused;
    assert_false(alarm_is_up(ALARM_RECONCILE));
    alarm_raise(ALARM_RECONCILE, 5, "%u findings", 3);
    alarm_raise(ALARM_RECONCILE, 9, "%u \"findings\"", 4);
    assert_true(alarm_is_up(ALARM_RECONCILE));
    assert_false(alarm_is_up(ALARM_DISK_FULL));
    all_in(bytes, sizeof bytes);
    assert_non_null(strstr(bytes,
        "{\"name\":\"reconcile\",\"up\":true,\"since_ms\":5,\"detail\":\"4 \\\"findings\\\"\","
        "\"last_since_ms\":5,\"last_end_ms\":0}"));
    alarm_clear(ALARM_RECONCILE);
    alarm_clear(ALARM_RECONCILE);
    assert_false(alarm_is_up(ALARM_RECONCILE));
    all_in(bytes, sizeof bytes);
    assert_non_null(strstr(bytes,
        "{\"name\":\"reconcile\",\"up\":false,\"since_ms\":0,\"detail\":\"\","
        "\"last_since_ms\":5,\"last_end_ms\":"));
}

static void a_long_detail_is_cut_and_every_alarm_has_a_name(void **unused)
{
    char bytes[8192], detail[2 * ALARM_DETAIL_MAX];
    (void)unused;
    memset(detail, 'x', sizeof detail - 1);
    detail[sizeof detail - 1] = 0;
    alarm_raise(ALARM_DISK_FULL, 1, "%s", detail);
    all_in(bytes, sizeof bytes);
    alarm_clear(ALARM_DISK_FULL);
    for (uint32_t i = 0; i < ALARMS; i++)
        assert_non_null(strstr(bytes, alarm_name((enum alarm)i)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_alarm_is_up_from_its_first_raise_to_its_clear),
        cmocka_unit_test(a_long_detail_is_cut_and_every_alarm_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
