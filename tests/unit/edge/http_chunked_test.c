/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/http_chunked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BODY_MAX = 20000 };

static void place(char *at, struct span bytes)
{
    memcpy(at, bytes.data, bytes.size);
}

static enum http_parse_result measure(
    const char *data, size_t size, size_t *bytes, struct http_refusal *refusal)
{
    char *copy = malloc(size == 0 ? 1 : size); /* exactly as long, for ASan */
    assert_non_null(copy);
    memcpy(copy, data, size);
    enum http_parse_result result = http_chunked_measure(span_of(copy, size), BODY_MAX, bytes, refusal);
    free(copy);
    return result;
}

/* Cut anywhere, it is partial until all is there, and a refusal is the same as for the whole. */
static void expect_same_when_cut(const char *data, size_t size, enum http_parse_result whole, int status)
{
    for (size_t cut = 0; cut < size; cut++) {
        size_t bytes = 0;
        struct http_refusal refusal = { .status = 0 };
        enum http_parse_result result = measure(data, cut, &bytes, &refusal);
        if (result == HTTP_PARSE_PARTIAL) {
            assert_true(bytes > cut);
        } else {
            assert_int_equal(result, whole);
            assert_int_equal(refusal.status, status);
        }
    }
}

static void decoded(const char *encoded, const char *body)
{
    size_t size = strlen(encoded), bytes = 0;
    struct http_refusal refusal;
    assert_int_equal(measure(encoded, size, &bytes, &refusal), HTTP_PARSE_COMPLETE);
    assert_int_equal(bytes, size);
    expect_same_when_cut(encoded, size, HTTP_PARSE_COMPLETE, 0);
    char *copy = malloc(size);
    assert_non_null(copy);
    place(copy, span_of(encoded, size));
    size_t got = http_chunked_decode(copy, size);
    assert_int_equal(got, strlen(body));
    assert_memory_equal(copy, body, got);
    free(copy);
}

static void refused_bytes(int status, const char *data, size_t size)
{
    size_t bytes = 0;
    struct http_refusal refusal = { .status = 0 };
    assert_int_equal(measure(data, size, &bytes, &refusal), HTTP_PARSE_REFUSED);
    assert_int_equal(refusal.status, status);
    expect_same_when_cut(data, size, HTTP_PARSE_REFUSED, status);
}

static void refused(int status, const char *encoded)
{
    refused_bytes(status, encoded, strlen(encoded));
}

static void chunks_are_put_together(void **state)
{
    (void)state;
    decoded("0\r\n\r\n", "");
    decoded("3\r\nabc\r\n0\r\n\r\n", "abc");
    decoded("3\r\nabc\r\n00A\r\n0123456789\r\n1\r\nx\r\n000\r\n\r\n", "abc0123456789x");
    decoded("2\r\n\r\n\r\n0\r\n\r\n", "\r\n");
}

static void extensions_and_trailers_are_checked_and_ignored(void **state)
{
    (void)state;
    decoded("3;name=\"v\"; x\r\nabc\r\n0;last\r\nTrailer: x\r\nContent-Length: 7\r\n\r\n", "abc");
    refused(400, "3;a\nb\r\nabc\r\n0\r\n\r\n");
    refused(400, "3;a\rb\r\nabc\r\n0\r\n\r\n");
    refused(400, "0\r\nno colon\r\n\r\n");
    refused(400, "0\r\n: x\r\n\r\n");
    refused(400, "0\r\nA : x\r\n\r\n");
    refused(400, "0\r\n folded: x\r\n\r\n");
    refused(400, "0\r\nA: x\n\r\n");
    refused(400, "0\r\nA: \x01\r\n\r\n");
    refused(400, "0\r\n\rx");
}

static void sizes_are_hexadecimal_digits_and_nothing_else(void **state)
{
    (void)state;
    refused(400, "\r\nabc");
    refused(400, "g\r\n");
    refused(400, " 3\r\nabc\r\n");
    refused(400, "3 \r\nabc\r\n");
    refused(400, "3 ;x\r\nabc\r\n");
    refused(400, "+3\r\nabc\r\n");
    refused(400, "-3\r\nabc\r\n");
    refused(400, "0x3\r\nabc\r\n");
    refused(400, "3\nabc\r\n");
    refused(400, "3\rabc\r\n");
    refused(400, "000000003\r\nabc\r\n0\r\n\r\n");
    refused(400, "FFFFFFFFF\r\n");
    refused(413, "FFFFFFFF\r\n");
}

