/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/connection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SLOTS = 3, QUEUES = 2 };

static struct arena arena;
static struct buffers buffers;
static struct connections table;

static int start(void **state)
{
    (void)state;
    const uint32_t bytes[BUFFER_CLASSES] = { EDGE_OVERLAP_MAX * sizeof(struct reply), 8192, 16384, 32768 };
    const uint32_t count[BUFFER_CLASSES] = { QUEUES, 1, 1, 1 };
    if (arena_open(&arena, buffers_arena_bytes(bytes, count) + connections_arena_bytes(SLOTS) + 4096)
        != STATUS_OK)
        return -1;
    buffers_create(&buffers, &arena, bytes, count);
    connections_create(&table, &arena, &buffers, SLOTS);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static uint64_t owe(struct connection *connection)
{
    assert_true(connection_may_owe_more(&table, connection));
    uint64_t token = connection_token(connection, connection->sequence_next);
    connection_owe(connection, 1);
    return token;
}

static void an_idle_connection_costs_less_than_300_bytes(void **state)
{
    (void)state;
    assert_true(sizeof(struct connection) + 3 * sizeof(uint32_t) <= 300);
}

static void slots_are_bounded_and_come_back(void **state)
{
    (void)state;
    struct connection *all[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        all[i] = connection_open(&table, i);
        assert_non_null(all[i]);
    }
    assert_null(connection_open(&table, 9));
    assert_int_equal(table.open, SLOTS);
    connection_close(&table, all[1]);
    assert_ptr_equal(connection_open(&table, 9), all[1]);
    for (int i = 0; i < SLOTS; i++)
        connection_close(&table, all[i]);
    assert_int_equal(table.open, 0);
}

static void a_token_is_stale_once_its_request_or_connection_has_gone(void **state)
{
    (void)state;
    struct reply *reply;
    struct connection *connection = connection_open(&table, 5);
    uint64_t first = owe(connection), second = owe(connection);
    assert_true(first != 0 && first != second);
    assert_ptr_equal(connection_find(&table, first, &reply), connection);
    assert_ptr_equal(reply, connection_oldest(connection));
    assert_ptr_equal(connection_find(&table, second, &reply), connection);
    assert_ptr_not_equal(reply, connection_oldest(connection));
    connection_paid(&table, connection);
    assert_null(connection_find(&table, first, &reply));
    assert_ptr_equal(connection_find(&table, second, &reply), connection);
    connection_close(&table, connection);
    assert_null(connection_find(&table, second, &reply));
    assert_ptr_equal(connection_open(&table, 6), connection);
    uint64_t third = owe(connection);
    assert_null(connection_find(&table, first, &reply));
    assert_null(connection_find(&table, second, &reply));
    assert_non_null(connection_find(&table, third, &reply));
    assert_null(connection_find(&table, 0, &reply));
    assert_null(connection_find(&table, UINT64_MAX, &reply));
    connection_close(&table, connection);
}

static void replies_keep_their_order_over_many_rounds(void **state)
{
    (void)state;
    struct connection *connection = connection_open(&table, 5);
    uint32_t next = 0, done = 0;
    for (int round = 0; round < 10000; round++) {
        uint32_t more = (uint32_t)round % 7;
        for (uint32_t i = 0; i < more && connection_may_owe_more(&table, connection); i++) {
            struct reply *reply = connection_owe(connection, 1);
            reply->state = REPLY_ANSWERED;
            reply->answer.a = next++;
        }
        for (int i = 0; i < 5 && connection_owes(connection) > 0; i++) {
            assert_int_equal(connection_oldest(connection)->answer.a, done++);
            connection_paid(&table, connection);
        }
    }
    assert_true(next > 20000);
    connection_close(&table, connection);
}

static void what_a_connection_owes_is_bounded(void **state)
{
    (void)state;
    struct connection *connection = connection_open(&table, 5);
    for (int i = 0; i < EDGE_OVERLAP_MAX; i++)
        owe(connection);
    assert_false(connection_may_owe_more(&table, connection));
    connection_paid(&table, connection);
    assert_true(connection_may_owe_more(&table, connection));
    connection_close(&table, connection);
}

static void without_a_queue_left_one_request_runs_at_a_time(void **state)
{
    (void)state;
    struct connection *connection = connection_open(&table, 5);
    struct buffer taken[QUEUES + 3];
    size_t count = 0;
    while (count < sizeof(taken) / sizeof(taken[0]) && buffer_take(&buffers, &taken[count], 100))
        count++;
    owe(connection);
    assert_false(connection_may_owe_more(&table, connection));
    connection_paid(&table, connection);
    owe(connection);
    while (count > 0)
        buffer_give(&buffers, &taken[--count]);
    assert_true(connection_may_owe_more(&table, connection));
    connection_close(&table, connection);
}

static void closing_gives_everything_back(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct connection *connection = connection_open(&table, 5);
        owe(connection);
        owe(connection);
        struct reply *reply = connection_oldest(connection);
        assert_true(buffer_take(&buffers, &reply->bytes, 10000));
        reply->state = REPLY_BYTES;
        assert_true(buffer_take(&buffers, &connection->in, 10));
        assert_true(buffer_take(&buffers, &connection->out, 20000));
        connection_close(&table, connection);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_idle_connection_costs_less_than_300_bytes),
        cmocka_unit_test(slots_are_bounded_and_come_back),
        cmocka_unit_test(a_token_is_stale_once_its_request_or_connection_has_gone),
        cmocka_unit_test(replies_keep_their_order_over_many_rounds),
        cmocka_unit_test(what_a_connection_owes_is_bounded),
        cmocka_unit_test(without_a_queue_left_one_request_runs_at_a_time),
        cmocka_unit_test(closing_gives_everything_back),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
