/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/seam/broker_suite.h"

#include "base/clock.h"
#include "tests/unit/base/unit.h"

#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>

enum { PART = 3, NEIGHBOUR = 5, PATIENCE_MS = 60 * 1000, LONG_AGO_MS = 120 * 1000 };

static const struct broker_suite_maker *maker;
static uint64_t start_ms; /* the time of the first message */

static uint64_t now_read(void)
{
    return clock_monotonic_ns() / 1000000;
}

static void still(uint64_t since_ms, const struct broker *broker)
{
    if (now_read() > since_ms + PATIENCE_MS)
        fail_msg("it does not come: %s",
            broker->ops->wrong(broker) != NULL ? broker->ops->wrong(broker) : "nothing is wrong");
    poll(NULL, 0, 2);
}

void broker_ready(struct broker *broker)
{
    const uint64_t since_ms = now_read();
    for (broker->ops->turn(broker, now_read()); broker->ops->wrong(broker) != NULL;
         broker->ops->turn(broker, now_read()))
        still(since_ms, broker);
}

void broker_acked(struct broker *broker, const struct broker_line *line)
{
    const uint64_t since_ms = now_read();
    for (uint64_t before = line->acked; line->acked < line->sent; before = line->acked) {
        broker->ops->turn(broker, now_read());
        assert_true(line->acked >= before);
        still(since_ms, broker);
    }
}

static int setup(void **state)
{
    struct broker *broker = maker->open();
    *state = broker;
    if (broker == NULL)
        return -1;
    broker_ready(broker);
    start_ms = clock_now_ms();
    return 0;
}

static int teardown(void **state)
{
    struct broker *broker = *state;
    broker->ops->close(broker);
    return 0;
}

static void text_of(uint32_t part, uint64_t seq, char text[40])
{
    snprintf(text, 40, "%u: %llu", part, (unsigned long long)seq);
}

/* Each a message of one record, a millisecond after the one before. */
static void send(struct broker *broker, struct broker_line *line, uint64_t from, uint64_t to)
{
    const uint64_t since_ms = now_read();
    for (uint64_t seq = from; seq <= to;) {
        char text[40];
        text_of(line->part, seq, text);
        const enum status status =
            broker->ops->send(broker, line, seq, start_ms + seq, span_from_string(text));
        seq += status == STATUS_OK;
        if (status != STATUS_OK) {
            broker->ops->turn(broker, now_read());
            still(since_ms, broker);
        }
    }
    assert_int_equal(line->sent, to);
}

/* Which messages come: each that was sent after `from` must be among them, in order, and none of others. */
static uint64_t read_back(struct broker *broker, struct broker_line *line, uint64_t from, uint64_t to)
{
    const uint64_t since_ms = now_read();
    uint64_t next = from, count = 0;
    struct span message;
    char where[80], text[40];
    for (enum status status = STATUS_OK; status != STATUS_NOT_FOUND;) {
        status = broker->ops->next(broker, line, &message, where);
        if (status == STATUS_BUSY) {
            broker->ops->turn(broker, now_read());
            still(since_ms, broker);
        }
        if (status != STATUS_OK)
            continue;
        text_of(line->part, next, text);
        next += span_equal(message, span_from_string(text));
        count++;
        snprintf(text, sizeof text, "%u: ", line->part);
        assert_true(span_starts_with(message, span_from_string(text)));
        assert_true(where[0] != '\0');
    }
    assert_int_equal(next, to + 1);
    return count;
}

static void seek(struct broker *broker, struct broker_line *line, uint64_t time_ms)
{
    const uint64_t since_ms = now_read();
    enum status status;
    while ((status = broker->ops->seek(broker, line, time_ms)) == STATUS_AWAY)
        still(since_ms, broker);
    assert_int_equal(status, STATUS_OK);
}

static void what_is_sent_is_acknowledged_and_read_back_in_its_order(void **state)
{
    struct broker *broker = *state;
    struct broker_line *line = broker->ops->line_open(broker, PART);
    assert_true(line->part == PART && line->acked == 0);
    send(broker, line, 1, 500);
    broker_acked(broker, line);
    assert_int_equal(line->acked, 500);
    assert_int_equal(line->waits_since_ms, 0);
    seek(broker, line, 0);
    assert_int_equal(read_back(broker, line, 1, 500), 500);
    struct span message;
    char where[80];
    assert_int_equal(broker->ops->next(broker, line, &message, where), STATUS_NOT_FOUND);
    broker->ops->line_close(broker, line);
}

static void an_empty_broker_has_an_end_too(void **state)
{
    struct broker *broker = *state;
    struct broker_line *line = broker->ops->line_open(broker, PART);
    seek(broker, line, start_ms);
    assert_int_equal(read_back(broker, line, 1, 0), 0);
    broker->ops->line_close(broker, line);
}

static void what_follows_a_time_is_read_back_and_not_all_before(void **state)
{
    struct broker *broker = *state;
    struct broker_line *line = broker->ops->line_open(broker, PART);
    start_ms -= LONG_AGO_MS;
    send(broker, line, 1, 100);
    start_ms += LONG_AGO_MS;
    send(broker, line, 101, 130);
    broker_acked(broker, line);
    seek(broker, line, start_ms + 110);
    const uint64_t count = read_back(broker, line, 110, 130);
    assert_true(count >= 21 && count < 100);
    seek(broker, line, start_ms + LONG_AGO_MS); /* nothing is that new */
    assert_int_equal(read_back(broker, line, 1, 0), 0);
    broker->ops->line_close(broker, line);
}

