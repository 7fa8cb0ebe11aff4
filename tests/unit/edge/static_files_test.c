/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/static_files.h"

#include "edge/http_parse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PAGE_BYTES = 5000 };

static unsigned char page[PAGE_BYTES];
static const unsigned char small_br[] = "brotli", small_gz[] = "gzipped"; /* stand for packed bytes */
#define PACKED small_br, sizeof(small_br), small_gz, sizeof(small_gz)
#define ONLY_PLAIN NULL, 0, NULL, 0
static struct static_files *files;
static char head[4096];
static struct edge_reply reply;

static int start(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(page); i++)
        page[i] = (unsigned char)("<p>hello</p>\n"[i % 13]);
    static const struct asset assets[] = {
        { "/index.html", page, sizeof(page), PACKED },
        { "/404.html", page, 300, PACKED },
        { "/app.js", page, 2000, PACKED },
        { "/assets/app-3f2a9c1b.js", page, 2000, PACKED },
        { "/assets/app-JKXQ3WLB.css", page, 2000, PACKED },
        { "/deadbeef.js", page, 100, ONLY_PLAIN },
        { "/order-facade.js", page, 100, ONLY_PLAIN },
        { "/a.svg", (const unsigned char *)"x", 1, ONLY_PLAIN },
        { "/empty.txt", (const unsigned char *)"", 0, ONLY_PLAIN },
        { "/x.bin", page, 1, ONLY_PLAIN },
    };
    return static_files_open(&files, assets, sizeof(assets) / sizeof(assets[0]), "", "") == STATUS_OK
        ? 0
        : -1;
}

static int stop(void **state)
{
    (void)state;
    static_files_close(files);
    return 0;
}

static bool secure; /* whether the connection has TLS */

static enum static_answer find(const char *method, const char *path, const char *headers)
{
    static char text[1024];
    struct http_request request;
    struct http_refusal refusal;
    size_t bytes;
    snprintf(text, sizeof(text), "%s %s HTTP/1.1\r\nHost: t\r\n%s\r\n", method, path, headers);
    assert_int_equal(
        http_parse(span_from_string(text), 0, &request, &bytes, &refusal), HTTP_PARSE_COMPLETE);
    struct text out = text_in(head, sizeof(head) - 1);
    enum static_answer answer = static_files_find(files, &request, secure, false, &out, &reply);
    assert_false(out.overflow);
    head[out.size] = 0;
    return answer;
}

static void expect_found(const char *path, const char *headers, const char *status)
{
    assert_int_equal(find("GET", path, headers), STATIC_REPLIED);
    assert_memory_equal(head + 9, status, 3);
}

static void expect_header(const char *line)
{
    if (strstr(head, line) == NULL)
        fail_msg("no %s in %s", line, head);
}

static void files_are_found_by_their_path_and_the_slash_is_the_index(void **state)
{
    (void)state;
    expect_found("/", "", "200");
    assert_int_equal(reply.body.size, PAGE_BYTES);
    assert_ptr_equal(reply.body.data, page);
    expect_header("\r\nContent-Length: 5000\r\n");
    expect_found("/index.html?x=y", "", "200");
    expect_found("/empty.txt", "", "200");
    assert_int_equal(reply.body.size, 0);
    static const char *const absent[] = { "/index", "/index.htm", "/index.html/", "/app.jsx",
        "/zzz", "/assets", "//" };
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
        assert_int_equal(find("GET", absent[i], ""), STATIC_NOT_FOUND);
}

static void who_asks_for_a_page_that_is_not_there_gets_a_page(void **state)
{
    (void)state;
    expect_found("/none", "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\n", "404");
    assert_int_equal(reply.body.size, 300);
    expect_header("\r\nContent-Type: text/html");
    expect_found("/none", "accept: */*, text/html\r\n", "404");
    static const char *const programs[] = { "", "Accept: */*\r\n", "Accept: application/json\r\n",
        "Accept: text/htmlx\r\n", "Accept-Language: text/html\r\n" };
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
        assert_int_equal(find("GET", "/none", programs[i]), STATIC_NOT_FOUND);
    assert_int_equal(find("POST", "/none", "Accept: text/html\r\n"), STATIC_NOT_FOUND);
}

static void only_get_and_head_read_files(void **state)
{
    (void)state;
    assert_int_equal(find("HEAD", "/", ""), STATIC_REPLIED);
    assert_int_equal(find("POST", "/", ""), STATIC_WRONG_METHOD);
    assert_int_equal(find("POST", "/none", ""), STATIC_NOT_FOUND);
    assert_int_equal(head[0], 0);
}

