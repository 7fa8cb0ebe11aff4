/* SPDX-License-Identifier: Apache-2.0 */
#include "base/span.h"

#include "unit.h"

static void comparing_looks_at_size_and_bytes(void **state)
{
    (void)state;
    assert_true(span_equal(SPAN("abc"), SPAN("abc")));
    assert_false(span_equal(SPAN("abc"), SPAN("abd")));
    assert_false(span_equal(SPAN("abc"), SPAN("ab")));
    assert_true(span_equal(SPAN_NONE, SPAN("")));
    assert_true(span_equal(SPAN_NONE, span_from_string(NULL)));
}

static void ignoring_case_folds_ascii_letters_and_nothing_else(void **state)
{
    (void)state;
    assert_true(span_equal_ignoring_case(SPAN("Content-LENGTH"), SPAN("content-length")));
    assert_true(span_equal_ignoring_case(SPAN("AZaz"), SPAN("azAZ")));
    assert_false(span_equal_ignoring_case(SPAN("@"), SPAN("`"))); /* just before 'A' and 'a' */
    assert_false(span_equal_ignoring_case(SPAN("["), SPAN("{"))); /* just behind 'Z' and 'z' */
    assert_false(span_equal_ignoring_case(SPAN("\xc4"), SPAN("\xe4")));
    assert_false(span_equal_ignoring_case(SPAN("ab"), SPAN("abc")));
    assert_true(span_equal_ignoring_case(SPAN_NONE, SPAN("")));
}

static void prefix_and_suffix_may_be_the_whole_but_not_more(void **state)
{
    (void)state;
    assert_true(span_starts_with(SPAN("/api/buy"), SPAN("/api/")));
    assert_true(span_starts_with(SPAN("abc"), SPAN("abc")));
    assert_false(span_starts_with(SPAN("abc"), SPAN("abcd")));
    assert_false(span_starts_with(SPAN("abc"), SPAN("b")));
    assert_true(span_starts_with(SPAN_NONE, SPAN_NONE));
    assert_true(span_ends_with(SPAN("a.json"), SPAN(".json")));
    assert_true(span_ends_with(SPAN("abc"), SPAN("abc")));
    assert_false(span_ends_with(SPAN("abc"), SPAN("zabc")));
    assert_false(span_ends_with(SPAN("abc"), SPAN("b")));
    assert_true(span_ends_with(SPAN("abc"), SPAN_NONE));
    assert_true(span_ends_with(SPAN_NONE, SPAN_NONE));
}

static void constant_time_equality_sees_every_single_bit(void **state)
{
    (void)state;
    char a[32] = { 0 }, b[32] = { 0 };
    assert_true(span_equal_constant_time(span_of(a, sizeof a), span_of(b, sizeof b)));
    for (size_t bit = 0; bit < sizeof a * 8; bit++) {
        b[bit / 8] = (char)(1u << bit % 8);
        assert_false(span_equal_constant_time(span_of(a, sizeof a), span_of(b, sizeof b)));
        b[bit / 8] = 0;
    }
    assert_false(span_equal_constant_time(span_of(a, 31), span_of(b, 32)));
    assert_true(span_equal_constant_time(SPAN_NONE, SPAN_NONE));
}

