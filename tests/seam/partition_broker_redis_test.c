/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/partition_broker_redis_test.c: a partition on a real Redis (tools/with-redis) whose stream goes
 * through a broker that the test holds in its hands. */
#include "partition/opener.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "contract/cluster_store.h"
#include "inventory/redis/opening.h"
#include "inventory/redis/script.h"
#include "orders/order_writer.h"
#include "queue/message.h"
#include "queue/stream_queue.h"
#include "tests/seam/partition_kit.h"
#include "tests/unit/queue/memory_broker.h"
#include "tests/unit/store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *address;

struct fixture {
    struct place place;
    struct shop shop;
    struct memory_broker *broker;
    struct opener opener;
    uint64_t now_ms;
};

/* ---- what the owner does ---- */

static struct order_writer_progress turn(struct fixture *f)
{
    struct order_writer_progress progress;
    f->now_ms += 10 * 1000;
    (void)!order_writer_turn(f->opener.writer, f->now_ms, &progress);
    return progress;
}

/* Until nothing is left, or it stops. */
static enum order_writer_state follow(struct fixture *f)
{
    struct order_writer_progress progress;
    bool has_acked;
    do {
        progress = turn(f);
        has_acked = f->broker->broker.ops->turn(&f->broker->broker, f->now_ms);
    } while (progress.state != ORDER_WRITER_STOPPED
        && (progress.records > 0 || has_acked || stream_queue_reads_back(f->opener.queue)));
    return progress.state;
}

static enum closing open_start(struct fixture *f)
{
    bool drains;
    opener_close(&f->opener);
    return opener_start(&f->opener, &drains);
}

static void script_take(struct fixture *f)
{
    static char room[SCRIPT_BYTES_MAX];
    struct text text = text_in(room, sizeof room);
    assert_int_equal(script_write(&text, f->shop.keys.prefix, f->opener.epoch), STATUS_OK);
    script_sha(text_span(&text), f->shop.sha);
}

static void open_whole(struct fixture *f)
{
    const enum closing closing = open_start(f);
    if (closing != CLOSING_NONE)
        fail_msg("%s", f->opener.what);
    assert_int_equal(follow(f), ORDER_WRITER_IDLE);
    assert_int_equal(opener_finish(&f->opener), CLOSING_NONE);
    script_take(f);
}

static uint32_t orders(struct fixture *f)
{
    return (uint32_t)place_number(&f->place, "SELECT count(*) FROM orders WHERE state = 1");
}

static uint64_t seq_kept(struct fixture *f)
{
    return (uint64_t)place_number(&f->place, "SELECT seq FROM parts WHERE part = 7");
}

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    log_level_set(LOG_ERROR + 1);
    place_make(&f->place);
    assert_int_equal(place_open(&f->place, NULL), STATUS_OK);
    parts_open(&f->shop, address);
    f->broker = memory_broker_open();
    f->now_ms = clock_now_ms();
    opener_init(&f->opener,
        &(struct opener_config){ .part = SHOP_PART,
            .data_id = f->shop.data_id,
            .store = f->place.store,
            .caller = f->shop.caller,
            .engine = &parts_engine,
            .lag_max = 1000,
            .timeout_ms = SHOP_LONG_MS,
            .broker = &f->broker->broker });
    assert_int_equal(f->place.store->ops->cluster->part_want(f->place.store, SHOP_PART), STATUS_OK);
    open_whole(f);
    parts_sale(&f->shop, UINT64_C(1) << 42);
    assert_int_equal(follow(f), ORDER_WRITER_IDLE);
    assert_int_equal(seq_kept(f), 2);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    opener_close(&f->opener);
    f->broker->broker.ops->close(&f->broker->broker);
    parts_close(&f->shop);
    place_remove(&f->place);
    test_free(f);
    return 0;
}

/* ---- what happens ---- */

static void buy(struct fixture *f, user_id from, user_id to)
{
    for (user_id user = from; user <= to; user++)
        assert_int_equal(parts_buy(&f->shop, user), ANSWER_WON);
}

/* The broker has them, the database does not. */
static void buy_and_relay(struct fixture *f, user_id from, user_id to)
{
    buy(f, from, to);
    f->broker->is_held = true;
    assert_int_equal(turn(f).records, 0);
    f->broker->is_held = false;
    assert_true(f->broker->broker.ops->turn(&f->broker->broker, f->now_ms));
}

static void redis_loses_all(struct fixture *f)
{
    for (uint32_t i = 0; i < SCRIPT_KEYS; i++)
        parts_do(&f->shop, REDIS_WORDS(SPAN("DEL"), f->shop.keys.names[i]));
}

