/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and responses on one connection, against a real edge. */
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

static void place(char *at, struct span bytes)
{
    memcpy(at, bytes.data, bytes.size);
}

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

static void a_connection_is_kept_for_the_next_request(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    for (int i = 0; i < 3; i++) {
        client_send(fd, GET("/now"));
        expect(fd, 200, "now");
        assert_null(strstr(text, "Connection: close"));
    }
    close(fd);
}

static void connection_close_and_http_1_0_end_it_after_the_answer(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "GET /now HTTP/1.1\r\nHost: t\r\nConnection: x, Close\r\n\r\n", "GET /now HTTP/1.0\r\n\r\n",
        "GET /defer HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n",
        "GET /answer HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"
    };
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        int fd = client_connect(&harness);
        client_send(fd, requests[i]);
        assert_int_equal(client_read(fd, text, sizeof(text), false), 200);
        assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
        assert_int_equal(client_read(fd, text, sizeof(text), false), 0);
        close(fd);
    }
}

static void a_chunked_request_that_had_to_wait_is_decoded_once(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd,
        GET("/defer?1") "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                        "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\nTrailer: t\r\n\r\n" GET("/now"));
    expect(fd, 200, "answer 1");
    expect(fd, 200, "abcdefg");
    expect(fd, 200, "now");
    close(fd);
}

static void bodies_come_whole_however_they_were_cut(void **state)
{
    (void)state;
    static const char *const requests[] = {
        "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 7\r\n\r\nabcdefg",
        "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: "
        "chunked\r\n\r\n2\r\nab\r\n5\r\ncdefg\r\n0\r\n\r\n",
    };
    for (size_t i = 0; i < 2; i++) {
        int fd = client_connect(&harness);
        for (size_t at = 0; requests[i][at] != 0; at++) {
            client_send_bytes(fd, requests[i] + at, 1);
            if (at % 7 == 0)
                test_sleep_ms(1);
        }
        expect(fd, 200, "abcdefg");
        client_send(fd, GET("/now"));
        expect(fd, 200, "now");
        close(fd);
    }
}

static void expect_gets_a_continue_before_the_body_is_sent(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd,
        GET("/defer?1") "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n"
                        "Expect: 100-continue\r\n\r\n");
    expect(fd, 200, "answer 1"); /* in its turn, not before */
    assert_int_equal(client_read(fd, text, sizeof(text), true), 100);
    client_send(fd, "abc");
    expect(fd, 200, "abc");
    client_send(fd,
        "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\nxyz");
    expect(fd, 200, "xyz"); /* its body was there already */
    close(fd);
}

static void a_body_that_is_too_long_is_refused_before_it_is_read(void **state)
{
    (void)state;
    static char junk[200 * 1024];
    memset(junk, 'x', sizeof(junk));
    int fd = client_connect(&harness);
    client_send(fd, "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 4097\r\n\r\n");
    client_send_bytes(fd, junk, sizeof(junk)); /* must not cost it the answer */
    assert_int_equal(client_read(fd, text, sizeof(text), false), 413);
    assert_true(client_is_closed(fd, 3000));
    close(fd);
    fd = client_connect(&harness);
    client_send(fd, "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 4096\r\n\r\n");
    client_send_bytes(fd, junk, 4096);
    assert_int_equal(client_read(fd, text, sizeof(text), false), 200);
    close(fd);
}

static void a_head_that_is_too_long_is_refused(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd, "GET / HTTP/1.1\r\nHost: t\r\n");
    for (int i = 0; i < 9; i++) {
        static char line[1000];
        memset(line, 'x', sizeof(line));
        place(line, SPAN("A: "));
        place(line + sizeof(line) - 2, SPAN("\r\n"));
        client_send_bytes(fd, line, sizeof(line));
        test_sleep_ms(2);
    }
    assert_int_equal(client_read(fd, text, sizeof(text), false), 431);
    assert_true(client_is_closed(fd, 1000));
    close(fd);
}

static void a_client_that_closed_its_side_still_gets_all_answers(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd, GET("/defer?1") GET("/now") GET("/defer?2"));
    shutdown(fd, SHUT_WR);
    expect(fd, 200, "answer 1");
    expect(fd, 200, "now");
    expect(fd, 200, "answer 2");
    assert_int_equal(client_read(fd, text, sizeof(text), false), 0);
    close(fd);
}

static void half_a_request_and_then_the_end_is_no_request(void **state)
{
    (void)state;
    int fd = client_connect(&harness);
    client_send(fd, "GET /now HTTP/1.1\r\nHo");
    shutdown(fd, SHUT_WR);
    assert_int_equal(client_read(fd, text, sizeof(text), false), 0);
    close(fd);
}

static void completions_for_a_client_that_left_are_dropped(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        int fd = client_connect(&harness);
        client_send(fd, GET("/defer?1") GET("/defer?2"));
        struct linger reset = { .l_onoff = 1, .l_linger = 0 };
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        close(fd);
    }
    int fd = client_connect(&harness);
    client_send(fd, GET("/defer?7"));
    expect(fd, 200, "answer 7");
    close(fd);
}

static void ten_thousand_requests_get_ten_thousand_answers(void **state)
{
    (void)state;
    enum { CONNECTIONS = 20, ROUNDS = 50, PIPELINED = 10 };
    int fds[CONNECTIONS];
    for (int c = 0; c < CONNECTIONS; c++)
        fds[c] = client_connect(&harness);
    uint32_t before = atomic_load(&harness.handled);
    for (int round = 0; round < ROUNDS; round++) {
        for (int c = 0; c < CONNECTIONS; c++) {
            for (int i = 0; i < PIPELINED; i++)
                client_send(fds[c], i % 2 == 0 ? GET("/now") : GET("/answer?5"));
        }
        for (int c = 0; c < CONNECTIONS; c++) {
            for (int i = 0; i < PIPELINED; i++)
                expect(fds[c], 200, i % 2 == 0 ? "now" : "answer 5");
        }
    }
    assert_int_equal(atomic_load(&harness.handled) - before, CONNECTIONS * ROUNDS * PIPELINED);
    for (int c = 0; c < CONNECTIONS; c++)
        close(fds[c]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_is_kept_for_the_next_request),
        cmocka_unit_test(connection_close_and_http_1_0_end_it_after_the_answer),
        cmocka_unit_test(a_chunked_request_that_had_to_wait_is_decoded_once),
        cmocka_unit_test(bodies_come_whole_however_they_were_cut),
        cmocka_unit_test(expect_gets_a_continue_before_the_body_is_sent),
        cmocka_unit_test(a_body_that_is_too_long_is_refused_before_it_is_read),
        cmocka_unit_test(a_head_that_is_too_long_is_refused),
        cmocka_unit_test(a_client_that_closed_its_side_still_gets_all_answers),
        cmocka_unit_test(half_a_request_and_then_the_end_is_no_request),
        cmocka_unit_test(completions_for_a_client_that_left_are_dropped),
        cmocka_unit_test(ten_thousand_requests_get_ten_thousand_answers),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
