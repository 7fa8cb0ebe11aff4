/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/edge/quick_test.c: the only answer of a connection, straight to its socket. */
#include "edge/quick.h"

#include "edge/sending.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SLOTS = 2, READY_BYTES = 5000, OUT_BYTES = 64 };

static struct edge edge;
static char ready_bytes[READY_BYTES], out_bytes[OUT_BYTES], got[1 << 20];
static struct connection *connection;
static struct edge_answer answer;
static int peer;

/* Kind 1 lies ready; kind 2 does not; kind 3 does not fit. */
static struct span ready(void *self, const struct edge_answer *asked)
{
    (void)self;
    return asked->kind == 1 ? span_of(ready_bytes, asked->a) : SPAN_NONE;
}
static void render(void *self, const struct edge_answer *asked, bool closing, struct text *out)
{
    (void)self;
    assert_false(closing);
    text_literal(out, "rendered ");
    text_u64(out, asked->a);
    for (int i = 0; i < OUT_BYTES && asked->kind == 3; i++)
        text_literal(out, "x");
}
static void refuse(void *self, int status, const char *why, struct text *out)
{
    (void)self;
    (void)why;
    text_u64(out, (uint64_t)status);
}

static int start(void **state)
{
    (void)state;
    const uint32_t bytes[BUFFER_CLASSES] = { 100, 1000, READY_BYTES, 2 * READY_BYTES };
    const uint32_t count[BUFFER_CLASSES] = { 1, 1, 1, 1 };
    edge = (struct edge){ .config = { .idle_timeout_ms = 700, .send_timeout_ms = 500 },
        .handler = { .ready = ready, .render = render, .refuse = refuse },
        .out = text_in(out_bytes, sizeof out_bytes),
        .now = 1000 };
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
    if (connection->fd >= 0)
        close(connection->fd);
    close(peer);
    arena_close(&edge.arena);
    return 0;
}

/* One request waits, and this is its answer. */
static void waits(uint8_t kind, uint32_t a)
{
    (void)connection_owe(connection, edge.now);
    answer = (struct edge_answer){ .kind = kind, .a = a };
}

static size_t take(size_t size)
{
    size_t taken = 0;
    for (ssize_t more; (more = recv(peer, got + taken, size - taken, 0)) > 0;)
        taken += (size_t)more;
    return taken;
}

static void an_answer_that_lies_ready_goes_out_as_it_is_and_the_connection_is_idle(void **state)
{
    (void)state;
    memcpy(ready_bytes, "ready", 5);
    waits(1, 5);
    assert_true(quick_answer(&edge, connection, &answer));
    assert_int_equal(take(sizeof got), 5);
    assert_memory_equal(got, "ready", 5);
    assert_int_equal(connection_owes(connection), 0);
    assert_int_equal(edge.table.deadlines[connection->index], 1700);
    assert_int_equal(edge.out.size, 0);
}

static void one_that_does_not_is_rendered(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) { /* the out buffer is empty again */
        waits(2, i);
        assert_true(quick_answer(&edge, connection, &answer));
        assert_int_equal(take(sizeof got), 10);
        assert_memory_equal(got, i == 0 ? "rendered 0" : "rendered 1", 10);
    }
    edge.handler.ready = NULL;
    waits(1, 2);
    assert_true(quick_answer(&edge, connection, &answer));
    assert_int_equal(take(sizeof got), 10);
    assert_memory_equal(got, "rendered 2", 10);
}

static void one_that_does_not_fit_becomes_a_500_and_the_connection_ends(void **state)
{
    (void)state;
    waits(3, 0);
    assert_true(quick_answer(&edge, connection, &answer));
    assert_int_equal(take(3), 3);
    assert_memory_equal(got, "500", 3);
    assert_true(connection->finishing);
}

static void what_the_socket_does_not_take_is_kept_before_the_ready_bytes_change(void **state)
{
    (void)state;
    size_t before = 0;
    for (ssize_t sent; (sent = send(connection->fd, got, sizeof got, MSG_NOSIGNAL)) > 0;)
        before += (size_t)sent;
    memset(ready_bytes, 'r', sizeof ready_bytes);
    waits(1, READY_BYTES);
    assert_true(quick_answer(&edge, connection, &answer));
    assert_true(sending_pending(connection));
    assert_int_equal(edge.table.deadlines[connection->index], 1500);
    memset(ready_bytes, 'x', sizeof ready_bytes);
    assert_int_equal(take(before), before);
    sending_continue(&edge, connection);
    assert_int_equal(take(sizeof got), READY_BYTES);
    for (size_t i = 0; i < READY_BYTES; i++)
        assert_int_equal(got[i], 'r');
    assert_false(sending_pending(connection));
}

static void a_connection_with_more_to_do_is_left_alone(void **state)
{
    (void)state;
    waits(1, 5);
    const struct connection plain = *connection;
#define LEFT_ALONE(change) \
    do { \
        *connection = plain; \
        connection->change; \
        assert_false(quick_answer(&edge, connection, &answer)); \
        assert_int_equal(connection->sequence_done, plain.sequence_done); \
    } while (0)
    LEFT_ALONE(sequence_next++);
    LEFT_ALONE(sequence_next--);
    LEFT_ALONE(single.head_only = true);
    LEFT_ALONE(queue.data = got);
    LEFT_ALONE(in.data = got);
    LEFT_ALONE(out.data = got);
    LEFT_ALONE(body.size = 1);
    LEFT_ALONE(refuse_status = 408);
    LEFT_ALONE(phase = PHASE_HEAD);
    LEFT_ALONE(phase = PHASE_WEBSOCKET);
    LEFT_ALONE(readable = true);
    LEFT_ALONE(hung_up = true);
    LEFT_ALONE(ended = true);
    LEFT_ALONE(finishing = true);
    LEFT_ALONE(lingering = true);
    LEFT_ALONE(failed = true);
#undef LEFT_ALONE
    *connection = plain;
    edge.draining = true; /* it is to be closed with this answer */
    assert_false(quick_answer(&edge, connection, &answer));
    edge.draining = false;
    edge.out.size = 1; /* the answers of another one */
    assert_false(quick_answer(&edge, connection, &answer));
    edge.out.size = 0;
    assert_int_equal(connection->sequence_done, plain.sequence_done);
    assert_int_equal(take(sizeof got), 0);
    assert_true(quick_answer(&edge, connection, &answer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            an_answer_that_lies_ready_goes_out_as_it_is_and_the_connection_is_idle, start, stop),
        cmocka_unit_test_setup_teardown(one_that_does_not_is_rendered, start, stop),
        cmocka_unit_test_setup_teardown(
            one_that_does_not_fit_becomes_a_500_and_the_connection_ends, start, stop),
        cmocka_unit_test_setup_teardown(
            what_the_socket_does_not_take_is_kept_before_the_ready_bytes_change, start, stop),
        cmocka_unit_test_setup_teardown(a_connection_with_more_to_do_is_left_alone, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