static void u64_takes_its_whole_range_and_not_one_more(void **state)
{
    (void)state;
    uint64_t value = 7;
    assert_int_equal(span_to_u64(SPAN("0"), &value), STATUS_OK);
    assert_true(value == 0);
    assert_int_equal(span_to_u64(SPAN("9999999999999999999"), &value), STATUS_OK);
    assert_true(value == 9999999999999999999u);
    assert_int_equal(span_to_u64(SPAN("18446744073709551615"), &value), STATUS_OK);
    assert_true(value == UINT64_MAX);
    value = 7;
    assert_int_equal(span_to_u64(SPAN("18446744073709551616"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_u64(SPAN("28446744073709551615"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_u64(SPAN("100000000000000000000"), &value), STATUS_BAD_INPUT);
    assert_true(value == 7);
}

static void u64_has_one_spelling_per_number(void **state)
{
    (void)state;
    static const char *const refused[] = { "", "00", "01", "+1", "-1", " 1", "1 ", "1a", "/", ":",
        "0x1", "1.0", "1844674407370955161a", "\xb1" };
    uint64_t value = 7;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        assert_int_equal(span_to_u64(span_from_string(refused[i]), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_u64(SPAN("1\0"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_u64(SPAN_NONE, &value), STATUS_BAD_INPUT);
    assert_true(value == 7);
}

static void u32_takes_its_whole_range_and_not_one_more(void **state)
{
    (void)state;
    uint32_t value = 7;
    assert_int_equal(span_to_u32(SPAN("4294967296"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_u32(SPAN("x"), &value), STATUS_BAD_INPUT);
    assert_int_equal(value, 7);
    assert_int_equal(span_to_u32(SPAN("4294967295"), &value), STATUS_OK);
    assert_true(value == UINT32_MAX);
}

static void i64_takes_its_whole_range_and_not_one_more(void **state)
{
    (void)state;
    int64_t value = 7;
    assert_int_equal(span_to_i64(SPAN("9223372036854775808"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_i64(SPAN("-9223372036854775809"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_i64(SPAN("-0"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_i64(SPAN("-"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_i64(SPAN("--1"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_i64(SPAN_NONE, &value), STATUS_BAD_INPUT);
    assert_true(value == 7);
    assert_int_equal(span_to_i64(SPAN("9223372036854775807"), &value), STATUS_OK);
    assert_true(value == INT64_MAX);
    assert_int_equal(span_to_i64(SPAN("-9223372036854775808"), &value), STATUS_OK);
    assert_true(value == INT64_MIN);
    assert_int_equal(span_to_i64(SPAN("-1"), &value), STATUS_OK);
    assert_true(value == -1);
    assert_int_equal(span_to_i64(SPAN("0"), &value), STATUS_OK);
    assert_true(value == 0);
}

static void hex64_takes_sixteen_lower_case_digits_and_nothing_else(void **state)
{
    (void)state;
    uint64_t value = 7;
    assert_int_equal(span_to_hex64(SPAN("0123456789abcde"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_hex64(SPAN("0123456789abcdef0"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_hex64(SPAN("0123456789abcdeF"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_hex64(SPAN("0123456789abcdeg"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_hex64(SPAN("/123456789abcdef"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_hex64(SPAN(":123456789abcdef"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_hex64(SPAN("`123456789abcdef"), &value), STATUS_BAD_INPUT);
    assert_int_equal(span_to_hex64(SPAN("\xe1"
                                        "123456789abcdef"),
                         &value),
        STATUS_BAD_INPUT);
    assert_true(value == 7);
    assert_int_equal(span_to_hex64(SPAN("0123456789abcdef"), &value), STATUS_OK);
    assert_true(value == 0x0123456789abcdefu);
    assert_int_equal(span_to_hex64(SPAN("ffffffffffffffff"), &value), STATUS_OK);
    assert_true(value == UINT64_MAX);
}

static void taking_drops_the_separator_and_ends_with_the_span(void **state)
{
    (void)state;
    struct span text = SPAN("a,,bc"), part;
    assert_true(span_take_until(&text, ',', &part) && span_equal(part, SPAN("a")));
    assert_true(span_take_until(&text, ',', &part) && span_equal(part, SPAN("")));
    assert_true(span_take_until(&text, ',', &part) && span_equal(part, SPAN("bc")));
    assert_false(span_take_until(&text, ',', &part));
    assert_true(span_equal(part, SPAN("bc")));
    text = SPAN("a,");
    assert_true(span_take_until(&text, ',', &part) && span_equal(part, SPAN("a")));
    assert_false(span_take_until(&text, ',', &part));
    text = SPAN_NONE;
    assert_false(span_take_until(&text, ',', &part));
}

static void a_span_is_trimmed_at_both_ends_only(void **state)
{
    (void)state;
    const struct span blanks = SPAN(" \t");
    assert_true(span_equal(span_trim(SPAN(" \ta b\t "), blanks), SPAN("a b")));
    assert_true(span_equal(span_trim(SPAN("a\r"), blanks), SPAN("a\r")));
    assert_true(span_equal(span_trim(SPAN("a\0"), blanks), SPAN("a\0")));
    assert_int_equal(span_trim(SPAN(" \t "), blanks).size, 0);
    assert_int_equal(span_trim(SPAN_NONE, blanks).size, 0);
}

static void taking_a_number_leaves_what_follows(void **state)
{
    (void)state;
    struct span text = SPAN("12/buy");
    uint32_t number = 7;
    assert_true(span_take_u32(&text, &number) && number == 12 && span_equal(text, SPAN("/buy")));
    assert_false(span_take_u32(&text, &number));
    assert_true(number == 12 && span_equal(text, SPAN("/buy")));
    text = SPAN("4294967296");
    assert_false(span_take_u32(&text, &number));
    text = SPAN("4294967295");
    assert_true(span_take_u32(&text, &number) && number == UINT32_MAX && text.size == 0);
    assert_false(span_take_u32(&text, &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_span_is_trimmed_at_both_ends_only),
        cmocka_unit_test(comparing_looks_at_size_and_bytes),
        cmocka_unit_test(ignoring_case_folds_ascii_letters_and_nothing_else),
        cmocka_unit_test(prefix_and_suffix_may_be_the_whole_but_not_more),
        cmocka_unit_test(constant_time_equality_sees_every_single_bit),
        cmocka_unit_test(u64_takes_its_whole_range_and_not_one_more),
        cmocka_unit_test(u64_has_one_spelling_per_number),
        cmocka_unit_test(u32_takes_its_whole_range_and_not_one_more),
        cmocka_unit_test(i64_takes_its_whole_range_and_not_one_more),
        cmocka_unit_test(hex64_takes_sixteen_lower_case_digits_and_nothing_else),
        cmocka_unit_test(taking_drops_the_separator_and_ends_with_the_span),
        cmocka_unit_test(taking_a_number_leaves_what_follows),
    };
    return cmocka_run_group_tests_name("base/span", tests, NULL, NULL);
}
