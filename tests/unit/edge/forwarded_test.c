/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/forwarded.h"

#include "tests/unit/base/unit.h"

static struct trusted trusted;

static int start(void **state)
{
    struct span bad;
    (void)state;
    return trusted_parse(&trusted, SPAN("10.0.0.0/8, 2001:db8::/32 192.0.2.1"), &bad) == STATUS_OK ? 0 : 1;
}

static void expect(const char *lines, const char *wanted)
{
    char bytes[ADDRESS_CHARS_MAX + 1] = { 0 };
    struct text out = text_in(bytes, ADDRESS_CHARS_MAX);
    struct address client = address_from_v4("\x0a\0\0\1");
    forwarded_client(&trusted, span_from_string(lines), &client);
    address_text(&out, &client);
    assert_string_equal(bytes, wanted);
}

static void the_rightmost_hop_that_is_not_trusted_is_the_client(void **state)
{
    (void)state;
    expect("X-Forwarded-For: 203.0.113.7\r\n", "203.0.113.7");
    expect("Host: a\r\nx-forwarded-FOR:203.0.113.7,10.9.9.9\r\nAccept: b\r\n", "203.0.113.7");
    expect("X-Forwarded-For: 1.1.1.1, 203.0.113.7 ,\t10.9.9.9, 192.0.2.1\r\n", "203.0.113.7");
    expect("X-Forwarded-For: 2001:db9::1, 2001:db8::5\r\n", "2001:db9::1");
    expect("X-Forwarded-For: ::ffff:203.0.113.7\r\n", "203.0.113.7");
}

static void several_lines_are_one_list(void **state)
{
    (void)state;
    expect("X-Forwarded-For: 1.1.1.1\r\nHost: a\r\nX-Forwarded-For: 10.0.0.9\r\n", "1.1.1.1");
    expect("X-Forwarded-For: 1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n", "2.2.2.2");
}

static void nothing_but_trusted_hops_means_the_first_of_them(void **state)
{
    (void)state;
    expect("X-Forwarded-For: 10.3.0.1, 10.2.0.1\r\n", "10.3.0.1");
    expect("Host: a\r\n", "10.0.0.1");
    expect("", "10.0.0.1");
}

static void a_malformed_entry_ends_the_walk_at_the_last_good_hop(void **state)
{
    (void)state;
    expect("X-Forwarded-For: 203.0.113.7, unknown, 10.2.0.1\r\n", "10.2.0.1");
    expect("X-Forwarded-For: 203.0.113.7:4711\r\n", "10.0.0.1");
    expect("X-Forwarded-For: [2001:db9::1]\r\n", "10.0.0.1");
    expect("X-Forwarded-For: 203.0.113.7,\r\n", "10.0.0.1");
    expect("X-Forwarded-For:\r\n", "10.0.0.1");
    expect("X-Forwarded-For: 203.0.113.7, ,10.2.0.1\r\n", "10.2.0.1");
    expect("X-Forwarded-For: 203.0.113.007\r\n", "10.0.0.1");
    expect("X-Forwarded-Fo: 203.0.113.7\r\nX-Forwarded-For-: 1.1.1.1\r\n", "10.0.0.1");
}

static void expect_repeated(
    const char *first, const char *again, int times, const char *end, const char *wanted)
{
    char lines[8192];
    struct text text = text_in(lines, sizeof lines - 1);
    text_string(&text, first);
    for (int i = 0; i < times; i++)
        text_string(&text, again);
    text_string(&text, end);
    assert_false(text.overflow);
    lines[text.size] = 0;
    expect(lines, wanted);
}

static void hops_and_lines_are_bounded(void **state)
{
    static const char first[] = "X-Forwarded-For: 203.0.113.7";
    (void)state;
    expect_repeated(first, ",10.0.0.9", FORWARDED_HOPS_MAX - 1, "\r\n", "203.0.113.7");
    expect_repeated(first, ",10.0.0.9", FORWARDED_HOPS_MAX, "\r\n", "10.0.0.9");
    expect_repeated(
        first, "\r\nX-Forwarded-For: 10.0.0.8", FORWARDED_LINES_MAX - 1, "\r\n", "203.0.113.7");
    expect_repeated(first, "\r\nX-Forwarded-For: 10.0.0.8", FORWARDED_LINES_MAX, "\r\n", "10.0.0.8");
}

static void a_list_of_blocks_is_read_whole_or_refused(void **state)
{
    struct trusted list;
    struct span bad;
    char many[1024];
    struct text text = text_in(many, sizeof many);
    (void)state;
    assert_int_equal(trusted_parse(&list, SPAN_NONE, &bad), STATUS_OK);
    assert_int_equal(list.count, 0);
    assert_int_equal(trusted_parse(&list, SPAN(" 10.0.0.0/8 ,, ::1 "), &bad), STATUS_OK);
    assert_int_equal(list.count, 2);
    assert_int_equal(trusted_parse(&list, SPAN("10.0.0.0/8,proxy.example"), &bad), STATUS_BAD_INPUT);
    assert_true(span_equal(bad, SPAN("proxy.example")));
    for (int i = 0; i < TRUSTED_BLOCKS_MAX; i++)
        text_literal(&text, "10.0.0.1 ");
    assert_int_equal(trusted_parse(&list, text_span(&text), &bad), STATUS_OK);
    text_literal(&text, "10.0.0.2");
    assert_int_equal(trusted_parse(&list, text_span(&text), &bad), STATUS_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rightmost_hop_that_is_not_trusted_is_the_client),
        cmocka_unit_test(several_lines_are_one_list),
        cmocka_unit_test(nothing_but_trusted_hops_means_the_first_of_them),
        cmocka_unit_test(a_malformed_entry_ends_the_walk_at_the_last_good_hop),
        cmocka_unit_test(hops_and_lines_are_bounded),
        cmocka_unit_test(a_list_of_blocks_is_read_whole_or_refused),
    };
    return cmocka_run_group_tests_name("edge/forwarded", tests, start, NULL);
}
