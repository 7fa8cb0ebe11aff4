/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a connection speaks for, on a real edge. The peer is always 127.0.0.1; whether that is a
 * trusted proxy is the test's choice. */
#include "edge/caller_counts.h"
#include "edge/forwarded.h"
#include "tests/unit/base/unit.h"
#include "tests/unit/edge/edge_harness.h"

#include <stdio.h>
#include <unistd.h>

#define ASK "GET /client HTTP/1.1\r\nHost: t\r\n"
#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"

static struct harness harness;
static struct trusted trusted;
static struct caller_counts *callers;
static char text[HARNESS_REPLY_MAX];

static void start(const char *blocks, bool proxy_protocol, uint32_t cap)
{
    struct span bad;
    const struct hash_key key = { 5, 6 };
    assert_int_equal(trusted_parse(&trusted, span_from_string(blocks), &bad), STATUS_OK);
    trusted.proxy_protocol = proxy_protocol;
    if (cap > 0)
        assert_int_equal(caller_counts_create(&callers, 64, cap, ADDRESS_GROUP_BITS, key), STATUS_OK);
    harness_start(&harness,
        (struct edge_config){ .trusted = &trusted, .callers = callers, .head_timeout_ms = 300 });
}

static int end(void **state)
{
    (void)state;
    harness_stop(&harness);
    caller_counts_free(callers);
    callers = NULL;
    return 0;
}

static void expect_client(int fd, const char *wanted)
{
    assert_int_equal(client_read(fd, text, sizeof(text), false), 200);
    assert_non_null(strstr(text, wanted));
    assert_string_equal(strstr(text, wanted), wanted); /* and nothing behind it */
}

static void the_peer_is_the_client_and_nobody_else_is_believed(void **state)
{
    (void)state;
    start("", false, 0);
    int fd = client_connect(&harness);
    client_send(fd, ASK "X-Forwarded-For: 203.0.113.7\r\n\r\n");
    expect_client(fd, "\r\n127.0.0.1");
    client_send(fd, ASK "X-Forwarded-For: 203.0.113.7\r\nConnection: close\r\n\r\n"); /* the longer way */
    expect_client(fd, "\r\n127.0.0.1");
    close(fd);
}

static void a_trusted_peer_names_another_client_with_each_request(void **state)
{
    (void)state;
    start("127.0.0.0/8", false, 0);
    int fd = client_connect(&harness);
    client_send(fd, ASK "X-Forwarded-For: 203.0.113.7\r\n\r\n");
    expect_client(fd, "\r\n203.0.113.7");
    client_send(fd, ASK "X-Forwarded-For: 2001:db8::1, 127.0.0.3\r\n\r\n");
    expect_client(fd, "\r\n2001:db8::1");
    client_send(fd, ASK "\r\n");
    expect_client(fd, "\r\n127.0.0.1");
    client_send(fd, ASK "X-Forwarded-For: 203.0.113.7\r\nConnection: close\r\n\r\n");
    expect_client(fd, "\r\n203.0.113.7");
    close(fd);
}

static void a_header_ahead_of_the_first_request_names_the_client_of_all(void **state)
{
    (void)state;
    start("127.0.0.1", true, 0);
    int fd = client_connect(&harness);
    client_send(fd, "PROXY TCP4 203.0.113.7 10.0.0.1 1 2\r\n" ASK "\r\n");
    expect_client(fd, "\r\n203.0.113.7");
    client_send(fd, ASK "X-Forwarded-For: 1.1.1.1\r\n\r\n"); /* who is told is no proxy of ours */
    expect_client(fd, "\r\n203.0.113.7");
    close(fd);
    fd = client_connect(&harness); /* in pieces, the last without an end of line in it */
    client_send_bytes(fd, SIGNATURE "\x21\x11\0\x0c\xcb", 17);
    test_sleep_ms(20);
    client_send_bytes(fd, "\0\x71\x07\x0a\0\0\1\0\1\0\2", 11);
    test_sleep_ms(20);
    client_send(fd, ASK "\r\n");
    expect_client(fd, "\r\n203.0.113.7");
    close(fd);
}

