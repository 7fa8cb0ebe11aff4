/* SPDX-License-Identifier: Apache-2.0 */
/* A connection that has become a websocket: pings, slow readers, silence, the end. */
#include "edge/connection.h"
#include "edge/websocket.h"
#include "tests/unit/edge/edge_harness.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define UPGRADE \
    "GET /socket HTTP/1.1\r\nHost: t\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

static struct harness harness;

static int end(void **state)
{
    (void)state;
    harness_stop(&harness);
    return 0;
}

static int end_drained(void **state)
{
    (void)state;
    return 0;
}

static void read_exactly(int fd, void *data, size_t size)
{
    char *at = data;
    while (size > 0) {
        const ssize_t got = recv(fd, at, size, 0);
        assert_true(got > 0);
        at += got;
        size -= (size_t)got;
    }
}

static void upgrade_read(int fd)
{
    char text[HARNESS_REPLY_MAX];
    assert_int_equal(client_read(fd, text, sizeof text, true), 101);
}

static int upgraded(void)
{
    const int fd = client_connect(&harness);
    client_send(fd, UPGRADE);
    upgrade_read(fd);
    return fd;
}

static void frame_send(int fd, unsigned first, const char *payload)
{
    char bytes[256] = { (char)first, (char)(0x80 | strlen(payload)), 0, 0, 0, 0 }; /* a mask of zeros */
    memcpy(bytes + 6, payload, strlen(payload));
    client_send_bytes(fd, bytes, 6 + strlen(payload));
}

/* The opcode of the next frame; its payload as a string. */
static unsigned frame_read(int fd, char payload[HARNESS_REPLY_MAX])
{
    uint8_t head[4];
    read_exactly(fd, head, 2);
    size_t size = head[1];
    if (size == 126) {
        read_exactly(fd, head + 2, 2);
        size = (size_t)head[2] << 8 | head[3];
    }
    read_exactly(fd, payload, size);
    payload[size] = 0;
    return head[0] & 15u;
}

static char payload[HARNESS_REPLY_MAX];

static void expect_echo(int fd, const char *text)
{
    frame_send(fd, 0x81, text);
    assert_int_equal(frame_read(fd, payload), WEBSOCKET_TEXT);
    assert_string_equal(payload, text);
}

static void expect_gone(enum edge_socket_end why, uint32_t count)
{
    const uint64_t until = test_now_ms() + 5000;
    while (atomic_load(&harness.gone[why]) < count && test_now_ms() < until)
        test_sleep_ms(2);
    assert_int_equal(atomic_load(&harness.gone[why]), count);
}

static void messages_go_both_ways_and_the_end_is_told_once(void **state)
{
    (void)state;
    harness_start(&harness, (struct edge_config){ .port = 0 });
    const int fd = upgraded(), other = upgraded();
    expect_echo(fd, "hello");
    expect_echo(other, "you too");
    frame_send(fd, 0x81, "close");
    assert_int_equal(frame_read(fd, payload), WEBSOCKET_CLOSE);
    assert_string_equal(payload + 2, "as you wish");
    close(fd);
    expect_gone(EDGE_SOCKET_LEFT, 1);
    close(other); /* without a word */
    expect_gone(EDGE_SOCKET_LEFT, 2);
}

static void requests_before_and_frames_behind_the_upgrade_are_kept_apart(void **state)
{
    (void)state;
    harness_start(&harness, (struct edge_config){ .port = 0 });
    const int fd = client_connect(&harness);
    client_send(fd, "GET /defer?7 HTTP/1.1\r\nHost: t\r\n\r\n" UPGRADE "\x81\x82");
    assert_int_equal(client_read(fd, payload, sizeof payload, false), 200);
    assert_non_null(strstr(payload, "answer 7"));
    upgrade_read(fd);
    client_send_bytes(fd, "\0\0\0\0hi\x89\x80\0\0\0\0GET / HTTP/1.1\r\n\r\n", 30);
    assert_int_equal(frame_read(fd, payload), WEBSOCKET_TEXT);
    assert_string_equal(payload, "hi");
    assert_int_equal(frame_read(fd, payload), WEBSOCKET_PONG);
    assert_int_equal(frame_read(fd, payload), WEBSOCKET_CLOSE); /* HTTP is no frame */
    close(fd);
    expect_gone(EDGE_SOCKET_BAD_FRAME, 1);
}