static void neighbours_do_not_see_each_other(void **state)
{
    struct broker *broker = *state;
    struct broker_line *line = broker->ops->line_open(broker, PART);
    struct broker_line *other = broker->ops->line_open(broker, NEIGHBOUR);
    for (uint64_t seq = 1; seq <= 50; seq++) {
        send(broker, line, seq, seq);
        send(broker, other, seq, seq);
    }
    broker_acked(broker, line);
    broker_acked(broker, other);
    seek(broker, line, 0);
    assert_int_equal(broker->ops->seek(broker, other, 0), STATUS_BUSY); /* one at a time */
    read_back(broker, line, 1, 50);
    seek(broker, other, 0);
    assert_int_equal(read_back(broker, other, 1, 50), 50);
    seek(broker, line, 0);
    broker->ops->line_close(broker, line); /* who goes away does not hold up the others */
    seek(broker, other, 0);
    assert_int_equal(read_back(broker, other, 1, 50), 50);
    broker->ops->line_close(broker, other);
}

static void an_acknowledgement_belongs_to_its_line(void **state)
{
    struct broker *broker = *state;
    struct broker_line *line = broker->ops->line_open(broker, PART);
    send(broker, line, 1, 20);
    broker->ops->line_close(broker, line);
    line = broker->ops->line_open(broker, PART);
    send(broker, line, 1, 1);
    broker_acked(broker, line); /* what was sent before it is acknowledged by then */
    assert_int_equal(line->acked, 1);
    broker->ops->line_close(broker, line);
}

static void what_is_under_way_comes_before_the_end(void **state)
{
    struct broker *broker = *state;
    struct broker_line *line = broker->ops->line_open(broker, PART);
    send(broker, line, 1, 300);
    broker->ops->line_close(broker, line);
    line = broker->ops->line_open(broker, PART);
    seek(broker, line, 0);
    for (int i = 0; i < 100; i++) { /* without a turn nobody knows what has arrived */
        struct span message;
        char where[80];
        assert_int_equal(broker->ops->next(broker, line, &message, where), STATUS_BUSY);
        poll(NULL, 0, 5);
    }
    assert_int_equal(read_back(broker, line, 1, 300), 300);
    broker->ops->line_close(broker, line);
}

static void what_was_refused_is_sent_again_from_the_last_acknowledged(void **state)
{
    struct broker *broker = *state;
    struct broker_line *line = broker->ops->line_open(broker, PART);
    send(broker, line, 1, 10);
    broker_acked(broker, line);
    send(broker, line, 11, 20);
    maker->refuse(broker);
    const uint64_t since_ms = now_read();
    while (line->sent != line->acked) { /* given up, or acknowledged before it failed */
        broker->ops->turn(broker, now_read());
        still(since_ms, broker);
    }
    assert_true(line->acked >= 10);
    assert_int_equal(line->waits_since_ms, 0);
    broker_ready(broker);
    if (line->sent < 20)
        send(broker, line, line->sent + 1, 20);
    broker_acked(broker, line);
    assert_int_equal(line->acked, 20);
    seek(broker, line, 0);
    assert_true(read_back(broker, line, 1, 20) >= 20);
    broker->ops->line_close(broker, line);
}

static void something_new_wakes_who_waits(void **state)
{
    struct broker *broker = *state;
    struct broker_line *line = broker->ops->line_open(broker, PART);
    struct pollfd waiting = { .fd = eventfd(0, EFD_NONBLOCK), .events = POLLIN };
    broker->ops->wake(broker, waiting.fd);
    send(broker, line, 1, 1);
    assert_int_equal(poll(&waiting, 1, PATIENCE_MS), 1);
    broker_acked(broker, line);
    broker->ops->wake(broker, -1);
    uint64_t count;
    (void)!read(waiting.fd, &count, sizeof count);
    send(broker, line, 2, 2);
    broker_acked(broker, line);
    assert_int_equal(poll(&waiting, 1, 0), 0); /* it may be another file by then */
    broker->ops->line_close(broker, line);
    close(waiting.fd);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int broker_suite_run(const struct broker_suite_maker *the_maker)
{
    const struct CMUnitTest tests[] = {
        FRESH(what_is_sent_is_acknowledged_and_read_back_in_its_order),
        FRESH(an_empty_broker_has_an_end_too),
        FRESH(what_follows_a_time_is_read_back_and_not_all_before),
        FRESH(neighbours_do_not_see_each_other),
        FRESH(an_acknowledgement_belongs_to_its_line),
        FRESH(what_is_under_way_comes_before_the_end),
        FRESH(what_was_refused_is_sent_again_from_the_last_acknowledged),
        FRESH(something_new_wakes_who_waits),
    };
    clock_start(0);
    maker = the_maker;
    return cmocka_run_group_tests_name(maker->name, tests, NULL, NULL);
}
