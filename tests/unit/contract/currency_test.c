/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/currency.h"

#include "tests/unit/base/unit.h"

static unsigned digits_of(const char *code)
{
    unsigned digits = 99;
    return currency_find(span_from_string(code), &digits) ? digits : 99;
}

static void active_codes_are_known_with_their_digits(void **state)
{
    (void)state;
    assert_int_equal(digits_of("CNY"), 2);
    assert_int_equal(digits_of("JPY"), 0);
    assert_int_equal(digits_of("KWD"), 3);
    assert_int_equal(digits_of("AED"), 2); /* the first and the last of their row */
    assert_int_equal(digits_of("ZWG"), 2);
    assert_int_equal(digits_of("AFN"), 2); /* browsers believe 0 */
}

static void anything_else_is_not_a_currency(void **state)
{
    static const char *const wrong[] = { "cny", "XX1", "XTS", "XAU", "ANG", "", "CN", "CNYX",
        "\"\"\"", "AAA", "ZZZ" };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(digits_of(wrong[i]), 99);
}

static void the_table_has_each_code_once(void **state)
{
    uint32_t found = 0;
    (void)state;
    for (int a = 'A'; a <= 'Z'; a++) {
        for (int b = 'A'; b <= 'Z'; b++) {
            for (int c = 'A'; c <= 'Z'; c++) {
                const char code[] = { (char)a, (char)b, (char)c };
                unsigned digits;
                found += currency_find(span_of(code, 3), &digits);
            }
        }
    }
    assert_int_equal(found, 155);
}

static void an_amount_is_read_in_the_digits_of_its_currency(void **state)
{
    uint64_t minor = 0;
    (void)state;
    assert_int_equal(amount_parse(SPAN("99.00"), 2, &minor), STATUS_OK);
    assert_int_equal(minor, 9900);
    assert_int_equal(amount_parse(SPAN("99.5"), 2, &minor), STATUS_OK);
    assert_int_equal(minor, 9950);
    assert_int_equal(amount_parse(SPAN("0.05"), 2, &minor), STATUS_OK);
    assert_int_equal(minor, 5);
    assert_int_equal(amount_parse(SPAN("7"), 0, &minor), STATUS_OK);
    assert_int_equal(minor, 7);
    assert_int_equal(amount_parse(SPAN("1.005"), 3, &minor), STATUS_OK);
    assert_int_equal(minor, 1005);
    assert_int_equal(amount_parse(SPAN("92233720368547758.07"), 2, &minor), STATUS_OK);
    assert_int_equal(minor, INT64_MAX);
}

static void a_wrong_amount_changes_nothing(void **state)
{
    static const char *const wrong[] = { "", ".", "1.", ".5", "1.005", "-1.00", "1,00", "1.0x",
        "01.00", "1.2.3", "7", "92233720368547758.08", " 1.00" };
    uint64_t minor = 42;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(amount_parse(span_from_string(wrong[i]), 2, &minor), STATUS_BAD_INPUT);
    assert_int_equal(amount_parse(SPAN("1.0"), 0, &minor), STATUS_BAD_INPUT);
    assert_int_equal(minor, 42);
}

static void an_amount_is_written_as_it_is_read(void **state)
{
    char out[AMOUNT_CHARS_MAX];
    (void)state;
    amount_format(9905, 2, out);
    assert_string_equal(out, "99.05");
    amount_format(5, 3, out);
    assert_string_equal(out, "0.005");
    amount_format(5, 0, out);
    assert_string_equal(out, "5");
    amount_format(UINT64_MAX, 3, out);
    assert_string_equal(out, "18446744073709551.615");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(active_codes_are_known_with_their_digits),
        cmocka_unit_test(anything_else_is_not_a_currency),
        cmocka_unit_test(the_table_has_each_code_once),
        cmocka_unit_test(an_amount_is_read_in_the_digits_of_its_currency),
        cmocka_unit_test(a_wrong_amount_changes_nothing),
        cmocka_unit_test(an_amount_is_written_as_it_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
