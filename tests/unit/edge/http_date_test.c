/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/http_date.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void the_date_is_written_as_rfc_9110_wants_it(void **state)
{
    (void)state;
    static const struct {
        uint64_t ms;
        const char *date;
    } cases[] = {
        { 784111777999, "Sun, 06 Nov 1994 08:49:37 GMT" },
        { 951782400000, "Tue, 29 Feb 2000 00:00:00 GMT" },
        { 1735689599000, "Tue, 31 Dec 2024 23:59:59 GMT" },
        { 0, "Thu, 01 Jan 1970 00:00:00 GMT" },
    };
    assert_memory_equal(http_date(), "Thu, 01 Jan 1970 00:00:00 GMT", HTTP_DATE_CHARS);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        http_date_turn(cases[i].ms);
        assert_memory_equal(http_date(), cases[i].date, HTTP_DATE_CHARS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_date_is_written_as_rfc_9110_wants_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