static void types_come_from_the_ending(void **state)
{
    (void)state;
    expect_found("/", "", "200");
    expect_header("\r\nContent-Type: text/html; charset=utf-8\r\n");
    expect_found("/app.js", "", "200");
    expect_header("\r\nContent-Type: text/javascript; charset=utf-8\r\n");
    expect_found("/a.svg", "", "200");
    expect_header("\r\nContent-Type: image/svg+xml\r\n");
    expect_found("/x.bin", "", "200");
    expect_header("\r\nContent-Type: application/octet-stream\r\n");
    expect_header("\r\nX-Content-Type-Options: nosniff\r\n");
    expect_header("\r\nContent-Security-Policy: default-src 'self'; img-src 'self' data:; base-uri "
                  "'none'; form-action 'self'; "
                  "frame-ancestors 'none'\r\n");
}

static void only_names_with_a_hash_are_kept_for_ever(void **state)
{
    (void)state;
    static const char *const changing[] = { "/", "/app.js", "/deadbeef.js", "/order-facade.js", "/a.svg" };
    for (size_t i = 0; i < sizeof(changing) / sizeof(changing[0]); i++) {
        expect_found(changing[i], "", "200");
        expect_header("\r\nCache-Control: no-cache\r\n");
    }
    expect_found("/assets/app-3f2a9c1b.js", "", "200");
    expect_header("immutable\r\n");
    expect_found("/assets/app-JKXQ3WLB.css", "", "200");
    expect_header("immutable\r\n");
}

static const char *encoding_now(void)
{
    return strstr(head, "Content-Encoding: br\r\n") != NULL  ? "br"
        : strstr(head, "Content-Encoding: gzip\r\n") != NULL ? "gzip"
                                                             : "identity";
}