static struct message message_at(const struct fixture *f, uint32_t at)
{
    struct message message;
    const struct memory_message *there = &f->broker->messages[at];
    assert_int_equal(message_read(span_of(there->bytes, there->size), &message), STATUS_OK);
    return message;
}

/* A message with the lines of another one. */
static void message_put(
    struct fixture *f, uint32_t epoch, uint64_t seq, uint64_t time_ms, struct span lines)
{
    const struct message message = { .part = SHOP_PART,
        .count = message_records(lines),
        .entry = { .seq = seq, .epoch = epoch, .time_ms = time_ms, .lines = lines } };
    char bytes[2000];
    const size_t head = message_head_write(&message, bytes);
    assert_true(head + lines.size < sizeof bytes);
    memcpy(bytes + head, lines.data, lines.size);
    memory_broker_put(f->broker, SHOP_PART, time_ms, span_of(bytes, head + lines.size));
}

static void says(const struct fixture *f, enum status status, const char *words)
{
    assert_int_equal(stream_queue_fault(f->opener.queue), status);
    if (strstr(stream_queue_trouble(f->opener.queue), words) == NULL)
        fail_msg("%s", stream_queue_trouble(f->opener.queue));
}

/* ---- the rules ---- */

static void a_win_is_written_when_the_broker_has_it(void **state)
{
    struct fixture *f = *state;
    uint64_t since_ms = 0;
    assert_int_equal(f->broker->kept, 2);
    f->broker->is_held = true;
    buy(f, 1, 3);
    for (int i = 0; i < 5; i++)
        assert_int_equal(turn(f).records, 0);
    assert_int_equal(turn(f).lag, 3);
    assert_int_equal(stream_queue_backlog(f->opener.queue, &since_ms), 3);
    assert_true(since_ms != 0);
    assert_int_equal(orders(f), 0);
    f->broker->is_held = false;
    assert_int_equal(follow(f), ORDER_WRITER_IDLE);
    assert_int_equal(orders(f), 3);
    assert_int_equal(f->broker->count, 5); /* none twice */
    assert_int_equal(f->broker->kept, 5);
    assert_int_equal(stream_queue_backlog(f->opener.queue, &since_ms), 0);
    assert_int_equal(since_ms, 0);
    const struct message last = message_at(f, 4);
    assert_true(last.part == SHOP_PART && last.entry.epoch == 1 && last.entry.seq == 5);
    assert_int_equal(f->broker->messages[4].time_ms, last.entry.time_ms);
}

static void what_the_broker_lost_is_sent_again(void **state)
{
    struct fixture *f = *state;
    f->broker->is_held = true;
    buy(f, 1, 3);
    assert_int_equal(turn(f).records, 0);
    assert_int_equal(f->broker->count, 5);
    memory_broker_fail(f->broker);
    f->broker->is_held = false;
    assert_int_equal(follow(f), ORDER_WRITER_IDLE);
    assert_int_equal(orders(f), 3);
    assert_int_equal(f->broker->count, 5);
}

static void what_redis_lost_and_the_broker_has_becomes_orders(void **state)
{
    struct fixture *f = *state;
    buy_and_relay(f, 1, 5);
    assert_int_equal(orders(f), 0);
    redis_loses_all(f);
    open_whole(f);
    assert_int_equal(orders(f), 5);
    assert_int_equal(f->opener.epoch, 2);
    (void)parts_buy(&f->shop, 5);
    assert_false(f->shop.outcome.changed); /* Redis knows them again */
    buy(f, 6, 7);
    assert_int_equal(follow(f), ORDER_WRITER_IDLE);
    assert_int_equal(orders(f), 7);
    open_whole(f); /* and nothing comes twice */
    assert_int_equal(orders(f), 7);
}

static void what_only_the_stream_has_goes_to_the_broker_before_it_is_written(void **state)
{
    struct fixture *f = *state;
    buy_and_relay(f, 1, 2);
    buy(f, 3, 4);
    assert_int_equal(f->broker->count, 4);
    open_whole(f);
    assert_int_equal(orders(f), 4);
    assert_int_equal(f->broker->count, 6);
    assert_int_equal(message_at(f, 5).entry.seq, 6);
}

static void messages_that_came_twice_count_once(void **state)
{
    struct fixture *f = *state;
    buy_and_relay(f, 1, 3);
    for (uint32_t i = 1; i < 5; i++) {
        const struct message again = message_at(f, i);
        message_put(f, 1, again.entry.seq, again.entry.time_ms, again.entry.lines);
    }
    redis_loses_all(f);
    open_whole(f);
    assert_int_equal(orders(f), 3);
}

