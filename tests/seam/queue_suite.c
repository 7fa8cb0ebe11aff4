/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/queue_suite.c: see queue_suite.h. */
#include "tests/seam/queue_suite.h"

#include "tests/unit/base/unit.h"

#include <string.h>

enum { BATCH = 64 };

static const struct queue_suite_maker *maker;

static int setup(void **state)
{
    *state = maker->open();
    return *state == NULL;
}
static int teardown(void **state)
{
    maker->close(*state);
    return 0;
}

/* The n-th record: mostly wins, with control commands between them as in a real log. */
static void record_of(uint64_t n, struct command *command, struct outcome *outcome)
{
    memset(command, 0, sizeof *command);
    memset(outcome, 0, sizeof *outcome);
    command->time_ms = 1700000000000 + n;
    outcome->changed = true;
    if (n % 10 == 7) {
        command->type = COMMAND_ADJUST;
        command->adjust = (struct command_adjust){ .item = 1, .channel = 2, .delta = (int32_t)n };
        outcome->answer = ANSWER_DONE;
        outcome->applied = (int32_t)n;
        return;
    }
    if (n % 10 == 9) {
        command->type = COMMAND_SETTLE;
        command->settle = (struct command_settle){ .ticket = n, .step = SETTLE_SOLD };
        outcome->answer = ANSWER_DONE;
        outcome->user = n + 1000;
        outcome->item = 1;
        outcome->quantity = 1;
        outcome->applied = 1;
        return;
    }
    command->type = COMMAND_RESERVE;
    command->reserve = (struct command_reserve){ .user = n + 1000,
        .key = n * 31,
        .item = (item_id)(1 + n % 5),
        .quantity = (uint32_t)(1 + n % 3),
        .channel = (channel_index)(n % CHANNELS_MAX),
        .pending_from = UINT64_MAX };
    outcome->answer = ANSWER_WON;
    outcome->ticket = n;
    outcome->unit_price = 100 * n;
    outcome->pay_by_ms = command->time_ms + 300000;
}

static void produce(void *made, uint64_t from, uint64_t to)
{
    for (uint64_t n = from; n <= to; n++) {
        struct command command;
        struct outcome outcome;
        record_of(n, &command, &outcome);
        maker->append(made, &command, &outcome);
    }
}

static struct position before_all(const struct ticket_queue *queue)
{
    return (struct position){ .part = queue->part };
}

/* Polls until nothing comes; expects the records from … to; positions[n] is where the n-th
 * stood. */
static void consume(struct ticket_queue *queue, uint64_t from, uint64_t to, struct position *positions)
{
    struct queue_record records[BATCH];
    uint32_t count;
    uint64_t n = from;
    bool first = true;
    struct position last = { 0 };
    do {
        assert_int_equal(queue->ops->poll(queue, records, BATCH, &count), STATUS_OK);
        for (uint32_t i = 0; i < count; i++, n++) {
            struct command command;
            struct outcome outcome;
            record_of(n, &command, &outcome);
            assert_true(n <= to);
            assert_int_equal(records[i].at.part, queue->part);
            assert_true(first || records[i].at.seq == last.seq + 1); /* none is left out */
            first = false;
            assert_memory_equal(&records[i].command, &command, sizeof command);
            assert_memory_equal(&records[i].outcome, &outcome, sizeof outcome);
            last = records[i].at;
            if (positions != NULL)
                positions[n] = last;
        }
    } while (count > 0);
    assert_int_equal(n, to + 1);
}

static void an_empty_queue_gives_nothing(void **state)
{
    struct ticket_queue *queue = maker->queue(*state);
    consume(queue, 1, 0, NULL);
    assert_int_equal(queue->ops->end(queue).seq, 0);
    assert_int_equal(queue->ops->seek(queue, before_all(queue)), STATUS_OK);
    consume(queue, 1, 0, NULL);
}

static void records_come_in_order_and_as_they_were(void **state)
{
    enum { ALL = 500 };
    static struct position positions[ALL + 1];
    struct ticket_queue *queue = maker->queue(*state);
    produce(*state, 1, 50);
    maker->make_durable(*state);
    consume(queue, 1, 50, positions);
    for (uint64_t n = 51; n < ALL; n += 50) {
        produce(*state, n, n + 49);
        maker->make_durable(*state);
        consume(queue, n, n + 49, positions);
        assert_true(positions[n].seq == positions[n - 1].seq + 1);
    }
    assert_int_equal(queue->ops->end(queue).part, queue->part);
    assert_int_equal(queue->ops->end(queue).seq, positions[ALL].seq);
}

