/* Every rule of the request parser, each at its edge and one past it, whole and cut at every byte. */
#include "edge/http_parse.h"

#include "edge/http_chunked.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { BODY_MAX = 1000 };

struct outcome {
    enum http_parse_result result;
    struct http_request request;
    struct http_refusal refusal;
    size_t bytes;
};

/* Parses a copy that ends where its memory ends, so that ASan sees a read past the end. The copy lives until the next
 * call. */
static struct outcome parse_bytes(const char *data, size_t size)
{
    static char *copy;
    struct outcome outcome = { .bytes = 0 };
    free(copy);
    copy = malloc(size == 0 ? 1 : size);
    assert_non_null(copy);
    memcpy(copy, data, size);
    outcome.result = http_parse(span_of(copy, size), BODY_MAX, &outcome.request, &outcome.bytes, &outcome.refusal);
    return outcome;
}

static struct outcome parse(const char *text)
{
    return parse_bytes(text, strlen(text));
}

static void expect_span(struct span span, const char *text)
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

/* However it is cut, the prefix is partial, and a refusal comes only once and is always the same. */
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

static struct outcome accepted(const char *text)
{
    struct outcome outcome = parse(text);
    if (outcome.result == HTTP_PARSE_REFUSED)
        fail_msg("refused %d %s: %s", outcome.refusal.status, outcome.refusal.why, text);
    assert_int_equal(outcome.result, HTTP_PARSE_COMPLETE);
    expect_same_when_cut(text, strlen(text));
    return parse(text);
}

static void refused_bytes(int status, const char *data, size_t size)
{
    struct outcome outcome = parse_bytes(data, size);
    if (outcome.result != HTTP_PARSE_REFUSED || outcome.refusal.status != status)
        fail_msg("wanted %d, got result %d status %d: %.*s", status, outcome.result,
            outcome.result == HTTP_PARSE_REFUSED ? outcome.refusal.status : 0, (int)size, data);
    assert_non_null(outcome.refusal.why);
    expect_same_when_cut(data, size);
}

static void refused(int status, const char *text)
{
    refused_bytes(status, text, strlen(text));
}

#define HEAD_WITH(lines) "POST /a HTTP/1.1\r\nHost: t\r\n" lines "\r\n"

