/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/edge/replies_test.c: answers leave whole and in order, against a real edge. */
#include "tests/unit/edge/edge_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: t\r\n\r\n"

static struct harness harness;
static char text[HARNESS_REPLY_MAX];

static int start(void **state)
{
    (void)state;
    harness_start(&harness, (struct edge_config){ .body_max = 4096 });
    return 0;
}

static int stop(void **state)
{
    (void)state;
    harness_stop(&harness);
    return 0;
}

static void expect(int fd, int status, const char *body)
{
    assert_int_equal(client_read(fd, text, sizeof(text), false), status);
    assert_string_equal(strstr(text, "\r\n\r\n") + 4, body);
}

static void pipelined_answers_leave_in_the_order_of_the_requests(void **state)
{
    (void)state;
    enum { REQUESTS = 500 };
    static char all[REQUESTS * 64];
    size_t size = 0;
    int fd = client_connect(&harness);
    for (int i = 0; i < REQUESTS; i++) /* deferred ones complete newest first */
        size += (size_t)snprintf(all + size, sizeof(all) - size,
            "GET /%s?%d HTTP/1.1\r\nHost: t\r\n\r\n", i % 3 == 0 ? "answer" : "defer", i);
    client_send_bytes(fd, all, size);
    for (int i = 0; i < REQUESTS; i++) {
        char body[32];
        snprintf(body, sizeof(body), "answer %d", i);
        expect(fd, 200, body);
    }
    close(fd);
}

static void a_request_that_does_not_overlap_waits_for_those_before_it(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd,
        GET("/defer?1") GET("/defer?2") GET("/now") GET("/bytes") GET("/bytes") GET("/defer?3")
            GET("/now"));
    expect(fd, 200, "answer 1");
    expect(fd, 200, "answer 2");
    expect(fd, 200, "now");
    expect(fd, 200, "bytes");
    expect(fd, 200, "bytes");
    expect(fd, 200, "answer 3");
    expect(fd, 200, "now");
    close(fd);
}

static void head_gets_the_head_of_get_without_its_body(void **state)
{
    (void)state;
    static const char *const paths[] = { "/now", "/answer?1", "/defer?1", "/bytes", "/page", "/big" };
    int fd = client_connect(&harness);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        char request[128];
        snprintf(request, sizeof(request), "HEAD %s HTTP/1.1\r\nHost: t\r\n\r\n", paths[i]);
        client_send(fd, request);
        assert_int_equal(client_read(fd, text, sizeof(text), true), 200);
        assert_null(strstr(text, "Content-Length: 0"));
        assert_non_null(strstr(text, "Content-Length: "));
    }
    client_send(fd, GET("/now"));
    expect(fd, 200, "now");
    close(fd);
}

static void a_refused_head_gets_no_body(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd, "HEAD /now HTTP/1.1\r\nHost: t\r\nno colon\r\n\r\n");
    assert_int_equal(client_read(fd, text, sizeof(text), true), 400);
    assert_null(strstr(text, "Content-Length: 0"));
    char more;
    assert_int_equal(recv(fd, &more, 1, 0), 0); /* the end, and not a byte before it */
    close(fd);
}

static void malformed_requests_are_refused_in_turn_and_the_connection_closes(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd, GET("/defer?1") "GET / HTTP/1.1\r\nHost : t\r\n\r\n" GET("/now"));
    expect(fd, 200, "answer 1");
    assert_int_equal(client_read(fd, text, sizeof(text), false), 400);
    assert_non_null(strstr(text, "Connection: close"));
    assert_true(client_is_closed(fd, 1000));
    close(fd);
}

static void long_bodies_arrive_whole_though_the_socket_fills(void **state)
{
    (void)state;
    static char big[HARNESS_BIG_BYTES + 4096];
    int fd = client_connect(&harness);
    client_send(fd, GET("/page") GET("/big") GET("/page") GET("/now"));
    test_sleep_ms(50);
    assert_int_equal(client_read(fd, big, sizeof(big), false), 200);
    assert_int_equal(client_read(fd, big, sizeof(big), false), 200);
    assert_memory_equal(strstr(big, "\r\n\r\n") + 4, harness.big, HARNESS_BIG_BYTES);
    assert_int_equal(client_read(fd, big, sizeof(big), false), 200);
    expect(fd, 200, "now");
    close(fd);
}

static void an_answer_that_does_not_fit_becomes_a_500(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd, GET("/now") GET("/flood"));
    expect(fd, 200, "now");
    assert_int_equal(client_read(fd, text, sizeof(text), false), 500);
    assert_true(client_is_closed(fd, 1000));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipelined_answers_leave_in_the_order_of_the_requests),
        cmocka_unit_test(a_request_that_does_not_overlap_waits_for_those_before_it),
        cmocka_unit_test(head_gets_the_head_of_get_without_its_body),
        cmocka_unit_test(a_refused_head_gets_no_body),
        cmocka_unit_test(malformed_requests_are_refused_in_turn_and_the_connection_closes),
        cmocka_unit_test(long_bodies_arrive_whole_though_the_socket_fills),
        cmocka_unit_test(an_answer_that_does_not_fit_becomes_a_500),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
