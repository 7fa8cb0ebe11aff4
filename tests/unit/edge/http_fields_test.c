/* SPDX-License-Identifier: Apache-2.0 */
/* What each header means, and which of them are refused. */
#include "tests/unit/edge/parse_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void names_ignore_case_and_values_lose_only_the_space_around_them(void **state)
{
    (void)state;
    struct outcome outcome = accepted(
        "GET / HTTP/1.1\r\nhOST:t\r\nsTAMPEDE-pASS: \t a b\tc \t\r\nCONTENT-LENGTH: 1\r\n\r\nx");
    expect_span(outcome.request.host, "t");
    expect_span(outcome.request.pass, "a b\tc");
    expect_span(outcome.request.body, "x");
}

static void a_name_is_only_itself(void **state)
{
    (void)state;
    struct outcome outcome =
        accepted("GET / HTTP/1.1\r\nHost: t\r\nStampede_Pass: a\r\nXtampede-Pass: b\r\n"
                 "Stampede-Pasx: c\r\nContent.Length: 9\r\nContent-Lengtg: 9\r\nHosu: z\r\n\r\n");
    expect_span(outcome.request.pass, NULL);
    assert_int_equal(outcome.request.body.size, 0);
    refused(400, "GET / HTTP/1.1\r\nHost: t\r\nContent\rLength: 9\r\n\r\n"); /* CR | 0x20 is '-' */
}

