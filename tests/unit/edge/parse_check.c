/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/edge/parse_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct outcome parse_bytes(const char *data, size_t size)
{
    static char *copy;
    struct outcome outcome = { .bytes = 0 };
    free(copy);
    copy = malloc(size == 0 ? 1 : size);
    assert_non_null(copy);
    memcpy(copy, data, size);
    outcome.result = http_parse(
        span_of(copy, size), PARSE_BODY_MAX, &outcome.request, &outcome.bytes, &outcome.refusal);
    return outcome;
}

struct outcome parse_text(const char *text)
{
    return parse_bytes(text, strlen(text));
}

void expect_span(struct span span, const char *text)
{
    if (text == NULL) {
        assert_null(span.data);
        assert_int_equal(span.size, 0);
        return;
    }
    assert_non_null(span.data);
    assert_int_equal(span.size, strlen(text));
    assert_memory_equal(span.data, text, span.size);
}

/* However it is cut, the prefix is partial, and a refusal comes only once and is always the
 * same. */
static void expect_same_when_cut(const char *data, size_t size)
{
    struct outcome whole = parse_bytes(data, size);
    for (size_t cut = 0; cut < size; cut++) {
        struct outcome part = parse_bytes(data, cut);
        if (part.result == HTTP_PARSE_REFUSED) {
            assert_int_equal(whole.result, HTTP_PARSE_REFUSED);
            assert_int_equal(part.refusal.status, whole.refusal.status);
            assert_string_equal(part.refusal.why, whole.refusal.why);
        } else if (part.result == HTTP_PARSE_COMPLETE) {
            assert_int_equal(whole.result, HTTP_PARSE_COMPLETE);
            assert_int_equal(part.bytes, whole.bytes);
            assert_true(part.bytes <= cut);
        } else {
            assert_true(part.bytes > cut);
            assert_true(whole.result != HTTP_PARSE_COMPLETE || part.bytes <= whole.bytes);
        }
    }
}

struct outcome accepted(const char *text)
{
    struct outcome outcome = parse_text(text);
    if (outcome.result == HTTP_PARSE_REFUSED)
        fail_msg("refused %d %s: %s", outcome.refusal.status, outcome.refusal.why, text);
    assert_int_equal(outcome.result, HTTP_PARSE_COMPLETE);
    expect_same_when_cut(text, strlen(text));
    return parse_text(text);
}

void refused_bytes(int status, const char *data, size_t size)
{
    struct outcome outcome = parse_bytes(data, size);
    if (outcome.result != HTTP_PARSE_REFUSED || outcome.refusal.status != status)
        fail_msg("wanted %d, got result %d status %d: %.*s", status, outcome.result,
            outcome.result == HTTP_PARSE_REFUSED ? outcome.refusal.status : 0, (int)size, data);
    assert_non_null(outcome.refusal.why);
    expect_same_when_cut(data, size);
}

void refused(int status, const char *text)
{
    refused_bytes(status, text, strlen(text));
}
