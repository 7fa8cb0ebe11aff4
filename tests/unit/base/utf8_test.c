/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool valid(const char *text)
{
    return utf8_is_valid(span_from_string(text));
}

static void text_of_many_languages_is_valid(void **state)
{
    (void)state;
    assert_true(utf8_is_valid(SPAN_NONE));
    assert_true(valid("plain"));
    assert_true(valid("κόσμε 正在排队中 \U0001f600"));
    assert_true(
        valid("\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"));
    assert_true(valid("\xed\x9f\xbf \xee\x80\x80"));
    assert_true(utf8_is_valid(span_of("a\0b", 3)));
}

static void one_past_each_edge_is_not(void **state)
{
    (void)state;
    static const char *const bad[] = { "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xfe", "\xff", "\xc2", "\xe1\x80", "\xf1\x80\x80", "\xc2\x41", "\xe1\x80\x41",
        "\xe1\x41\x80", "\xf1\x80\x80\x41", "\xf1\x80\x41\x80", "fine until \xc3(" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(valid(bad[i]));
}

static void every_code_point_by_its_own_arithmetic(void **state)
{
    (void)state;
    for (uint32_t point = 0x80; point <= 0x110000; point++) {
        uint8_t bytes[4];
        size_t size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        bytes[0] = (uint8_t)((size == 2          ? 0xc0
                                     : size == 3 ? 0xe0
                                                 : 0xf0)
            | point >> (6 * (size - 1)));
        for (size_t i = 1; i < size; i++)
            bytes[i] = (uint8_t)(0x80 | (point >> (6 * (size - 1 - i)) & 0x3f));
        const bool good = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
        if (utf8_is_valid(span_of((const char *)bytes, size)) != good)
            fail_msg("U+%x", (unsigned)point);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_of_many_languages_is_valid),
        cmocka_unit_test(one_past_each_edge_is_not),
        cmocka_unit_test(every_code_point_by_its_own_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