static void a_trusted_peer_must_send_the_header_and_in_time(void **state)
{
    (void)state;
    start("127.0.0.1", true, 0);
    int fd = client_connect(&harness);
    client_send(fd, ASK "\r\n");
    assert_int_equal(client_read(fd, text, sizeof(text), false), 400);
    assert_true(client_is_closed(fd, 1000));
    close(fd);
    fd = client_connect(&harness);
    client_send(fd, "PROXY TCP4 ");
    assert_int_equal(client_read(fd, text, sizeof(text), false), 408);
    assert_true(client_is_closed(fd, 1000));
    close(fd);
}

static void the_header_of_a_stranger_is_a_malformed_request(void **state)
{
    (void)state;
    start("10.0.0.0/8", true, 0);
    int fd = client_connect(&harness);
    client_send(fd, "PROXY TCP4 203.0.113.7 10.0.0.1 1 2\r\n" ASK "\r\n");
    assert_int_equal(client_read(fd, text, sizeof(text), false), 400);
    close(fd);
    fd = client_connect(&harness);
    client_send_bytes(fd, SIGNATURE "\x21\x11\0\x0c\xcb\0\x71\x07\x0a\0\0\1\0\1\0\2", 28);
    assert_int_equal(client_read(fd, text, sizeof(text), false), 400);
    close(fd);
}

static void connections_above_the_cap_are_turned_away_until_one_leaves(void **state)
{
    (void)state;
    start("", false, 2);
    int first = client_connect(&harness), second = client_connect(&harness);
    client_send(first, ASK "\r\n");
    expect_client(first, "\r\n127.0.0.1");
    client_send(second, ASK "\r\n");
    expect_client(second, "\r\n127.0.0.1");
    int third = client_connect(&harness);
    assert_int_equal(client_read(third, text, sizeof(text), false), 429);
    assert_true(client_is_closed(third, 1000));
    close(third);
    close(second);
    test_sleep_ms(50);
    second = client_connect(&harness);
    client_send(second, ASK "\r\n");
    expect_client(second, "\r\n127.0.0.1");
    close(first);
    close(second);
}

static void the_cap_is_for_who_is_told_and_not_for_the_proxy(void **state)
{
    int proxied[3];
    (void)state;
    start("127.0.0.1", true, 1);
    for (int i = 0; i < 3; i++) {
        char head[128];
        proxied[i] = client_connect(&harness);
        snprintf(head, sizeof head, "PROXY TCP4 203.0.113.%d 10.0.0.1 1 2\r\n" ASK "\r\n", i);
        client_send(proxied[i], head);
        assert_int_equal(client_read(proxied[i], text, sizeof(text), false), 200);
    }
    int again = client_connect(&harness);
    client_send(again, "PROXY TCP4 203.0.113.1 10.0.0.1 1 2\r\n" ASK "\r\n");
    assert_int_equal(client_read(again, text, sizeof(text), false), 429);
    close(again);
    for (int i = 0; i < 3; i++)
        close(proxied[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_peer_is_the_client_and_nobody_else_is_believed, end),
        cmocka_unit_test_teardown(a_trusted_peer_names_another_client_with_each_request, end),
        cmocka_unit_test_teardown(a_header_ahead_of_the_first_request_names_the_client_of_all, end),
        cmocka_unit_test_teardown(a_trusted_peer_must_send_the_header_and_in_time, end),
        cmocka_unit_test_teardown(the_header_of_a_stranger_is_a_malformed_request, end),
        cmocka_unit_test_teardown(connections_above_the_cap_are_turned_away_until_one_leaves, end),
        cmocka_unit_test_teardown(the_cap_is_for_who_is_told_and_not_for_the_proxy, end),
    };
    return cmocka_run_group_tests_name("edge/client", tests, NULL, NULL);
}
