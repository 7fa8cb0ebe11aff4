/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/sending.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SLOTS = 2, FIRST_BYTES = 100 * 1000, SECOND_BYTES = 3 * 1000 * 1000 };

static struct edge edge;
static char first[FIRST_BYTES], second[SECOND_BYTES], got[FIRST_BYTES + SECOND_BYTES + 1];
static struct connection *connection;
static int peer;

static int start(void **state)
{
    (void)state;
    const uint32_t bytes[BUFFER_CLASSES] = { 100, 1000, 10000, FIRST_BYTES };
    const uint32_t count[BUFFER_CLASSES] = { 1, 1, 1, 1 };
    edge = (struct edge){ .config.send_timeout_ms = 500, .now = 1000 };
    for (size_t i = 0; i < sizeof(first); i++)
        first[i] = (char)(i % 101);
    for (size_t i = 0; i < sizeof(second); i++)
        second[i] = (char)(i % 103);
    if (arena_open(&edge.arena, buffers_arena_bytes(bytes, count) + connections_arena_bytes(SLOTS) + 4096)
        != STATUS_OK)
        return -1;
    buffers_create(&edge.buffers, &edge.arena, bytes, count);
    connections_create(&edge.table, &edge.arena, &edge.buffers, SLOTS);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0)
        return -1;
    peer = pair[1];
    connection = connection_open(&edge.table, pair[0]);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    close(connection->fd);
    connection_close(&edge.table, connection);
    close(peer);
    arena_close(&edge.arena);
    return 0;
}

static void what_fits_is_sent_at_once(void **state)
{
    (void)state;
    sending_start(&edge, connection, SPAN("abc"), SPAN("def"));
    assert_false(sending_pending(connection));
    assert_int_equal(recv(peer, got, sizeof(got), 0), 6);
    assert_memory_equal(got, "abcdef", 6);
    sending_start(&edge, connection, SPAN_NONE, SPAN("x"));
    assert_int_equal(recv(peer, got, sizeof(got), 0), 1);
    assert_false(connection->failed);
}

static void what_does_not_fit_follows_in_order(void **state)
{
    (void)state;
    struct span a = span_of(first, sizeof(first)), b = span_of(second, sizeof(second));
    while (send(connection->fd, first, 10000, MSG_NOSIGNAL) > 0) /* until the socket is full */
        continue;
    sending_start(&edge, connection, a, b);
    assert_true(sending_pending(connection));
    assert_int_equal(connection->send_until, 1500);
    while (recv(peer, got, sizeof(got), 0) > 0)
        continue;
    memset(first, 0, sizeof(first)); /* the first part was copied, the second must stay */
    size_t total = 0;
    for (int i = 0; i < 1000 && (sending_pending(connection) || total < a.size + b.size); i++) {
        if (sending_pending(connection))
            sending_continue(&edge, connection);
        ssize_t more = recv(peer, got + total, sizeof(got) - total, 0);
        total += more > 0 ? (size_t)more : 0;
    }
    assert_int_equal(total, a.size + b.size);
    assert_int_equal(got[100], 100);
    assert_int_equal(got[FIRST_BYTES - 1], (FIRST_BYTES - 1) % 101);
    assert_memory_equal(got + FIRST_BYTES, second, SECOND_BYTES);
    assert_false(sending_pending(connection));
}

static void a_long_answer_goes_in_pieces(void **state)
{
    (void)state;
    sending_start(&edge, connection, SPAN("head"), span_of(second, sizeof(second)));
    assert_int_equal(recv(peer, got, sizeof(got), 0), strlen("head") + EDGE_SEND_PIECE);
    assert_true(sending_pending(connection) && connection->takes_more); /* the others are next */
    sending_continue(&edge, connection);
    assert_int_equal(recv(peer, got, sizeof(got), 0), EDGE_SEND_PIECE);
    assert_memory_equal(got, second + EDGE_SEND_PIECE, EDGE_SEND_PIECE);
}

static void only_progress_earns_more_time(void **state)
{
    (void)state;
    sending_start(&edge, connection, span_of(first, sizeof(first)), span_of(second, sizeof(second)));
    assert_true(sending_pending(connection));
    while (connection->takes_more) /* until the socket is full */
        sending_continue(&edge, connection);
    edge.now = 1400;
    sending_continue(&edge, connection); /* nothing goes */
    assert_int_equal(connection->send_until, 1500);
    while (recv(peer, got, sizeof(got), 0) > 0)
        continue;
    for (size_t sent = 0; sent < EDGE_SEND_PROGRESS; sent += EDGE_SEND_PIECE)
        sending_continue(&edge, connection);
    assert_int_equal(connection->send_until, 1900);
}

static void a_few_bytes_earn_none(void **state)
{
    (void)state;
    sending_start(&edge, connection, SPAN_NONE, span_of(second, sizeof(second)));
    while (connection->takes_more) /* until the socket is full */
        sending_continue(&edge, connection);
    assert_true(sending_pending(connection));
    connection->body = span_of(connection->body.data, EDGE_SEND_PROGRESS - 1); /* so much and no more goes */
    connection->sent_bytes = 0;
    edge.now = 1400;
    while (recv(peer, got, sizeof(got), 0) > 0)
        continue;
    sending_continue(&edge, connection);
    assert_int_equal(connection->sent_bytes, EDGE_SEND_PROGRESS - 1);
    assert_int_equal(connection->send_until, 1500);
}

static void a_broken_socket_fails_the_connection(void **state)
{
    (void)state;
    shutdown(connection->fd, SHUT_WR);
    sending_start(&edge, connection, SPAN("abc"), SPAN_NONE);
    assert_true(connection->failed);
    assert_false(sending_pending(connection));
}

static void without_a_buffer_left_the_connection_fails(void **state)
{
    (void)state;
    struct buffer taken[BUFFER_CLASSES];
    for (int i = 0; i < BUFFER_CLASSES; i++)
        assert_true(buffer_take(&edge.buffers, &taken[i], 1));
    while (send(connection->fd, first, 10000, MSG_NOSIGNAL) > 0)
        continue;
    sending_start(&edge, connection, SPAN("abc"), SPAN_NONE);
    assert_true(connection->failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_fits_is_sent_at_once, start, stop),
        cmocka_unit_test_setup_teardown(what_does_not_fit_follows_in_order, start, stop),
        cmocka_unit_test_setup_teardown(a_long_answer_goes_in_pieces, start, stop),
        cmocka_unit_test_setup_teardown(only_progress_earns_more_time, start, stop),
        cmocka_unit_test_setup_teardown(a_few_bytes_earn_none, start, stop),
        cmocka_unit_test_setup_teardown(a_broken_socket_fails_the_connection, start, stop),
        cmocka_unit_test_setup_teardown(without_a_buffer_left_the_connection_fails, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