static void nothing_comes_before_it_is_durable(void **state)
{
    struct ticket_queue *queue = maker->queue(*state);
    produce(*state, 1, 5);
    consume(queue, 1, 0, NULL);
    assert_int_equal(queue->ops->end(queue).seq, 0);
    maker->make_durable(*state);
    produce(*state, 6, 9);
    consume(queue, 1, 5, NULL);
    maker->make_durable(*state);
    consume(queue, 6, 9, NULL);
}

static void a_poll_gives_at_most_what_was_asked_for(void **state)
{
    static const uint32_t sizes[] = { 1, 2, 0, 7, 10, 1 };
    struct ticket_queue *queue = maker->queue(*state);
    uint64_t given = 0;
    produce(*state, 1, 20);
    maker->make_durable(*state);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct queue_record records[BATCH];
        uint32_t count = 99;
        memset(records, 0x5a, sizeof records);
        assert_int_equal(queue->ops->poll(queue, records, sizes[i], &count), STATUS_OK);
        assert_int_equal(count, given + sizes[i] <= 20 ? sizes[i] : 20 - given);
        assert_true(records[sizes[i]].at.seq == UINT64_C(0x5a5a5a5a5a5a5a5a));
        given += count;
    }
    assert_int_equal(given, 20);
}

static void after_a_seek_exactly_what_follows_comes_again(void **state)
{
    enum { ALL = 150 };
    static struct position positions[ALL + 1];
    struct ticket_queue *queue = maker->queue(*state);
    for (uint64_t n = 1; n < ALL; n += 30) {
        produce(*state, n, n + 29);
        maker->make_durable(*state);
    }
    consume(queue, 1, ALL, positions);
    positions[0] = before_all(queue);
    for (uint64_t n = 0; n <= ALL; n++) {
        assert_int_equal(queue->ops->seek(queue, positions[n]), STATUS_OK);
        consume(queue, n + 1, ALL, NULL);
    }
}

static void a_reader_that_dies_gets_again_what_it_had_not_stored(void **state)
{
    static struct position positions[81];
    struct ticket_queue *queue = maker->queue(*state);
    produce(*state, 1, 40);
    maker->make_durable(*state);
    consume(queue, 1, 40, positions);
    assert_int_equal(queue->ops->commit(queue, positions[25]), STATUS_OK);
    maker->reopen(*state);
    queue = maker->queue(*state);
    produce(*state, 41, 80);
    maker->make_durable(*state);
    /* The position that its own transaction kept. */
    assert_int_equal(queue->ops->seek(queue, positions[25]), STATUS_OK);
    consume(queue, 26, 80, NULL);
}

static void a_position_of_another_partition_is_refused(void **state)
{
    struct ticket_queue *queue = maker->queue(*state);
    produce(*state, 1, 5);
    maker->make_durable(*state);
    consume(queue, 1, 5, NULL);
    const struct position other = { queue->part + 1, 2 };
    assert_int_equal(queue->ops->seek(queue, other), STATUS_BAD_INPUT);
    assert_int_equal(queue->ops->commit(queue, other), STATUS_BAD_INPUT);
    consume(queue, 6, 5, NULL); /* it stands where it stood */
}

static void committing_skips_nothing(void **state)
{
    static struct position positions[31];
    struct ticket_queue *queue = maker->queue(*state);
    produce(*state, 1, 30);
    maker->make_durable(*state);
    consume(queue, 1, 30, positions);
    assert_int_equal(queue->ops->commit(queue, positions[30]), STATUS_OK);
    assert_int_equal(queue->ops->commit(queue, positions[30]), STATUS_OK);
    assert_int_equal(queue->ops->commit(queue, positions[10]), STATUS_OK); /* late, harmless */
    consume(queue, 31, 30, NULL);
    produce(*state, 31, 32);
    maker->make_durable(*state);
    consume(queue, 31, 32, NULL);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int queue_suite_run(const struct queue_suite_maker *the_maker)
{
    const struct CMUnitTest tests[] = {
        FRESH(an_empty_queue_gives_nothing),
        FRESH(records_come_in_order_and_as_they_were),
        FRESH(nothing_comes_before_it_is_durable),
        FRESH(a_poll_gives_at_most_what_was_asked_for),
        FRESH(after_a_seek_exactly_what_follows_comes_again),
        FRESH(a_reader_that_dies_gets_again_what_it_had_not_stored),
        FRESH(a_position_of_another_partition_is_refused),
        FRESH(committing_skips_nothing),
    };
    maker = the_maker;
    return cmocka_run_group_tests_name(maker->name, tests, NULL, NULL);
}
