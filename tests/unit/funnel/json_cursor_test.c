/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/json_cursor.h"

#include "tests/unit/base/unit.h"

/* Reads {"a": string, "n": number, "t": any number, "l": [numbers]} and sums the list. */
static bool fields_read(const char *text, struct span *a, uint32_t *n, uint32_t *sum)
{
    struct json_cursor in = json_cursor_of(span_from_string(text));
    struct span name;
    *a = SPAN_NONE;
    *n = *sum = 0;
    for (unsigned count = 0; cursor_field(&in, &count, &name);) {
        if (span_equal(name, SPAN("a"))) {
            cursor_string(&in, a);
        } else if (span_equal(name, SPAN("n"))) {
            cursor_u32(&in, n);
        } else if (span_equal(name, SPAN("t"))) {
            cursor_number_skip(&in);
        } else if (span_equal(name, SPAN("l"))) {
            for (unsigned elements = 0; cursor_element(&in, &elements);) {
                uint32_t value;
                cursor_u32(&in, &value);
                *sum += value;
            }
        } else {
            cursor_fail(&in);
        }
    }
    return cursor_done(&in);
}

static void good_text_is_read(void **state)
{
    (void)state;
    struct span a;
    uint32_t n, sum;
    assert_true(fields_read(
        " { \"a\" : \"x y\" , \"n\":4294967295,\"t\":-1.5e+3,\"l\":[1, 2,3] } ", &a, &n, &sum));
    assert_true(span_equal(a, SPAN("x y")) && n == UINT32_MAX && sum == 6);
    assert_true(fields_read("{}", &a, &n, &sum));
    assert_true(fields_read("{\"l\":[]}", &a, &n, &sum));
}

static void everything_else_is_bad_and_ends(void **state)
{
    (void)state;
    static const char *const bad[] = { "", "{", "}", "[]", "{\"a\"}", "{\"a\":}", "{\"a\":\"x}",
        "{\"a\":\"\\n\"}", "{\"a\":\"x\",}", "{\"n\":01}", "{\"n\":-1}", "{\"n\":1.0}", "{\"n\":1e2}",
        "{\"n\":4294967296}", "{\"t\":}", "{\"t\":1.}", "{\"t\":1e}", "{\"l\":[1,]}", "{\"l\":[1 2]}",
        "{\"l\":[", "{\"b\":1}", "{} x", "{\"n\":1 \"n\":2}", "{\"a\":\"x\n\"}", "{\"a\t\":\"x\"}" };
    struct span a;
    uint32_t n, sum;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (fields_read(bad[i], &a, &n, &sum))
            fail_msg("%s was read", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_text_is_read),
        cmocka_unit_test(everything_else_is_bad_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
