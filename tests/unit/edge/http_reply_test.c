/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/http_reply.h"

#include "edge/http_date.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static char room[1024];

#define DATE "\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT"
#define NOSNIFF "\r\nX-Content-Type-Options: nosniff\r\n"

static int date_set(void **state)
{
    (void)state;
    http_date_turn(784111777000);
    return 0;
}

static void expect(const struct text *out, const char *text)
{
    assert_false(out->overflow);
    assert_int_equal(out->size, strlen(text));
    assert_memory_equal(out->data, text, out->size);
}

static void a_reply_has_its_type_and_length(void **state)
{
    (void)state;
    struct text out = text_in(room, sizeof(room));
    http_reply(&out, 200, SPAN("text/plain"), SPAN_NONE, SPAN("hello"), false);
    expect(&out,
        "HTTP/1.1 200 OK" DATE "\r\nContent-Type: text/plain\r\nContent-Length: 5" NOSNIFF
        "\r\nhello");
}

static void a_problem_is_not_to_be_kept(void **state)
{
    (void)state;
    struct text out = text_in(room, sizeof(room));
    http_reply(&out, 404, SPAN("application/problem+json"), SPAN_NONE, SPAN("{}"), false);
    expect(&out,
        "HTTP/1.1 404 Not Found" DATE
        "\r\nContent-Type: application/problem+json\r\nContent-Length: 2"
        "\r\nCache-Control: no-store" NOSNIFF "\r\n{}");
}

static void extra_headers_and_closing_are_said(void **state)
{
    (void)state;
    struct text out = text_in(room, sizeof(room));
    http_reply(&out, 429, SPAN("a/b"), SPAN("Retry-After: 2\r\nX: y\r\n"), SPAN(""), true);
    expect(&out,
        "HTTP/1.1 429 Too Many Requests" DATE "\r\nContent-Type: a/b\r\nContent-Length: 0\r\n"
        "Connection: close" NOSNIFF "Retry-After: 2\r\nX: y\r\n\r\n");
}

static void replies_without_a_body_have_no_length(void **state)
{
    (void)state;
    struct text out = text_in(room, sizeof(room));
    http_reply(&out, 204, SPAN_NONE, SPAN_NONE, SPAN_NONE, false);
    http_reply(&out, 304, SPAN_NONE, SPAN("ETag: \"a\"\r\n"), SPAN_NONE, false);
    expect(&out,
        "HTTP/1.1 204 No Content" DATE NOSNIFF "\r\nHTTP/1.1 304 Not Modified" DATE NOSNIFF
        "ETag: \"a\"\r\n\r\n");
}

static void too_little_room_is_told(void **state)
{
    (void)state;
    struct text out = text_in(room, 20);
    http_reply(&out, 200, SPAN("text/plain"), SPAN_NONE, SPAN("hello"), false);
    assert_true(out.overflow);
}

static void reasons_are_those_of_the_registry(void **state)
{
    (void)state;
    assert_string_equal(http_reason(413), "Content Too Large");
    assert_string_equal(http_reason(505), "HTTP Version Not Supported");
    assert_string_equal(http_reason(299), "Unknown");
}

static void cutting_a_body_leaves_the_head_and_what_was_before(void **state)
{
    (void)state;
    struct text out = text_in(room, sizeof(room));
    text_literal(&out, "A: b\r\n\r\nbody one|");
    size_t from = out.size;
    text_literal(&out, "C: d\r\n\r\nbody\r\n\r\n");
    http_reply_cut_body(&out, from);
    expect(&out, "A: b\r\n\r\nbody one|C: d\r\n\r\n");
    http_reply_cut_body(&out, out.size);
    expect(&out, "A: b\r\n\r\nbody one|C: d\r\n\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reply_has_its_type_and_length),
        cmocka_unit_test(a_problem_is_not_to_be_kept),
        cmocka_unit_test(extra_headers_and_closing_are_said),
        cmocka_unit_test(replies_without_a_body_have_no_length),
        cmocka_unit_test(too_little_room_is_told),
        cmocka_unit_test(reasons_are_those_of_the_registry),
        cmocka_unit_test(cutting_a_body_leaves_the_head_and_what_was_before),
    };
    return cmocka_run_group_tests(tests, date_set, NULL);
}
