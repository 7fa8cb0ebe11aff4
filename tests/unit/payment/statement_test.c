/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of statements share. */
#include "tests/unit/payment/statement_kit.h"

static uint64_t amount_of(const char *text, const char *currency)
{
    uint64_t minor = 0;
    return statement_amount(span_from_string(text), span_from_string(currency), &minor) == STATUS_OK
        ? minor
        : UINT64_MAX;
}

static void amounts_are_exact_and_lose_their_sign(void **state)
{
    (void)state;
    assert_int_equal(amount_of("12.34", "CNY"), 1234);
    assert_int_equal(amount_of("-12.34", "CNY"), 1234);
    assert_int_equal(amount_of("12", "CNY"), 1200);
    assert_int_equal(amount_of("0.5", "CNY"), 50);
    assert_int_equal(amount_of("1900", "JPY"), 1900);
    assert_int_equal(amount_of("1.234", "KWD"), 1234);
    static const char *const wrong[] = { "", "-", "--1", "1.234", "1,000.00", "1e3", " 1", ".",
        "99999999999999999999" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_true(amount_of(wrong[i], "CNY") == UINT64_MAX);
    assert_true(amount_of("19.00", "JPY") == UINT64_MAX);
    assert_true(amount_of("1.00", "QQQ") == UINT64_MAX);
}

static void fields_are_split_with_and_without_quotes(void **state)
{
    struct span fields[STATEMENT_COLUMNS_MAX];
    (void)state;
    assert_int_equal(statement_fields(SPAN("a\t, b ,\"c, \"\"d\"\"\",e\"f,"), fields), 5);
    assert_true(span_equal(fields[0], SPAN("a")));
    assert_true(span_equal(fields[1], SPAN("b")));
    assert_true(span_equal(fields[2], SPAN("c, \"\"d\"\"")));
    assert_true(span_equal(fields[3], SPAN("e\"f")));
    assert_true(fields[4].size == 0);
    char many[STATEMENT_COLUMNS_MAX + 1];
    memset(many, ',', sizeof many);
    assert_int_equal(
        statement_fields(span_of(many, STATEMENT_COLUMNS_MAX - 1), fields), STATEMENT_COLUMNS_MAX);
    assert_int_equal(statement_fields(span_of(many, STATEMENT_COLUMNS_MAX), fields), 0); /* one too many */
}

static void a_reference_that_is_none_of_ours_is_empty(void **state)
{
    struct statement_row row = { .reference = "before" };
    char longest[REFERENCE_BYTES_MAX + 1];
    (void)state;
    memset(longest, 'x', sizeof longest);
    statement_reference(&row, span_of(longest, REFERENCE_BYTES_MAX));
    assert_int_equal(strlen(row.reference), REFERENCE_BYTES_MAX);
    statement_reference(&row, span_of(longest, REFERENCE_BYTES_MAX + 1));
    assert_string_equal(row.reference, "");
    statement_reference(&row, SPAN("has space"));
    assert_string_equal(row.reference, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_are_exact_and_lose_their_sign),
        cmocka_unit_test(fields_are_split_with_and_without_quotes),
        cmocka_unit_test(a_reference_that_is_none_of_ours_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