static void the_encoding_is_the_one_the_client_likes_best(void **state)
{
    (void)state;
    static const struct {
        const char *accept, *encoding;
    } cases[] = {
        { "", "identity" },
        { "Accept-Encoding:\r\n", "identity" },
        { "Accept-Encoding: gzip\r\n", "gzip" },
        { "Accept-Encoding: gzip, deflate, br\r\n", "br" },
        { "Accept-Encoding: br;q=0.5, gzip;q=0.8\r\n", "gzip" },
        { "Accept-Encoding: GZIP ; Q=1\r\n", "gzip" },
        { "Accept-Encoding: *\r\n", "br" },
        { "Accept-Encoding: br;q=0, *\r\n", "gzip" },
        { "Accept-Encoding: br;q=0, gzip;q=0.0\r\n", "identity" },
        { "Accept-Encoding: br;q=0.001\r\n", "br" },
        { "Accept-Encoding: gzip;q=0.2, identity\r\n", "identity" },
        { "Accept-Encoding: identity;q=0, gzip\r\n", "gzip" },
        { "Accept-Encoding: gzip;q=2, br;q=x\r\n", "identity" },
        { "Accept-Encoding: deflate\r\n", "identity" },
        { "Accept-Encoding: xbr, brr\r\n", "identity" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect_found("/", cases[i].accept, "200");
        if (strcmp(encoding_now(), cases[i].encoding) != 0)
            fail_msg("%s gave %s", cases[i].accept, encoding_now());
        expect_header("\r\nVary: Accept-Encoding\r\n");
    }
    expect_found("/", "Accept-Encoding: *;q=0\r\n", "406");
    assert_int_equal(reply.body.size, 0);
    expect_found("/a.svg", "Accept-Encoding: br, gzip\r\n", "200"); /* there is no smaller form */
    assert_string_equal(encoding_now(), "identity");
    assert_null(strstr(head, "Vary"));
}

static void a_page_is_not_compressed_over_tls_and_a_script_is(void **state)
{
    (void)state;
    secure = true;
    expect_found("/", "Accept-Encoding: gzip, br\r\n", "200");
    assert_string_equal(encoding_now(), "identity");
    assert_ptr_equal(reply.body.data, page);
    expect_found("/assets/app-3f2a9c1b.js", "Accept-Encoding: gzip, br\r\n", "200");
    assert_string_equal(encoding_now(), "br");
    secure = false;
}

static void the_body_is_the_form_of_the_encoding(void **state)
{
    (void)state;
    expect_found("/", "Accept-Encoding: gzip\r\n", "200");
    assert_ptr_equal(reply.body.data, small_gz);
    assert_int_equal(reply.body.size, sizeof(small_gz));
    expect_header("\r\nContent-Length: 8\r\n");
    expect_found("/", "Accept-Encoding: br\r\n", "200");
    assert_ptr_equal(reply.body.data, small_br);
    assert_int_equal(reply.body.size, sizeof(small_br));
}

static void etag_now(char etag[64])
{
    const char *at = strstr(head, "ETag: ");
    assert_non_null(at);
    size_t size = strcspn(at + 6, "\r");
    assert_true(size < 64);
    memcpy(etag, at + 6, size);
    etag[size] = 0;
}

static void a_client_that_has_the_file_gets_304(void **state)
{
    (void)state;
    char plain[64], packed[64], other[64], headers[256];
    expect_found("/", "", "200");
    etag_now(plain);
    expect_found("/", "Accept-Encoding: br\r\n", "200");
    etag_now(packed);
    expect_found("/app.js", "", "200");
    etag_now(other);
    assert_true(plain[0] == '"' && strcmp(plain, packed) != 0 && strcmp(plain, other) != 0);
    static const char *const matching[] = { "%s", "W/%s", "\"x\", %s", "\"x\" ,W/%s,\"y\"", "*" };
    for (size_t i = 0; i < sizeof(matching) / sizeof(matching[0]); i++) {
        char list[128];
        const char *percent = strstr(matching[i], "%s");
        snprintf(list, sizeof(list), "%.*s%s%s", percent == NULL ? 9 : (int)(percent - matching[i]),
            matching[i], percent == NULL ? "" : plain, percent == NULL ? "" : percent + 2);
        snprintf(headers, sizeof(headers), "If-None-Match: %s\r\n", list);
        expect_found("/", headers, "304");
        assert_int_equal(reply.body.size, 0);
        assert_null(strstr(head, "Content-Length"));
        expect_header("ETag: ");
    }
    snprintf(headers, sizeof(headers), "If-None-Match: %s\r\n", other);
    expect_found("/", headers, "200");
    snprintf(headers, sizeof(headers), "Accept-Encoding: br\r\nIf-None-Match: %s\r\n", plain);
    expect_found("/", headers, "200"); /* the other encoding is another representation */
}

static void no_files_are_fine(void **state)
{
    (void)state;
    struct static_files *none;
    static const char bytes[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"; /* as the parser leaves it */
    struct http_request request = { .method = HTTP_GET, .path = span_of(bytes + 4, 1) };
    struct text out = text_in(head, sizeof(head));
    assert_int_equal(static_files_open(&none, NULL, 0, "", ""), STATUS_OK);
    assert_int_equal(static_files_find(none, &request, false, false, &out, &reply), STATIC_NOT_FOUND);
    static_files_close(none);
    static_files_close(NULL);
}

static void the_policy_names_whose_pictures_may_be_shown(void **state)
{
    (void)state;
    static const struct asset asset = { "/index.html", page, sizeof(page), ONLY_PLAIN };
    struct static_files *common = files;
    char longest[CSP_ORIGINS_MAX + 1], longest_widget[CSP_WIDGET_MAX + 1];
    expect_found("/", "", "200");
    expect_header("; img-src 'self' data:; base-uri");
    assert_int_equal(static_files_open(&files, &asset, 1,
                         ", https://a.example,https://b.example:8443  http://c", ""),
        STATUS_OK);
    expect_found("/", "", "200");
    expect_header(
        "; img-src 'self' data: https://a.example https://b.example:8443 http://c; base-uri");
    static_files_close(files);
    memset(longest, 'a', CSP_ORIGINS_MAX);
    memcpy(longest, "https://", 8);
    longest[CSP_ORIGINS_MAX] = 0;
    memcpy(longest_widget, longest, CSP_WIDGET_MAX);
    longest_widget[CSP_WIDGET_MAX] = 0;
    assert_int_equal(static_files_open(&files, &asset, 1, longest, longest_widget), STATUS_OK);
    expect_found("/", "", "200");
    expect_header("frame-ancestors 'none'\r\n");
    static_files_close(files);
    files = common;
}

static void a_widget_of_others_is_allowed_only_where_it_is_named(void **state)
{
    (void)state;
    static const struct asset asset = { "/index.html", page, sizeof(page), ONLY_PLAIN };
    struct static_files *common = files;
    assert_int_equal(static_files_open(&files, &asset, 1, "", "https://w.example"), STATUS_OK);
    expect_found("/", "", "200");
    expect_header("; img-src 'self' data: https://w.example; script-src 'self' https://w.example; "
                  "frame-src https://w.example; connect-src 'self' https://w.example; "
                  "style-src 'self' 'unsafe-inline' https://w.example; base-uri");
    static_files_close(files);
    files = common;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_found_by_their_path_and_the_slash_is_the_index),
        cmocka_unit_test(who_asks_for_a_page_that_is_not_there_gets_a_page),
        cmocka_unit_test(only_get_and_head_read_files),
        cmocka_unit_test(types_come_from_the_ending),
        cmocka_unit_test(only_names_with_a_hash_are_kept_for_ever),
        cmocka_unit_test(the_encoding_is_the_one_the_client_likes_best),
        cmocka_unit_test(a_page_is_not_compressed_over_tls_and_a_script_is),
        cmocka_unit_test(the_body_is_the_form_of_the_encoding),
        cmocka_unit_test(a_client_that_has_the_file_gets_304),
        cmocka_unit_test(no_files_are_fine),
        cmocka_unit_test(the_policy_names_whose_pictures_may_be_shown),
        cmocka_unit_test(a_widget_of_others_is_allowed_only_where_it_is_named),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
