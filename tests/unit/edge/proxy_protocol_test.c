/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/proxy_protocol.h"

#include "tests/unit/base/unit.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"

static struct address client;
static size_t bytes;
static const char *why;

static enum proxy_result parse(struct span input)
{
    client = address_from_v4("\x7f\0\0\1");
    bytes = 0;
    why = NULL;
    return proxy_parse(input, &client, &bytes, &why);
}

static void expect_client(struct span input, size_t size, const char *wanted)
{
    struct address address;
    assert_int_equal(address_parse(span_from_string(wanted), &address), STATUS_OK);
    /* Whole, followed by a request, and byte by byte. */
    assert_int_equal(parse(input), PROXY_COMPLETE);
    assert_int_equal(bytes, size);
    assert_true(address_equal(&client, &address));
    for (size_t cut = 0; cut < size; cut++) {
        assert_int_equal(parse(span_of(input.data, cut)), PROXY_PARTIAL);
        assert_in_range(bytes, cut + 1, size);
    }
}

static void a_line_names_the_client(void **state)
{
    (void)state;
    expect_client(
        SPAN("PROXY TCP4 203.0.113.7 10.0.0.1 56324 443\r\nGET / HTTP/1.1\r\n"), 43, "203.0.113.7");
    expect_client(SPAN("PROXY TCP6 2001:db8::7 2001:db8::1 1 65535\r\n"), 44, "2001:db8::7");
    expect_client(SPAN("PROXY UNKNOWN\r\n"), 15, "127.0.0.1");
    expect_client(SPAN("PROXY UNKNOWN whatever it says\r\n"), 32, "127.0.0.1");
}

static void a_malformed_line_is_refused(void **state)
{
    static const char *const bad[] = { "PROXY TCP4 203.0.113.7 10.0.0.1 56324\r\n",
        "PROXY TCP4 203.0.113.7 10.0.0.1 56324 443 \r\n",
        "PROXY TCP4  203.0.113.7 10.0.0.1 1 2\r\n", "PROXY TCP4 203.0.113.7 10.0.0.1 65536 443\r\n",
        "PROXY TCP4 203.0.113.7 10.0.0.1 01 443\r\n", "PROXY TCP4 2001:db8::7 10.0.0.1 1 2\r\n",
        "PROXY TCP6 203.0.113.7 10.0.0.1 1 2\r\n", "PROXY TCP5 203.0.113.7 10.0.0.1 1 2\r\n",
        "PROXY tcp4 203.0.113.7 10.0.0.1 1 2\r\n", "PROXY TCP4 203.0.113.256 10.0.0.1 1 2\r\n",
        "PROXY UNKNOWNX\r\n", "PROXY \r\n", "PROXY TCP4 203.0.113.7 10.0.0.1 1 2\nGET / HTTP/1.1\r\n",
        "proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n", "GET / HTTP/1.1\r\n", "PROXYTCP4", "X" };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(parse(span_from_string(bad[i])), PROXY_REFUSED);
        assert_non_null(why);
    }
}

static void a_line_without_an_end_is_refused_at_its_bound(void **state)
{
    char line[PROXY_LINE_MAX + 1];
    (void)state;
    memset(line, 'x', sizeof line);
    memcpy(line, "PROXY UNKNOWN ", 14);
    assert_int_equal(parse(span_of(line, PROXY_LINE_MAX - 1)), PROXY_PARTIAL);
    assert_int_equal(parse(span_of(line, PROXY_LINE_MAX)), PROXY_REFUSED);
    memcpy(line + PROXY_LINE_MAX - 2, "\r\n", 2);
    assert_int_equal(parse(span_of(line, PROXY_LINE_MAX)), PROXY_COMPLETE);
    memcpy(line + PROXY_LINE_MAX - 2, "x\r\n", 3);
    assert_int_equal(parse(span_of(line, PROXY_LINE_MAX + 1)), PROXY_REFUSED);
}

static void a_block_names_the_client(void **state)
{
    (void)state;
    expect_client(SPAN(SIGNATURE "\x21\x11\0\x0c\xcb\0\x71\x07\x0a\0\0\1\xdc\x04\x01\xbbGET"), 28,
        "203.0.113.7");
    /* TLVs behind the addresses are skipped. */
    expect_client(SPAN(SIGNATURE "\x21\x11\0\x10\xcb\0\x71\x07\x0a\0\0\1\xdc\x04\x01\xbb\x04\0\1x"),
        32, "203.0.113.7");
    expect_client(SPAN(SIGNATURE "\x21\x21\0\x24\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\7"
                                 "\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\0\1\0\2"),
        52, "2001:db8::7");
    expect_client(SPAN(SIGNATURE "\x20\0\0\0"), 16, "127.0.0.1");
    expect_client(
        SPAN(SIGNATURE "\x20\x11\0\x0c\xcb\0\x71\x07\x0a\0\0\1\xdc\x04\x01\xbb"), 28, "127.0.0.1");
    expect_client(SPAN(SIGNATURE "\x21\0\0\0"), 16, "127.0.0.1");
}

static void a_malformed_block_is_refused(void **state)
{
    (void)state;
    assert_int_equal(parse(SPAN(SIGNATURE "\x31\x11\0\x0c")), PROXY_REFUSED); /* version 3 */
    assert_int_equal(parse(SPAN(SIGNATURE "\x22\x11\0\x0c")), PROXY_REFUSED); /* no such command */
    assert_int_equal(parse(SPAN(SIGNATURE "\x21\x12\0\x0c"
                                          "aaaabbbbccdd")),
        PROXY_REFUSED); /* UDP */
    assert_int_equal(parse(SPAN(SIGNATURE "\x21\x11\0\x0b"
                                          "aaaabbbbccd")),
        PROXY_REFUSED); /* short */
    assert_int_equal(parse(SPAN(SIGNATURE "\x21\x21\0\x0c"
                                          "aaaabbbbccdd")),
        PROXY_REFUSED);
    assert_int_equal(parse(SPAN("\r\n\r\nGET / HTTP/1.1\r\n")), PROXY_REFUSED);
    /* 16 + 2032 is the most. */
    assert_int_equal(parse(SPAN(SIGNATURE "\x21\x11\x07\xf0")), PROXY_PARTIAL);
    assert_int_equal(parse(SPAN(SIGNATURE "\x21\x11\x07\xf1")), PROXY_REFUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_names_the_client),
        cmocka_unit_test(a_malformed_line_is_refused),
        cmocka_unit_test(a_line_without_an_end_is_refused_at_its_bound),
        cmocka_unit_test(a_block_names_the_client),
        cmocka_unit_test(a_malformed_block_is_refused),
    };
    return cmocka_run_group_tests_name("edge/proxy_protocol", tests, NULL, NULL);
}