static void who_is_silent_is_pinged_and_then_closed(void **state)
{
    (void)state;
    harness_start(&harness,
        (struct edge_config){ .ping_ms = 200, .silence_ms = 700, .idle_timeout_ms = 100 });
    const int silent = upgraded(), alive = upgraded();
    for (int i = 0; i < 6; i++) {
        assert_int_equal(frame_read(alive, payload), WEBSOCKET_PING);
        frame_send(alive, 0x8a, "");
    }
    assert_int_equal(frame_read(silent, payload), WEBSOCKET_PING);
    expect_gone(EDGE_SOCKET_SILENT, 1);
    assert_true(client_is_closed(silent, 1000));
    expect_echo(alive, "still here");
    assert_int_equal(atomic_load(&harness.gone[EDGE_SOCKET_LEFT]), 0);
    close(silent);
    close(alive);
}

static int upgraded_slow(void)
{
    const int fd = client_connect(&harness), bytes = 4096;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes), 0);
    client_send(fd, UPGRADE);
    upgrade_read(fd);
    return fd;
}

static void who_does_not_read_is_cut_when_too_much_waits(void **state)
{
    (void)state;
    harness_start(&harness, (struct edge_config){ .send_timeout_ms = 60000 });
    const int slow = upgraded_slow(), reader = upgraded();
    for (int i = 0; i < 20; i++)
        frame_send(slow, 0x81, "1000"); /* a megabyte each */
    expect_gone(EDGE_SOCKET_SLOW, 1);
    frame_send(reader, 0x81, "10");
    for (int i = 0; i < 10; i++)
        assert_int_equal(frame_read(reader, payload), WEBSOCKET_TEXT);
    close(slow);
    close(reader);
}

static void nothing_is_added_behind_more_than_may_wait(void **state)
{
    (void)state;
    harness_start(&harness, (struct edge_config){ .send_timeout_ms = 60000 });
    const int slow = upgraded_slow();
    frame_send(slow, 0x81, "page"); /* waits alone, and is longer than what may wait behind another */
    frame_send(slow, 0x81, "1");
    expect_gone(EDGE_SOCKET_SLOW, 1);
    close(slow);
}

static void who_reads_slowly_gets_every_byte_in_order(void **state)
{
    (void)state;
    harness_start(&harness, (struct edge_config){ .send_timeout_ms = 60000 });
    const int slow = upgraded_slow();
    for (int round = 0; round < 40; round++) { /* each fits what may wait; all of them would not */
        frame_send(slow, 0x81, "14");
        for (int i = 0; i < 14; i++) {
            assert_int_equal(frame_read(slow, payload), WEBSOCKET_TEXT);
            assert_int_equal(strlen(payload), HARNESS_FRAME_BYTES);
            assert_memory_equal(payload, harness.big, HARNESS_FRAME_BYTES);
        }
    }
    expect_echo(slow, "done");
    close(slow);
}

static void one_long_message_may_wait_alone_until_the_deadline(void **state)
{
    (void)state;
    harness_start(&harness, (struct edge_config){ .send_timeout_ms = 400 });
    const int slow = upgraded_slow(), reader = upgraded();
    const uint64_t begun = test_now_ms();
    frame_send(slow, 0x81, "page"); /* more than the sockets take */
    frame_send(reader, 0x81, "page");
    static char page[HARNESS_PAGE_BYTES + WEBSOCKET_HEAD_MAX];
    read_exactly(reader, page, sizeof page);
    assert_memory_equal(page + WEBSOCKET_HEAD_MAX, harness.big, HARNESS_PAGE_BYTES);
    expect_echo(reader, "thanks");
    expect_gone(EDGE_SOCKET_SLOW, 1);
    assert_true(test_now_ms() - begun >= 400);
    close(slow);
    close(reader);
}

