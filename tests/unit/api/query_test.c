/* SPDX-License-Identifier: Apache-2.0 */
#include "api/query.h"

#include "tests/unit/base/unit.h"

static const char *wrong(const char *query, const char *known)
{
    static char error[QUERY_ERROR];
    return query_check(span_from_string(query), known, error) ? "" : error;
}

static void known_members_are_taken_once_each(void **state)
{
    (void)state;
    assert_string_equal(wrong("", ""), "");
    assert_string_equal(wrong("", "item"), "");
    assert_string_equal(wrong("item=1", "item"), "");
    assert_string_equal(wrong("item=1&state=paid", "state item"), "");
    assert_string_equal(wrong("item=1&&state=paid&", "state item"), "");
    assert_string_equal(wrong("item=a=b", "item"), "");
}

static void a_member_that_is_wrong_is_named(void **state)
{
    (void)state;
    assert_non_null(strstr(wrong("itm=1", "item"), "itm"));
    assert_non_null(strstr(wrong("itm=1", "item"), "Allowed are: item."));
    assert_non_null(strstr(wrong("items=1", "item"), "items"));
    assert_non_null(strstr(wrong("ite=1", "item"), "ite."));
    assert_non_null(strstr(wrong("x", ""), "None is allowed."));
    assert_non_null(strstr(wrong("item", "item"), "no value"));
    assert_non_null(strstr(wrong("item=", "item"), "no value"));
    assert_non_null(strstr(wrong("item=1&item=2", "item"), "twice"));
    assert_non_null(strstr(wrong("=1", "item"), "query parameter"));
    assert_non_null(strstr(wrong("it%65m=1", "item"), "it%65m"));
}

static void a_long_name_is_cut(void **state)
{
    char query[1000];
    (void)state;
    memset(query, 'x', sizeof query - 1);
    query[sizeof query - 1] = 0;
    assert_true(
        strlen(wrong(query, "after item sale state from_ms to_ms user before limit")) < QUERY_ERROR);
}

static void a_value_is_found_by_its_whole_name(void **state)
{
    const struct span query = SPAN("items=3&item=7&it=1");
    (void)state;
    assert_true(span_equal(query_value(query, "item"), SPAN("7")));
    assert_true(span_equal(query_value(query, "it"), SPAN("1")));
    assert_null(query_value(query, "i").data);
}

static void a_text_is_decoded_or_refused(void **state)
{
    char out[8];
    (void)state;
    assert_true(query_text(SPAN("a%20b%2F"), out, sizeof out - 1));
    assert_string_equal(out, "a b/");
    assert_true(query_text(SPAN("1234567"), out, sizeof out - 1));
    assert_false(query_text(SPAN("12345678"), out, sizeof out - 1));
    assert_false(query_text(SPAN("%2"), out, sizeof out - 1));
    assert_false(query_text(SPAN("%"), out, sizeof out - 1));
    assert_false(query_text(SPAN("%zz"), out, sizeof out - 1));
    assert_false(query_text(SPAN("%00"), out, sizeof out - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_members_are_taken_once_each),
        cmocka_unit_test(a_member_that_is_wrong_is_named),
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(a_value_is_found_by_its_whole_name),
        cmocka_unit_test(a_text_is_decoded_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
