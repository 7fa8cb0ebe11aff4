/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "unit.h"

#include <inttypes.h>
#include <stdio.h>

static char buffer[4096];

static void assert_text(const struct text *text, const char *expected)
{
    assert_false(text->overflow);
    assert_int_equal(text->size, strlen(expected));
    assert_memory_equal(text->data, expected, text->size);
}

static void writing_up_to_the_last_byte_fits_and_one_more_changes_nothing(void **state)
{
    (void)state;
    struct text text = text_in(buffer, 5);
    buffer[5] = '#';
    text_string(&text, "abcd");
    text_literal(&text, "e");
    assert_text(&text, "abcde");
    text_literal(&text, "");
    text_add(&text, SPAN_NONE);
    assert_false(text.overflow);
    text_literal(&text, "f");
    assert_true(text.overflow);
    assert_true(span_equal(text_span(&text), SPAN("abcde")));
    assert_int_equal(buffer[5], '#');
}

static void after_an_overflow_nothing_is_written_even_if_it_would_fit(void **state)
{
    (void)state;
    struct text text = text_in(buffer, 3);
    text_literal(&text, "abcd");
    text_literal(&text, "x");
    text_u64(&text, 1);
    text_i64(&text, -1);
    text_hex(&text, SPAN("x"));
    text_json(&text, SPAN(""));
    text_format(&text, "%d", 1);
    assert_true(text.overflow);
    assert_int_equal(text.size, 0);
}

static void check_u64(uint64_t value)
{
    char expected[32];
    int size = snprintf(expected, sizeof expected, "%" PRIu64, value);
    struct text text = text_in(buffer, (size_t)size);
    memset(buffer, '#', sizeof buffer);
    text_u64(&text, value);
    assert_text(&text, expected);
    assert_int_equal(buffer[size], '#');
    text = text_in(buffer, (size_t)size - 1);
    text_u64(&text, value);
    assert_true(text.overflow && text.size == 0);
}

static void u64_is_written_as_printf_does_around_every_power_of_ten(void **state)
{
    (void)state;
    for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
        check_u64(power - 1);
        check_u64(power);
        check_u64(power + 1);
    }
    check_u64(9999999999999999999u);
    check_u64(10000000000000000000u);
    check_u64(UINT64_MAX);
    for (uint64_t value = 0; value < 20000; value++)
        check_u64(value);
}

static void u64_is_written_as_printf_does_with_every_digit_in_every_place(void **state)
{
    (void)state;
    for (uint64_t power = 1; power <= UINT64_MAX / 10; power *= 10) {
        for (uint64_t digit = 1; digit <= 9; digit++) {
            check_u64(digit * power);
            check_u64(digit * power + power / 9);
        }
    }
    uint64_t value = 88172645463325252u; /* xorshift: numbers of all lengths, always the same ones */
    for (int i = 0; i < 100000; i++) {
        value ^= value << 13;
        value ^= value >> 7;
        value ^= value << 17;
        check_u64(value >> i % 64);
    }
}

static void i64_is_written_whole_or_not_at_all(void **state)
{
    (void)state;
    struct text text = text_in(buffer, sizeof buffer);
    text_i64(&text, INT64_MIN);
    text_literal(&text, " ");
    text_i64(&text, -1);
    text_literal(&text, " ");
    text_i64(&text, 0);
    text_literal(&text, " ");
    text_i64(&text, INT64_MAX);
    assert_text(&text, "-9223372036854775808 -1 0 9223372036854775807");
    text = text_in(buffer, 3);
    text_i64(&text, -100);
    assert_true(text.overflow && text.size == 0);
    text = text_in(buffer, 4);
    text_i64(&text, -100);
    assert_text(&text, "-100");
}

static void hex64_has_sixteen_lower_case_digits_for_every_digit_in_every_place(void **state)
{
    (void)state;
    for (unsigned place = 0; place < 64; place += 4) {
        for (uint64_t digit = 0; digit < 16; digit++) {
            uint64_t value = digit << place;
            char expected[32];
            snprintf(expected, sizeof expected, "%016" PRIx64, value);
            struct text text = text_in(buffer, 16);
            text_hex64(&text, value);
            assert_text(&text, expected);
        }
    }
    struct text text = text_in(buffer, sizeof buffer);
    text_hex64(&text, 0x9abcdef012345678u);
    assert_text(&text, "9abcdef012345678");
    text = text_in(buffer, 15);
    text_hex64(&text, 0);
    assert_true(text.overflow && text.size == 0);
}

static void hex_writes_two_digits_per_byte_all_or_nothing(void **state)
{
    (void)state;
    struct text text = text_in(buffer, 8);
    text_hex(&text, SPAN("\x00\x7f\x80\xff"));
    assert_text(&text, "007f80ff");
    text = text_in(buffer, 7);
    text_hex(&text, SPAN("\x00\x7f\x80\xff"));
    assert_true(text.overflow && text.size == 0);
    text = text_in(buffer, 8);
    text_hex(&text, span_of(buffer, SIZE_MAX)); /* twice this wraps around */
    assert_true(text.overflow && text.size == 0);
}