static void who_sends_too_much_is_closed_and_others_are_not(void **state)
{
    (void)state;
    harness_start(&harness, (struct edge_config){ .port = 0 });
    static const unsigned kinds[] = { 0x89, 0x8a, 0x81 }; /* ping, pong, text */
    const int quiet = upgraded();
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        const int loud = upgraded();
        unsigned answers = 0;
        for (int i = 0; i <= EDGE_SOCKET_MESSAGES_MAX; i++)
            frame_send(loud, kinds[kind], "a");
        while (frame_read(loud, payload) != WEBSOCKET_CLOSE)
            answers++;
        assert_int_equal(answers, kinds[kind] == 0x8a ? 0 : EDGE_SOCKET_MESSAGES_MAX);
        assert_string_equal(payload + 2, "too many messages");
        close(loud);
    }
    expect_gone(EDGE_SOCKET_BAD_FRAME, 3);
    expect_echo(quiet, "still here");
    close(quiet);
}

static void a_drain_says_goodbye(void **state)
{
    (void)state;
    harness_start(&harness, (struct edge_config){ .port = 0 });
    const int fd = upgraded();
    edge_drain(harness.edge, 5000);
    assert_int_equal(frame_read(fd, payload), WEBSOCKET_CLOSE);
    assert_memory_equal(payload,
        "\x03\xe9"
        "retry_ms=",
        11);
    close(fd);
    harness_join(&harness);
    assert_int_equal(atomic_load(&harness.gone[EDGE_SOCKET_DRAINED]), 1);
}

static void a_stop_with_open_sockets_tells_of_all_of_them(void **state)
{
    (void)state;
    harness_start(&harness, (struct edge_config){ .port = 0 });
    const int first = upgraded(), second = upgraded();
    edge_stop(harness.edge);
    harness_join(&harness);
    assert_int_equal(atomic_load(&harness.gone[EDGE_SOCKET_LEFT]), 2);
    close(first);
    close(second);
}

static void sockets_do_not_give_way_to_new_connections(void **state)
{
    enum { LIMIT = 4 };
    int fds[LIMIT];
    (void)state;
    harness_start(&harness, (struct edge_config){ .connections_max = LIMIT });
    for (int i = 0; i < LIMIT; i++)
        fds[i] = upgraded();
    test_sleep_ms(1100); /* a plain connection would be idle by now */
    const int late = client_connect(&harness);
    client_send(late, "GET /now HTTP/1.1\r\nHost: t\r\n\r\n");
    assert_int_equal(client_read(late, payload, sizeof payload, false), 503);
    close(late);
    for (int i = 0; i < LIMIT; i++) {
        expect_echo(fds[i], "mine");
        close(fds[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(messages_go_both_ways_and_the_end_is_told_once, end),
        cmocka_unit_test_teardown(requests_before_and_frames_behind_the_upgrade_are_kept_apart, end),
        cmocka_unit_test_teardown(who_is_silent_is_pinged_and_then_closed, end),
        cmocka_unit_test_teardown(who_does_not_read_is_cut_when_too_much_waits, end),
        cmocka_unit_test_teardown(nothing_is_added_behind_more_than_may_wait, end),
        cmocka_unit_test_teardown(who_reads_slowly_gets_every_byte_in_order, end),
        cmocka_unit_test_teardown(one_long_message_may_wait_alone_until_the_deadline, end),
        cmocka_unit_test_teardown(who_sends_too_much_is_closed_and_others_are_not, end),
        cmocka_unit_test_teardown(a_drain_says_goodbye, end_drained),
        cmocka_unit_test_teardown(a_stop_with_open_sockets_tells_of_all_of_them, end_drained),
        cmocka_unit_test_teardown(sockets_do_not_give_way_to_new_connections, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