static void a_purchase_is_read_with_all_its_parts(void **state)
{
    (void)state;
    struct outcome outcome = accepted(
        "POST /v1/items/1/buy?x=1?y HTTP/1.1\r\nHost: shop.example:8080\r\nStampede-Pass: PASS\r\n"
        "Authorization: Bearer abc\r\nIdempotency-Key: \"k 1\"\r\nContent-Type: application/json\r\n"
        "Origin: https://shop.example\r\nIf-None-Match: \"e\"\r\nAccept-Encoding: gzip, br\r\nAccept-Language: zh\r\n"
        "Access-Control-Request-Method: POST\r\nTraceparent: 00-ab-cd-01\r\nUser-Agent: \x80t\xff\r\n"
        "Content-Length: 14\r\n\r\n{\"quantity\":2}");
    const struct http_request *request = &outcome.request;
    assert_int_equal(request->method, HTTP_POST);
    expect_span(request->path, "/v1/items/1/buy");
    expect_span(request->query, "x=1?y");
    expect_span(request->host, "shop.example:8080");
    expect_span(request->pass, "PASS");
    expect_span(request->authorization, "Bearer abc");
    expect_span(request->idempotency_key, "\"k 1\"");
    expect_span(request->content_type, "application/json");
    expect_span(request->origin, "https://shop.example");
    expect_span(request->if_none_match, "\"e\"");
    expect_span(request->accept_encoding, "gzip, br");
    expect_span(request->accept_language, "zh");
    expect_span(request->access_control_request_method, "POST");
    expect_span(request->traceparent, "00-ab-cd-01");
    expect_span(request->body, "{\"quantity\":2}");
    assert_true(request->keep_alive);
    assert_false(request->expect_continue || request->chunked);
    assert_int_equal(outcome.bytes, request->head_bytes + 14);
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

static void names_ignore_case_and_values_lose_only_the_space_around_them(void **state)
{
    (void)state;
    struct outcome outcome =
        accepted("GET / HTTP/1.1\r\nhOST:t\r\nsTAMPEDE-pASS: \t a b\tc \t\r\nCONTENT-LENGTH: 1\r\n\r\nx");
    expect_span(outcome.request.host, "t");
    expect_span(outcome.request.pass, "a b\tc");
    expect_span(outcome.request.body, "x");
}

static void a_name_is_only_itself(void **state)
{
    (void)state;
    struct outcome outcome = accepted("GET / HTTP/1.1\r\nHost: t\r\nStampede_Pass: a\r\nXtampede-Pass: b\r\n"
                                      "Stampede-Pasx: c\r\nContent.Length: 9\r\nContent-Lengtg: 9\r\nHosu: z\r\n\r\n");
    expect_span(outcome.request.pass, NULL);
    assert_int_equal(outcome.request.body.size, 0);
    refused(400, "GET / HTTP/1.1\r\nHost: t\r\nContent\rLength: 9\r\n\r\n"); /* CR | 0x20 is '-' */
}

static void methods_are_told_apart_and_unknown_ones_left_to_the_handler(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum http_method method;
    } cases[] = { { "GET", HTTP_GET }, { "HEAD", HTTP_HEAD }, { "POST", HTTP_POST }, { "PATCH", HTTP_PATCH },
        { "PUT", HTTP_PUT }, { "DELETE", HTTP_DELETE }, { "OPTIONS", HTTP_OPTIONS }, { "get", HTTP_OTHER },
        { "POSTS", HTTP_OTHER }, { "PO", HTTP_OTHER }, { "BREW", HTTP_OTHER }, { "G", HTTP_OTHER },
        { "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF", HTTP_OTHER } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        snprintf(text, sizeof(text), "%s / HTTP/1.1\r\nHost: t\r\n\r\n", cases[i].name);
        assert_int_equal(accepted(text).request.method, cases[i].method);
    }
    refused(400, "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG / HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, " / HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "G\"T / HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET\t/ HTTP/1.1\r\nHost: t\r\n\r\n");
}

static void targets_have_four_forms(void **state)
{
    (void)state;
    struct outcome outcome = accepted("GET http://shop.example:1/a?b HTTP/1.1\r\nHost: other\r\n\r\n");
    expect_span(outcome.request.path, "/a");
    expect_span(outcome.request.query, "b");
    expect_span(outcome.request.host, "shop.example:1");
    outcome = accepted("GET HTTPS://t HTTP/1.1\r\nHost: other\r\n\r\n");
    expect_span(outcome.request.path, "/");
    outcome = accepted("OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n");
    expect_span(outcome.request.path, "*");
    refused(400, "GET * HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "OPTIONS ** HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "CONNECT t:443 HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET a HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET ftp://t/ HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET http:///a HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET http://user@t/a HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET http://t/ HTTP/1.1\r\n\r\n"); /* Host all the same */
}

static void targets_hold_visible_ascii_without_fragment(void **state)
{
    (void)state;
    accepted("GET /%E5%95%86/{a|b}^ HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET  / HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET /a b HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET /a#b HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET /a?b#c HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET /\x80 HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET /\x7f HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET /\t HTTP/1.1\r\nHost: t\r\n\r\n");
    refused_bytes(400, "GET /\0 HTTP/1.1\r\nHost: t\r\n\r\n", 29);
}

