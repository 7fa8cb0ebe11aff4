/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule of the request parser, each at its edge and one past it, whole and cut at every
 * byte. */
#include "tests/unit/edge/parse_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static void place(char *at, struct span bytes)
{
    memcpy(at, bytes.data, bytes.size);
}

static void a_purchase_is_read_with_all_its_parts(void **state)
{
    (void)state;
    struct outcome outcome = accepted(
        "POST /v1/items/1/buy?x=1?y HTTP/1.1\r\nHost: shop.example:8080\r\nStampede-Pass: PASS\r\n"
        "Authorization: Bearer abc\r\nIdempotency-Key: \"k 1\"\r\nContent-Type: "
        "application/json\r\n"
        "Origin: https://shop.example\r\nIf-None-Match: \"e\"\r\nAccept-Encoding: gzip, "
        "br\r\nAccept-Language: zh\r\n"
        "Access-Control-Request-Method: POST\r\nTraceparent: 00-ab-cd-01\r\nUser-Agent: "
        "\x80t\xff\r\n"
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

static void methods_are_told_apart_and_unknown_ones_left_to_the_handler(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum http_method method;
    } cases[] = { { "GET", HTTP_GET }, { "HEAD", HTTP_HEAD }, { "POST", HTTP_POST },
        { "PATCH", HTTP_PATCH }, { "PUT", HTTP_PUT }, { "DELETE", HTTP_DELETE },
        { "OPTIONS", HTTP_OPTIONS }, { "get", HTTP_OTHER }, { "POSTS", HTTP_OTHER },
        { "PO", HTTP_OTHER }, { "BREW", HTTP_OTHER }, { "G", HTTP_OTHER },
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
    struct outcome outcome =
        accepted("GET http://shop.example:1/a?b HTTP/1.1\r\nHost: other\r\n\r\n");
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

static void versions_other_than_1_0_and_1_1_are_refused_and_1_0_closes(void **state)
{
    (void)state;
    assert_false(accepted("GET / HTTP/1.0\r\n\r\n").request.keep_alive);
    assert_false(accepted("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").request.keep_alive);
    assert_true(accepted("GET / HTTP/1.1\r\nHost: t\r\n\r\n").request.keep_alive);
    refused(505, "GET / HTTP/1.2\r\nHost: t\r\n\r\n");
    refused(505, "GET / HTTP/1.9\r\nHost: t\r\n\r\n");
    accepted("T / HTTP/1.0\r\n\r\n"); /* the shortest there is */
    accepted("T / HTTP/1.0\r\nA:\r\n\r\n");
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

/* The same line with a space after its colon, which is the usual spelling and has a short way of its own,
 * and without. */
static void spelled_alike(const char *before, const char *name, struct span value)
{
    struct outcome outcomes[2];
    char pass[2][64] = { { 0 } }, host[2][64] = { { 0 } };
    for (int i = 0; i < 2; i++) {
        char text[256];
        const int head = snprintf(
            text, sizeof text, "POST /a HTTP/1.1\r\n%s%s:%s", before, name, i == 0 ? "" : " ");
        memcpy(text + head, value.data, value.size);
        memcpy(text + head + value.size, "\r\n\r\n", 4);
        outcomes[i] = parse_bytes(text, (size_t)head + value.size + 4);
        if (outcomes[i].result == HTTP_PARSE_COMPLETE) {
            const struct http_request *request = &outcomes[i].request;
            memcpy(pass[i], request->pass.data == NULL ? "" : request->pass.data, request->pass.size);
            memcpy(host[i], request->host.data == NULL ? "" : request->host.data, request->host.size);
        }
    }
    assert_int_equal(outcomes[0].result, outcomes[1].result);
    if (outcomes[0].result == HTTP_PARSE_REFUSED)
        assert_int_equal(outcomes[0].refusal.status, outcomes[1].refusal.status);
    if (outcomes[0].result == HTTP_PARSE_PARTIAL)
        assert_int_equal(outcomes[0].bytes + 1, outcomes[1].bytes);
    assert_memory_equal(pass[0], pass[1], sizeof pass[0]);
    assert_memory_equal(host[0], host[1], sizeof host[0]);
}

static void a_space_after_the_colon_changes_nothing(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 2, 9, 47, 48, 49 };
    static const size_t places[] = { 0, 1, 15, 16, 31, 32, 46, 47 };
    static const char *const lengths[] = { "", "0", "7", "10", "99", "100", "007", "1a", "a", "1 ",
        "1 1", "-1", "+1", "1,1", "\t1", "12\t", "123456789012345678901" };
    char value[64];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(value, 'a', sizeof value);
        spelled_alike("Host: t\r\n", "Stampede-Pass", span_of(value, sizes[i]));
        spelled_alike("", "Host", span_of(value, sizes[i]));
        for (size_t at = 0; at < sizeof places / sizeof *places && places[at] < sizes[i]; at++) {
            for (int byte = 0; byte < 256; byte++) {
                value[places[at]] = (char)byte;
                spelled_alike("Host: t\r\n", "Stampede-Pass", span_of(value, sizes[i]));
                spelled_alike("", "Host", span_of(value, sizes[i]));
            }
            value[places[at]] = 'a';
        }
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const struct span length = span_of(lengths[i], strlen(lengths[i]));
        spelled_alike("Host: t\r\n", "Content-Length", length);
        spelled_alike("Host: t\r\nContent-Length: 0\r\n", "Content-Length", length);
    }
    spelled_alike("Host: t\r\n", "Host", SPAN("t"));
    spelled_alike("Host: t\r\nStampede-Pass: a\r\n", "Stampede-Pass", SPAN("a"));
}

/* "GET /aaa… HTTP/1.1", Host, an X header of a's, and as many short ones as asked for. */
static size_t build(char *text, size_t target, size_t value, int headers)
{
    size_t size = 0;
    place(text, SPAN("GET /"));
    size = 5;
    memset(text + size, 'a', target - 1);
    size += target - 1;
    place(text + size, SPAN(" HTTP/1.1\r\nHost: t\r\nX: "));
    size += 23;
    memset(text + size, 'a', value);
    size += value;
    place(text + size, SPAN("\r\n"));
    size += 2;
    for (int i = 2; i < headers; i++) {
        place(text + size, SPAN("A: b\r\n"));
        size += 6;
    }
    place(text + size, SPAN("\r\n"));
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
    place(text, SPAN("GET / HTTP/1.1\r\n"));
    refused_bytes(431, text, sizeof(text)); /* a name that never ends */
}

static void the_next_request_is_left_alone(void **state)
{
    (void)state;
    const char *two = "GET /a HTTP/1.1\r\nHost: t\r\n\r\nGET /b HTTP/1.1\r\nHost: t\r\n\r\n";
    assert_int_equal(accepted(two).bytes, strlen(two) / 2);
    expect_span(parse_text(two + strlen(two) / 2).request.path, "/b");
}

static void nothing_is_partial(void **state)
{
    (void)state;
    struct outcome outcome = parse_text("");
    assert_int_equal(outcome.result, HTTP_PARSE_PARTIAL);
    assert_int_equal(outcome.bytes, 1);
    assert_int_equal(outcome.request.head_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_purchase_is_read_with_all_its_parts),
        cmocka_unit_test(methods_are_told_apart_and_unknown_ones_left_to_the_handler),
        cmocka_unit_test(targets_have_four_forms),
        cmocka_unit_test(targets_hold_visible_ascii_without_fragment),
        cmocka_unit_test(versions_other_than_1_0_and_1_1_are_refused_and_1_0_closes),
        cmocka_unit_test(lines_end_with_cr_lf_and_nothing_else),
        cmocka_unit_test(one_empty_line_before_a_request_is_let_pass),
        cmocka_unit_test(header_lines_are_a_name_a_colon_and_a_value),
        cmocka_unit_test(values_hold_no_control_characters_but_tab),
        cmocka_unit_test(a_space_after_the_colon_changes_nothing),
        cmocka_unit_test(everything_has_a_bound),
        cmocka_unit_test(the_next_request_is_left_alone),
        cmocka_unit_test(nothing_is_partial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
