/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_write.h"

#include "tests/unit/base/unit.h"

static char bytes[256];

static struct text fresh(void)
{
    memset(bytes, 0, sizeof bytes);
    return text_in(bytes, sizeof bytes - 1);
}

static void commas_stand_between_values_and_nowhere_else(void **state)
{
    (void)state;
    struct text out = fresh();
    json_object_begin(&out, NULL);
    json_u64(&out, "id", UINT64_MAX);
    json_i64(&out, "delta", -5);
    json_list_begin(&out, "rows");
    json_object_begin(&out, NULL);
    json_object_end(&out);
    json_object_begin(&out, NULL);
    json_bool(&out, "up", true);
    json_bool(&out, "down", false);
    json_object_end(&out);
    json_u64(&out, NULL, 0);
    json_list_end(&out);
    json_list_begin(&out, "none");
    json_list_end(&out);
    json_hex(&out, "order", 0xabc);
    json_object_end(&out);
    assert_string_equal(bytes,
        "{\"id\":18446744073709551615,\"delta\":-5,\"rows\":[{},{\"up\":true,\"down\":false},0],"
        "\"none\":[],\"order\":\"0000000000000abc\"}");
}

static void texts_are_escaped_and_may_end_like_an_opening(void **state)
{
    (void)state;
    struct text out = fresh();
    json_object_begin(&out, NULL);
    json_text(&out, "a", "say \"{\"");
    json_text(&out, "b", "[");
    json_text(&out, "c", "");
    json_object_end(&out);
    assert_string_equal(bytes, "{\"a\":\"say \\\"{\\\"\",\"b\":\"[\",\"c\":\"\"}");
}

static void a_value_of_others_gets_its_comma_and_name(void **state)
{
    (void)state;
    struct text out = fresh();
    json_object_begin(&out, NULL);
    json_value(&out, "images");
    text_literal(&out, "[1]");
    json_value(&out, "more");
    text_literal(&out, "{}");
    json_object_end(&out);
    assert_string_equal(bytes, "{\"images\":[1],\"more\":{}}");
}

static void what_does_not_fit_overflows_and_writes_no_further(void **state)
{
    (void)state;
    struct text out = text_in(bytes, 4);
    json_object_begin(&out, NULL);
    json_text(&out, "name", "value");
    assert_true(out.overflow);
    assert_true(out.size <= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_stand_between_values_and_nowhere_else),
        cmocka_unit_test(texts_are_escaped_and_may_end_like_an_opening),
        cmocka_unit_test(a_value_of_others_gets_its_comma_and_name),
        cmocka_unit_test(what_does_not_fit_overflows_and_writes_no_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