static void data_is_as_long_as_its_size_says(void **state)
{
    (void)state;
    refused(400, "3\r\nabcd\r\n0\r\n\r\n");
    refused(400, "3\r\nab\r\n0\r\n\r\n");
    refused(400, "3\r\nabc\n0\r\n\r\n");
    refused(400, "3\r\nabc\rx0\r\n\r\n");
    refused(400, "3\r\nabcx\n0\r\n\r\n");
}

static void the_least_size_that_helps_is_told(void **state)
{
    (void)state;
    size_t bytes = 0;
    struct http_refusal refusal;
    assert_int_equal(measure("a\r\n012", 6, &bytes, &refusal), HTTP_PARSE_PARTIAL);
    assert_int_equal(bytes, 3 + 10 + 1);
    assert_int_equal(measure("a\r\n0123456789", 13, &bytes, &refusal), HTTP_PARSE_PARTIAL);
    assert_int_equal(bytes, 3 + 10 + 1);
    assert_int_equal(measure("a\r\n0123456789\r", 14, &bytes, &refusal), HTTP_PARSE_PARTIAL);
    assert_int_equal(bytes, 3 + 10 + 2);
}

static void everything_has_a_bound(void **state)
{
    (void)state;
    static char text[HTTP_CHUNK_OVERHEAD_MAX * 2];
    /* One size line of exactly the limit, and one byte more. */
    memset(text, 'x', sizeof(text));
    place(text, SPAN("0;"));
    place(text + HTTP_CHUNK_LINE_MAX - 2, SPAN("\r\n\r\n"));
    size_t bytes = 0;
    struct http_refusal refusal;
    assert_int_equal(measure(text, HTTP_CHUNK_LINE_MAX + 2, &bytes, &refusal), HTTP_PARSE_COMPLETE);
    memset(text + 2, 'x', HTTP_CHUNK_LINE_MAX);
    place(text + HTTP_CHUNK_LINE_MAX - 1, SPAN("\r\n\r\n"));
    refused_bytes(400, text, HTTP_CHUNK_LINE_MAX + 3);

    memset(text, 'x', sizeof(text));
    place(text, SPAN("0\r\nA:"));
    place(text + 3 + HTTP_TRAILERS_MAX - 4, SPAN("\r\n\r\n"));
    assert_int_equal(measure(text, 3 + HTTP_TRAILERS_MAX, &bytes, &refusal), HTTP_PARSE_COMPLETE);
    memset(text + 5, 'x', HTTP_TRAILERS_MAX);
    place(text + 3 + HTTP_TRAILERS_MAX - 3, SPAN("\r\n\r\n"));
    refused_bytes(431, text, 3 + HTTP_TRAILERS_MAX + 1);

    size_t size = 0;
    while (size + 6 <= sizeof(text)) { /* a byte a chunk */
        place(text + size, SPAN("1\r\nx\r\n"));
        size += 6;
    }
    refused_bytes(413, text, size);
}

static void bodies_longer_than_allowed_are_refused_by_their_sizes(void **state)
{
    (void)state;
    size_t bytes = 0;
    struct http_refusal refusal;
    assert_int_equal(measure("4e20\r\n", 6, &bytes, &refusal), HTTP_PARSE_PARTIAL); /* 20000 */
    refused(413, "4e21\r\n");
    refused(413, "1\r\nx\r\n4e20\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_put_together),
        cmocka_unit_test(extensions_and_trailers_are_checked_and_ignored),
        cmocka_unit_test(sizes_are_hexadecimal_digits_and_nothing_else),
        cmocka_unit_test(data_is_as_long_as_its_size_says),
        cmocka_unit_test(the_least_size_that_helps_is_told),
        cmocka_unit_test(everything_has_a_bound),
        cmocka_unit_test(bodies_longer_than_allowed_are_refused_by_their_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