static void versions_other_than_one_are_refused_and_1_0_closes(void **state)
{
    (void)state;
    assert_false(accepted("GET / HTTP/1.0\r\n\r\n").request.keep_alive);
    assert_false(accepted("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").request.keep_alive);
    assert_true(accepted("GET / HTTP/1.2\r\nHost: t\r\n\r\n").request.keep_alive);
    refused(505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    refused(505, "GET / HTTP/3.0\r\nHost: t\r\n\r\n");
    refused(505, "GET / HTTP/0.9\r\nHost: t\r\n\r\n");
    refused(400, "GET / HTTP/1\r\nHost: t\r\n\r\n");
    refused(400, "GET / HTTP/1.11\r\nHost: t\r\n\r\n");
    refused(400, "GET / HTTP/1.1 \r\nHost: t\r\n\r\n");
    refused(400, "GET / HTTP/x.1\r\nHost: t\r\n\r\n");
    refused(400, "GET / http/1.1\r\nHost: t\r\n\r\n");
    refused(400, "GET /\r\nHost: t\r\n\r\n");
    refused(400, "GET / \r\nHost: t\r\n\r\n");
}

static void lines_end_with_cr_lf_and_nothing_else(void **state)
{
    (void)state;
    refused(400, "GET / HTTP/1.1\nHost: t\n\n");
    refused(400, "GET / HTTP/1.1\r\nHost: t\n\r\n");
    refused(400, "GET / HTTP/1.1\r\nHost: t\r\n\n");
    refused(400, "GET / HTTP/1.1\rHost: t\r\n\r\n");
    refused(400, "GET / HTTP/1.1\r\nHost: t\rX: y\r\n\r\n");
    refused(400, "GET / HTTP/1.1\r\nHost: t\r\n\rGET");
    refused(400, "GET / HTTP/1.1\r\nHost: t\r\nX-Abc: \rxTransfer-Encoding: chunked\r\n\r\n");
}

static void one_empty_line_before_a_request_is_let_pass(void **state)
{
    (void)state;
    accepted("\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "\r\n\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "\nGET / HTTP/1.1\r\nHost: t\r\n\r\n");
    refused(400, "\rGET / HTTP/1.1\r\nHost: t\r\n\r\n");
}

static void header_lines_are_a_name_a_colon_and_a_value(void **state)
{
    (void)state;
    accepted(HEAD_WITH("!#$%&'*+-.^_`|~09azAZ: every token character\r\n"));
    refused(400, HEAD_WITH("X : y\r\n"));
    refused(400, HEAD_WITH("X\t: y\r\n"));
    refused(400, HEAD_WITH("X y: z\r\n"));
    refused(400, HEAD_WITH("no colon\r\n"));
    refused(400, HEAD_WITH("nocolon\r\n"));
    refused(400, HEAD_WITH(": no name\r\n"));
    refused(400, HEAD_WITH("X(y): z\r\n"));
    refused(400, HEAD_WITH("X\x80: z\r\n"));
    refused(400, HEAD_WITH("X: y\r\n folded\r\n"));
    refused(400, HEAD_WITH("X: y\r\n\tfolded\r\n"));
    refused(400, "GET / HTTP/1.1\r\n Host: t\r\n\r\n");
}

static void values_hold_no_control_characters_but_tab(void **state)
{
    (void)state;
    accepted(HEAD_WITH("X: a\tb\xc3\xa9 \xff\r\n"));
    for (int byte = 0; byte < 256; byte++) {
        bool control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
        char text[] = HEAD_WITH("Stampede-Pass: 0123456789?0123456789\r\n");
        *strchr(text, '?') = (char)byte;
        struct outcome outcome = parse_bytes(text, sizeof(text) - 1);
        assert_int_equal(outcome.result, control ? HTTP_PARSE_REFUSED : HTTP_PARSE_COMPLETE);
    }
}

static void host_is_there_once_and_well_formed(void **state)
{
    (void)state;
    accepted("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n");
    accepted("GET / HTTP/1.1\r\nHost: a-very-long-name.with-many-labels.shop.example_x.org:65535\r\n\r\n");
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
    struct outcome outcome = parse(HEAD_WITH("Content-Length: 1000\r\n"));
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
    struct outcome outcome = parse(HEAD_WITH("Expect: 100-Continue\r\nContent-Length: 1\r\n"));
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
    expect_span(accepted(HEAD_WITH("Accept-Encoding: a\r\nAccept-Encoding: b\r\n")).request.accept_encoding, "a");
}

/* "GET /aaa… HTTP/1.1", Host, an X header of a's, and as many short ones as asked for. */
static size_t build(char *text, size_t target, size_t value, int headers)
{
    size_t size = 0;
    memcpy(text, "GET /", 5);
    size = 5;
    memset(text + size, 'a', target - 1);
    size += target - 1;
    memcpy(text + size, " HTTP/1.1\r\nHost: t\r\nX: ", 23);
    size += 23;
    memset(text + size, 'a', value);
    size += value;
    memcpy(text + size, "\r\n", 2);
    size += 2;
    for (int i = 2; i < headers; i++) {
        memcpy(text + size, "A: b\r\n", 6);
        size += 6;
    }
    memcpy(text + size, "\r\n", 2);
    return size + 2;
}

static void everything_has_a_bound(void **state)
{
    (void)state;
    static char text[HTTP_HEAD_MAX * 2];
    size_t size = build(text, HTTP_TARGET_MAX, 1, 2);
    assert_int_equal(parse_bytes(text, size).result, HTTP_PARSE_COMPLETE);
    size = build(text, HTTP_TARGET_MAX + 1, 1, 2);
    refused_bytes(414, text, size);

    size = build(text, 10, 1, HTTP_HEADERS_MAX);
    assert_int_equal(parse_bytes(text, size).result, HTTP_PARSE_COMPLETE);
    size = build(text, 10, 1, HTTP_HEADERS_MAX + 1);
    refused_bytes(431, text, size);

    size_t rest = build(text, 10, 0, 2);
    size = build(text, 10, HTTP_HEAD_MAX - rest, 2);
    assert_int_equal(size, HTTP_HEAD_MAX);
    assert_int_equal(parse_bytes(text, size).result, HTTP_PARSE_COMPLETE);
    size = build(text, 10, HTTP_HEAD_MAX - rest + 1, 2);
    refused_bytes(431, text, size);
    memset(text, 'a', sizeof(text));
    memcpy(text, "GET / HTTP/1.1\r\n", 16);
    refused_bytes(431, text, sizeof(text)); /* a name that never ends */
}

static void the_next_request_is_left_alone(void **state)
{
    (void)state;
    const char *two = "GET /a HTTP/1.1\r\nHost: t\r\n\r\nGET /b HTTP/1.1\r\nHost: t\r\n\r\n";
    assert_int_equal(accepted(two).bytes, strlen(two) / 2);
    expect_span(parse(two + strlen(two) / 2).request.path, "/b");
}

static void nothing_is_partial(void **state)
{
    (void)state;
    struct outcome outcome = parse("");
    assert_int_equal(outcome.result, HTTP_PARSE_PARTIAL);
    assert_int_equal(outcome.bytes, 1);
    assert_int_equal(outcome.request.head_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_purchase_is_read_with_all_its_parts),
        cmocka_unit_test(absent_headers_are_none_and_empty_ones_are_not),
        cmocka_unit_test(names_ignore_case_and_values_lose_only_the_space_around_them),
        cmocka_unit_test(a_name_is_only_itself),
        cmocka_unit_test(methods_are_told_apart_and_unknown_ones_left_to_the_handler),
        cmocka_unit_test(targets_have_four_forms),
        cmocka_unit_test(targets_hold_visible_ascii_without_fragment),
        cmocka_unit_test(versions_other_than_one_are_refused_and_1_0_closes),
        cmocka_unit_test(lines_end_with_cr_lf_and_nothing_else),
        cmocka_unit_test(one_empty_line_before_a_request_is_let_pass),
        cmocka_unit_test(header_lines_are_a_name_a_colon_and_a_value),
        cmocka_unit_test(values_hold_no_control_characters_but_tab),
        cmocka_unit_test(host_is_there_once_and_well_formed),
        cmocka_unit_test(content_length_is_one_number),
        cmocka_unit_test(transfer_encoding_is_chunked_alone_and_without_content_length),
        cmocka_unit_test(expectations_are_continue_or_refused),
        cmocka_unit_test(connection_close_is_found_in_its_list),
        cmocka_unit_test(headers_that_decide_something_stand_alone),
        cmocka_unit_test(everything_has_a_bound),
        cmocka_unit_test(the_next_request_is_left_alone),
        cmocka_unit_test(nothing_is_partial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