/* A worker that was left behind sends what it has, when a later epoch has begun. */
static void messages_of_an_older_epoch_are_passed_over(void **state)
{
    struct fixture *f = *state;
    buy_and_relay(f, 1, 1);
    const struct message first = message_at(f, 2);
    open_whole(f);
    assert_int_equal(orders(f), 1);
    message_put(f, 1, first.entry.seq + 1, first.entry.time_ms, first.entry.lines);
    open_whole(f);
    assert_int_equal(orders(f), 1);
    assert_int_equal(f->opener.epoch, 3);
}

static void a_later_epoch_than_the_databases_is_refused(void **state)
{
    struct fixture *f = *state;
    message_put(f, 2, 3, clock_now_ms() + 1000, SPAN("gate 1 0 = 18 c1"));
    assert_int_equal(open_start(f), CLOSING_NONE);
    assert_int_equal(follow(f), ORDER_WRITER_STOPPED);
    says(f, STATUS_CONFLICT, "later epoch than the database");
}

static void a_gap_is_never_passed_over(void **state)
{
    struct fixture *f = *state;
    buy_and_relay(f, 1, 3);
    f->broker->messages[3].part = 99; /* record 4 of 3, 4, 5 */
    redis_loses_all(f);
    assert_int_equal(open_start(f), CLOSING_NONE);
    assert_int_equal(follow(f), ORDER_WRITER_STOPPED);
    says(f, STATUS_CORRUPT, "neither it nor the stream has the next one");
    assert_int_equal(orders(f), 1);
}

static void a_gap_that_the_stream_fills_is_none(void **state)
{
    struct fixture *f = *state;
    buy_and_relay(f, 1, 3);
    f->broker->messages[3].part = 99;
    open_whole(f);
    assert_int_equal(orders(f), 3);
}

static void a_message_that_is_none_is_told_and_passed_over(void **state)
{
    struct fixture *f = *state;
    const uint64_t before = metrics_total("stampede_broker_unreadable_total", NULL);
    buy_and_relay(f, 1, 2);
    memory_broker_put(f->broker, SHOP_PART, clock_now_ms() + 1000, SPAN("{\"hello\":1}"));
    redis_loses_all(f);
    open_whole(f);
    assert_int_equal(metrics_total("stampede_broker_unreadable_total", NULL) - before, 1);
    assert_int_equal(orders(f), 2);
}

static void broker_and_stream_must_have_the_same(void **state)
{
    struct fixture *f = *state;
    buy_and_relay(f, 1, 2);
    /* The script would have answered the same to another user. */
    char *user = strstr(f->broker->messages[2].bytes, "reserve ");
    assert_non_null(user);
    user[strlen("reserve ")] = 'f';
    assert_int_equal(open_start(f), CLOSING_NONE);
    assert_int_equal(follow(f), ORDER_WRITER_STOPPED);
    says(f, STATUS_CONFLICT, "different records in the same place");
    assert_int_equal(orders(f), 0);
}

static void without_the_broker_the_epoch_that_runs_goes_on(void **state)
{
    struct fixture *f = *state;
    bool drains;
    buy(f, 1, 1);
    opener_close(&f->opener);
    f->broker->wrong = "it is not there";
    assert_int_equal(opener_start(&f->opener, &drains), CLOSING_BROKER_AWAY);
    assert_string_equal(f->opener.what, "it is not there");
    buy(f, 2, 2); /* the script still sells */
    f->broker->wrong = NULL;
    open_whole(f);
    assert_int_equal(orders(f), 2);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(a_win_is_written_when_the_broker_has_it),
        FRESH(what_the_broker_lost_is_sent_again),
        FRESH(what_redis_lost_and_the_broker_has_becomes_orders),
        FRESH(what_only_the_stream_has_goes_to_the_broker_before_it_is_written),
        FRESH(messages_that_came_twice_count_once),
        FRESH(messages_of_an_older_epoch_are_passed_over),
        FRESH(a_later_epoch_than_the_databases_is_refused),
        FRESH(a_gap_is_never_passed_over),
        FRESH(a_gap_that_the_stream_fills_is_none),
        FRESH(a_message_that_is_none_is_told_and_passed_over),
        FRESH(broker_and_stream_must_have_the_same),
        FRESH(without_the_broker_the_epoch_that_runs_goes_on),
    };
    clock_start(0);
    address = getenv("STAMPEDE_TEST_REDIS");
    if (address == NULL) {
        fputs("run by tools/with-redis\n", stderr);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