static void host_is_there_once_and_well_formed(void **state)
{
    (void)state;
    accepted("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n");
    accepted("GET / HTTP/1.1\r\nHost: "
             "a-very-long-name.with-many-labels.shop.example_x.org:65535\r\n\r\n");
    refused(400, "GET / HTTP/1.1\r\n\r\n");
    refused(400, "GET / HTTP/1.1\r\nX: y\r\n\r\n");
    refused(400, "GET / HTTP/1.1\r\nHost: t\r\nHost: t\r\n\r\n");
    refused(400, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n");
    refused(400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n");
    refused(400, "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n");
    refused(400, "GET / HTTP/1.1\r\nHost: a-very-long-name.with-many-labels.shop.example/x.org\r\n\r\n");
}

static void content_length_is_one_number(void **state)
{
    (void)state;
    accepted(HEAD_WITH("Content-Length: 003\r\n") "abc");
    refused(400, HEAD_WITH("Content-Length: 3\r\nContent-Length: 3\r\n") "abc");
    refused(400, HEAD_WITH("Content-Length: 3, 3\r\n") "abc");
    refused(400, HEAD_WITH("Content-Length:\r\n"));
    refused(400, HEAD_WITH("Content-Length: +3\r\n") "abc");
    refused(400, HEAD_WITH("Content-Length: -1\r\n") "abc");
    refused(400, HEAD_WITH("Content-Length: 0x3\r\n") "abc");
    refused(400, HEAD_WITH("Content-Length: 3 3\r\n") "abc");
    refused(400, HEAD_WITH("Content-Length: 18446744073709551616\r\n"));
    refused(413, HEAD_WITH("Content-Length: 9999999999999999999\r\n"));
    refused(413, HEAD_WITH("Content-Length: 1001\r\n"));
    struct outcome outcome = parse_text(HEAD_WITH("Content-Length: 1000\r\n"));
    assert_int_equal(outcome.result, HTTP_PARSE_PARTIAL);
    assert_int_equal(outcome.bytes, outcome.request.head_bytes + 1000);
}

static void transfer_encoding_is_chunked_alone_and_without_content_length(void **state)
{
    (void)state;
    assert_true(accepted(HEAD_WITH("Transfer-Encoding: Chunked\r\n") "0\r\n\r\n").request.chunked);
    refused(400, HEAD_WITH("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") "0\r\n\r\n");
    refused(400, HEAD_WITH("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") "0\r\n\r\n");
    refused(400, HEAD_WITH("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") "0\r\n\r\n");
    refused(400, HEAD_WITH("Transfer-Encoding: chunked, gzip\r\n") "0\r\n\r\n");
    refused(400, HEAD_WITH("Transfer-Encoding: identity\r\n") "0\r\n\r\n");
    refused(400, HEAD_WITH("Transfer-Encoding:\r\n") "0\r\n\r\n");
    refused(400, HEAD_WITH("Transfer-Encoding: xchunked\r\n") "0\r\n\r\n");
    refused(501, HEAD_WITH("Transfer-Encoding: gzip, chunked\r\n") "0\r\n\r\n");
    refused(501, HEAD_WITH("Transfer-Encoding: chunked, chunked\r\n") "0\r\n\r\n");
    refused(400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
}

static void expectations_are_continue_or_refused(void **state)
{
    (void)state;
    struct outcome outcome = parse_text(HEAD_WITH("Expect: 100-Continue\r\nContent-Length: 1\r\n"));
    assert_int_equal(outcome.result, HTTP_PARSE_PARTIAL);
    assert_true(outcome.request.head_bytes > 0 && outcome.request.expect_continue);
    refused(417, HEAD_WITH("Expect: 200-ok\r\n"));
    assert_false(accepted("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n").request.expect_continue);
}

static void connection_close_is_found_in_its_list(void **state)
{
    (void)state;
    assert_false(accepted(HEAD_WITH("Connection: close\r\n")).request.keep_alive);
    assert_false(accepted(HEAD_WITH("Connection: x ,\tCLOSE , y\r\n")).request.keep_alive);
    assert_false(accepted(HEAD_WITH("Connection: x\r\nConnection: close\r\n")).request.keep_alive);
    assert_true(accepted(HEAD_WITH("Connection: closed, keep-alive\r\n")).request.keep_alive);
}

static void headers_that_decide_something_stand_alone(void **state)
{
    (void)state;
    refused(400, HEAD_WITH("Stampede-Pass: a\r\nStampede-Pass: b\r\n"));
    refused(400, HEAD_WITH("Authorization: a\r\nAuthorization: b\r\n"));
    refused(400, HEAD_WITH("Idempotency-Key: a\r\nIdempotency-Key: b\r\n"));
    refused(400, HEAD_WITH("Content-Type: a\r\nContent-Type: b\r\n"));
    refused(400, HEAD_WITH("Origin: a\r\nOrigin: b\r\n"));
    expect_span(
        accepted(HEAD_WITH("Accept-Encoding: a\r\nAccept-Encoding: b\r\n")).request.accept_encoding, "a");
}

static void absent_headers_are_none_and_empty_ones_are_not(void **state)
{
    (void)state;
    struct outcome outcome = accepted("GET / HTTP/1.1\r\nHost:\r\nOrigin:   \r\n\r\n");
    expect_span(outcome.request.host, "");
    expect_span(outcome.request.origin, "");
    expect_span(outcome.request.pass, NULL);
    expect_span(outcome.request.query, NULL);
    outcome = accepted("GET /? HTTP/1.1\r\nHost: t\r\n\r\n");
    expect_span(outcome.request.query, "");
}

static void all_header_lines_can_be_had_as_they_came(void **state)
{
    (void)state;
    struct outcome outcome =
        accepted("POST /a?b HTTP/1.1\r\nHost: t\r\nX-Odd:  1 \r\nContent-Length: 1\r\n\r\nx");
    expect_span(http_header_lines(&outcome.request), "Host: t\r\nX-Odd:  1 \r\nContent-Length: 1\r\n");
    static const char *const targets[] = { "*", "/", "http://t/a", "http://t", "https://t?b" };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char text[96];
        snprintf(text, sizeof text, "OPTIONS %s HTTP/1.1\r\nHost: t\r\nX-Odd: 1\r\n\r\n", targets[i]);
        outcome = accepted(text);
        expect_span(http_header_lines(&outcome.request), "Host: t\r\nX-Odd: 1\r\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_ignore_case_and_values_lose_only_the_space_around_them),
        cmocka_unit_test(a_name_is_only_itself),
        cmocka_unit_test(host_is_there_once_and_well_formed),
        cmocka_unit_test(content_length_is_one_number),
        cmocka_unit_test(transfer_encoding_is_chunked_alone_and_without_content_length),
        cmocka_unit_test(expectations_are_continue_or_refused),
        cmocka_unit_test(connection_close_is_found_in_its_list),
        cmocka_unit_test(headers_that_decide_something_stand_alone),
        cmocka_unit_test(absent_headers_are_none_and_empty_ones_are_not),
        cmocka_unit_test(all_header_lines_can_be_had_as_they_came),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