static void check_json(struct span string, const char *expected)
{
    struct text text = text_in(buffer, sizeof buffer);
    text_json(&text, string);
    assert_text(&text, expected);
    text = text_in(buffer, strlen(expected));
    text_json(&text, string);
    assert_text(&text, expected);
    text = text_in(buffer, strlen(expected) - 1);
    text_json(&text, string);
    assert_true(text.overflow);
}

static void json_escapes_what_json_forbids_and_nothing_else(void **state)
{
    (void)state;
    check_json(SPAN_NONE, "\"\"");
    check_json(SPAN("plain / text ~\x7f"), "\"plain / text ~\x7f\"");
    check_json(SPAN("\"\\\n\r\t"), "\"\\\"\\\\\\n\\r\\t\"");
    check_json(SPAN("a\0b\x1f "), "\"a\\u0000b\\u001f \"");
}

static void json_keeps_well_formed_utf8(void **state)
{
    (void)state;
    check_json(SPAN("\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf"),
        "\"\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf\"");
    check_json(SPAN("\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"), "\"\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf\"");
}

#define BAD "\xef\xbf\xbd"
static void json_replaces_every_byte_that_is_not_utf8(void **state)
{
    (void)state;
    check_json(SPAN("a\x80z"), "\"a" BAD "z\"");             /* continuation without a lead */
    check_json(SPAN("\xc1\xbf"), "\"" BAD BAD "\"");         /* overlong */
    check_json(SPAN("\xe0\x9f\xbf"), "\"" BAD BAD BAD "\""); /* overlong */
    check_json(SPAN("\xf0\x8f\xbf\xbf"), "\"" BAD BAD BAD BAD "\"");
    check_json(SPAN("\xed\xa0\x80"), "\"" BAD BAD BAD "\"");         /* surrogate */
    check_json(SPAN("\xf4\x90\x80\x80"), "\"" BAD BAD BAD BAD "\""); /* past U+10FFFF */
    check_json(SPAN("\xf5\xff"), "\"" BAD BAD "\"");
    check_json(SPAN("\xc3(\xe2\x82("), "\"" BAD "(" BAD BAD "(\"");
    check_json(SPAN("\xf0\x9f\x98"), "\"" BAD BAD BAD "\""); /* cut off */
    check_json(span_of("\xc3\xa9", 1), "\"" BAD "\"");       /* must not look past the end */
    check_json(SPAN("\xc3\""), "\"" BAD "\\\"\"");           /* must not eat the quote */
}

static void format_may_fill_the_room_to_the_last_byte(void **state)
{
    (void)state;
    struct text text = text_in(buffer, 8);
    buffer[8] = '#';
    text_format(&text, "%s-%03d", "abc", 7);
    assert_text(&text, "abc-007");
    text_format(&text, "%c", '!');
    assert_text(&text, "abc-007!");
    text_format(&text, "%s", "");
    assert_text(&text, "abc-007!");
    text_format(&text, "%c", '?');
    assert_true(text.overflow);
    assert_int_equal(text.size, 8);
    assert_int_equal(buffer[8], '#');
}

static void format_of_a_long_text_needs_one_spare_byte(void **state)
{
    (void)state;
    struct text text = text_in(buffer, 1023);
    text_format(&text, "%*d", 1023, 1);
    assert_false(text.overflow);
    assert_int_equal(text.size, 1023);
    text = text_in(buffer, 1025);
    text_format(&text, "%*d", 1024, 1);
    assert_false(text.overflow);
    assert_int_equal(text.size, 1024);
    text = text_in(buffer, 1024);
    text_format(&text, "%*d", 1024, 1);
    assert_true(text.overflow && text.size == 0);
}

static void html_shows_the_string_and_runs_nothing(void **state)
{
    char memory[64];
    struct text text = text_in(memory, sizeof memory);
    (void)state;
    text_html(&text, SPAN("a<b>&\"c' 茶"));
    assert_true(span_equal(text_span(&text), SPAN("a&lt;b&gt;&amp;&quot;c&#39; 茶")));
    text = text_in(memory, 4);
    text_html(&text, SPAN("ab<"));
    assert_true(text.overflow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html_shows_the_string_and_runs_nothing),
        cmocka_unit_test(writing_up_to_the_last_byte_fits_and_one_more_changes_nothing),
        cmocka_unit_test(after_an_overflow_nothing_is_written_even_if_it_would_fit),
        cmocka_unit_test(u64_is_written_as_printf_does_around_every_power_of_ten),
        cmocka_unit_test(u64_is_written_as_printf_does_with_every_digit_in_every_place),
        cmocka_unit_test(i64_is_written_whole_or_not_at_all),
        cmocka_unit_test(hex64_has_sixteen_lower_case_digits_for_every_digit_in_every_place),
        cmocka_unit_test(hex_writes_two_digits_per_byte_all_or_nothing),
        cmocka_unit_test(json_escapes_what_json_forbids_and_nothing_else),
        cmocka_unit_test(json_keeps_well_formed_utf8),
        cmocka_unit_test(json_replaces_every_byte_that_is_not_utf8),
        cmocka_unit_test(format_may_fill_the_room_to_the_last_byte),
        cmocka_unit_test(format_of_a_long_text_needs_one_spare_byte),
    };
    return cmocka_run_group_tests_name("base/text", tests, NULL, NULL);
}
