/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/redirect.h"

#include "base/clock.h"
#include "edge/http_date.h"
#include "tests/unit/base/unit.h"

static struct http_request request(const char *host, const char *path, const char *query)
{
    return (struct http_request){ .host = span_from_string(host),
        .path = span_from_string(path),
        .query = span_from_string(query) };
}

static bool applies(const char *host, const char *path)
{
    const struct http_request asked = request(host, path, NULL);
    return redirect_applies(&asked, "192.0.2.5");
}

static void probes_this_machine_and_what_names_no_host_are_left_alone(void **state)
{
    (void)state;
    assert_true(applies("shop.example", "/"));
    assert_true(applies("shop.example:8080", "/livez2"));
    assert_true(applies("[2001:db8::1]:80", "/x"));
    assert_false(applies("shop.example", "/livez"));
    assert_false(applies("shop.example", "/readyz"));
    assert_false(applies("shop.example", "/metrics"));
    assert_false(applies("127.0.0.1:8080", "/"));
    assert_false(applies("localhost", "/"));
    assert_false(applies("[::1]:8080", "/"));
    assert_false(applies("192.0.2.5:80", "/"));
    assert_true(applies("192.0.2.50:80", "/"));
    assert_false(applies(NULL, "/"));
    assert_false(applies(":80", "/"));
    assert_false(applies("shop.example/@evil", "/"));
    assert_false(applies("shop.example", "*"));
}

static void sent_to(const char *host, const char *query, uint16_t port, const char *location)
{
    char bytes[1024];
    struct text out = text_in(bytes, sizeof bytes);
    const struct http_request asked = request(host, "/v1/x", query);
    redirect_write(&asked, port, false, &out);
    assert_false(out.overflow);
    assert_true(span_starts_with(text_span(&out), SPAN("HTTP/1.1 308 Permanent Redirect\r\n")));
    assert_non_null(memmem(out.data, out.size, location, strlen(location)));
}

static void host_path_and_query_stay_and_the_port_is_that_of_tls(void **state)
{
    (void)state;
    sent_to("shop.example:8080", NULL, 443, "\r\nLocation: https://shop.example/v1/x\r\n");
    sent_to("shop.example", "a=1&b", 8443, "\r\nLocation: https://shop.example:8443/v1/x?a=1&b\r\n");
    sent_to("[2001:db8::1]:80", NULL, 443, "\r\nLocation: https://[2001:db8::1]/v1/x\r\n");
    sent_to("[2001:db8::1]", NULL, 443, "\r\nLocation: https://[2001:db8::1]/v1/x\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_this_machine_and_what_names_no_host_are_left_alone),
        cmocka_unit_test(host_path_and_query_stay_and_the_port_is_that_of_tls),
    };
    clock_start(0);
    http_date_turn(clock_now_ms());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
