/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/stream_redis_test.c: a partition on a real Redis (tools/with-redis): opened, purchases by the
 * script, its stream confirmed by the engine and written to a store; and what happens when Redis forgets,
 * another one opens the partition, or the stream is not what the script wrote. */
#include "contract/cluster_store.h"
#include "inventory/redis/image.h"
#include "inventory/redis/opening.h"
#include "orders/order_writer.h"
#include "queue/stream_queue.h"
#include "tests/seam/partition_kit.h"
#include "tests/unit/store/place.h"

#include "base/clock.h"
#include "base/log.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PART = SHOP_PART, UNITS = SHOP_UNITS };

static const char *address;

struct fixture {
    struct place place; /* the store: product 1, sale 1, item 1 */
    struct shop shop;
    struct opening opening;
    struct confirm_config partition;
    struct ticket_queue *queue;
    struct arena arena;
    struct order_writer *writer;
    uint32_t epoch;
    uint64_t now_ms;
};

/* ---- opening, as a worker does it ---- */

static void queue_open(struct fixture *f)
{
    const struct stream_queue_config config = {
        .caller = f->shop.caller,
        .store = f->place.store,
        .partition = f->partition,
        .timeout_ms = SHOP_LONG_MS,
    };
    char what[240];
    if (f->queue != NULL)
        f->queue->ops->close(f->queue);
    arena_close(&f->arena);
    if (stream_queue_open(&f->queue, &config, what, sizeof what) != STATUS_OK)
        fail_msg("%s", what);
    assert_int_equal(arena_open(&f->arena, order_writer_bytes(0) + 4096), STATUS_OK);
    f->writer = order_writer_create(
        &f->arena, &(struct order_writer_config){ .queue = f->queue, .store = f->place.store });
    assert_int_equal(order_writer_start(f->writer), STATUS_OK);
    if (f->shop.sha[0] != '\0')
        stream_queue_script(f->queue, f->shop.sha);
}

static const struct cluster_store_ops *cluster(struct fixture *f)
{
    return f->place.store->ops->cluster;
}

static struct part_state kept(struct fixture *f)
{
    struct part_state state;
    assert_int_equal(cluster(f)->part(f->place.store, PART, &state), STATUS_OK);
    return state;
}

/* The engine of the queue is what the store has. Answers whether Redis had it, too. */
static bool partition_open(struct fixture *f)
{
    const struct confirm *confirm = stream_queue_confirm(f->queue);
    struct partition_found found;
    const uint32_t before = kept(f).epoch;
    assert_int_equal(partition_look(&f->opening, &found), REDIS_ANSWER_OK);
    assert_int_equal(cluster(f)->epoch_raise(f->place.store, PART, before), STATUS_OK);
    f->epoch = before + 1;
    assert_int_equal(partition_begin(&f->opening, f->epoch), REDIS_ANSWER_OK);
    const bool is_there = before > 0 && found.shut == before && found.seq == confirm_seq(confirm);
    if (!is_there) {
        const struct image_head head = { .epoch = f->epoch,
            .seq = confirm_seq(confirm),
            .done = confirm_seq(confirm),
            .told = confirm_engine(confirm)->tickets.last,
            .time_ms = confirm_time_ms(confirm),
            .lag_max = 100000 };
        assert_int_equal(partition_load(&f->opening, confirm_engine(confirm), &head), REDIS_ANSWER_OK);
        assert_int_equal(partition_look(&f->opening, &found), REDIS_ANSWER_OK);
        assert_int_equal(found.epoch, 0); /* nobody sells yet */
        assert_int_equal(found.open, f->epoch);
        assert_int_equal(found.seq, confirm_seq(confirm));
    }
    assert_int_equal(partition_admit(&f->opening, f->epoch, "a server", f->shop.sha), REDIS_ANSWER_OK);
    assert_int_equal(partition_look(&f->opening, &found), REDIS_ANSWER_OK);
    assert_string_equal(found.replid, "a server");
    stream_queue_script(f->queue, f->shop.sha);
    return is_there;
}

/* ---- the worker's side ---- */

static struct order_writer_progress turn(struct fixture *f)
{
    struct order_writer_progress progress;
    f->now_ms += 1000; /* nothing waits for company */
    (void)!order_writer_turn(f->writer, f->now_ms, &progress);
    return progress;
}

/* All that the stream has is in the store. */
static void follow(struct fixture *f)
{
    struct order_writer_progress progress;
    do
        progress = turn(f);
    while (progress.records > 0);
    if (progress.state == ORDER_WRITER_STOPPED)
        fail_msg("stopped: %s (%s)", progress.trouble, stream_queue_trouble(f->queue));
}

static uint32_t orders(struct fixture *f)
{
    return (uint32_t)place_number(&f->place, "SELECT count(*) FROM orders WHERE state = 1");
}

static uint64_t digest(struct fixture *f)
{
    return engine_digest(confirm_engine(stream_queue_confirm(f->queue)));
}

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    log_level_set(LOG_ERROR + 1);
    place_make(&f->place);
    assert_int_equal(place_open(&f->place, NULL), STATUS_OK);
    parts_open(&f->shop, address);
    f->partition =
        (struct confirm_config){ .part = PART, .data_id = f->shop.data_id, .engine = &parts_engine };
    f->opening =
        (struct opening){ .caller = f->shop.caller, .keys = &f->shop.keys, .timeout_ms = SHOP_LONG_MS };
    f->now_ms = clock_now_ms();
    queue_open(f);
    assert_false(partition_open(f));
    parts_sale(&f->shop, f->now_ms + 3600000);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    f->queue->ops->close(f->queue);
    arena_close(&f->arena);
    parts_close(&f->shop);
    place_remove(&f->place);
    test_free(f);
    return 0;
}

/* ---- rules ---- */

static void what_the_script_sold_is_confirmed_and_written(void **state)
{
    struct fixture *f = *state;
    for (user_id user = 1; user <= 60; user++)
        assert_int_equal(parts_buy(&f->shop, user), user <= UNITS ? ANSWER_WON : ANSWER_SOLD_OUT);
    struct command another = parts_purchase(7);
    another.reserve.key = 1;
    assert_int_equal(parts_must(&f->shop, &another), ANSWER_IN_PROGRESS); /* not told before it is kept */
    follow(f);
    assert_int_equal(parts_must(&f->shop, &another), ANSWER_ALREADY_BOUGHT);
    assert_int_equal(orders(f), UNITS);
    assert_int_equal(kept(f).seq, 2 + UNITS);
    assert_int_equal(place_number(&f->place, "SELECT sold FROM items WHERE id = 1"), UNITS);
    const ticket_number first = ticket_number_make(&(struct ticket_parts){ PART, 1, 1 });
    struct order order;
    assert_int_equal(f->place.store->ops->order_by_ticket(f->place.store, first, &order), STATUS_OK);
    assert_int_equal(order.user, 1);
    assert_int_equal(order.unit_price, 99);
}

static void the_engine_is_rebuilt_from_the_store_and_goes_on(void **state)
{
    struct fixture *f = *state;
    for (user_id user = 1; user <= 5; user++) {
        assert_int_equal(parts_buy(&f->shop, user), ANSWER_WON);
        follow(f);
    }
    const uint64_t before = digest(f);
    queue_open(f);
    assert_true(digest(f) == before);
    assert_int_equal(parts_buy(&f->shop, 6), ANSWER_WON);
    follow(f);
    assert_int_equal(orders(f), 6);
}

/* Redis has lost everything: the state comes from the engine, and nobody buys twice. */
static void an_empty_redis_is_loaded_again(void **state)
{
    struct fixture *f = *state;
    for (user_id user = 1; user <= 5; user++)
        assert_int_equal(parts_buy(&f->shop, user), ANSWER_WON);
    follow(f);
    const struct span *names = f->shop.keys.names;
    parts_do(&f->shop, REDIS_WORDS(SPAN("DEL"), names[0], names[1], names[2], names[3], names[4]));
    const struct command again = parts_purchase(9);
    assert_int_equal(parts_ask(&f->shop, &again), REDIS_ANSWER_FENCED); /* not opened: it sells nothing */
    queue_open(f);
    assert_false(partition_open(f));
    assert_int_equal(parts_buy(&f->shop, 3), ANSWER_REPEATED);
    assert_int_equal(f->shop.outcome.ticket, 3);
    for (user_id user = 6; user <= 60; user++)
        assert_int_equal(parts_buy(&f->shop, user), user <= UNITS ? ANSWER_WON : ANSWER_SOLD_OUT);
    follow(f);
    assert_int_equal(orders(f), UNITS);
    const ticket_number later = ticket_number_make(&(struct ticket_parts){ PART, 2, 6 });
    struct order order;
    assert_int_equal(f->place.store->ops->order_by_ticket(f->place.store, later, &order), STATUS_OK);
}

/* What was proposed before a partition was shut is kept; the state in Redis goes on. */
static void a_partition_that_was_shut_goes_on_where_it_was(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parts_buy(&f->shop, 1), ANSWER_WON);
    assert_int_equal(partition_shut(&f->opening, f->epoch + 1), REDIS_ANSWER_OK); /* not this one */
    assert_int_equal(parts_buy(&f->shop, 2), ANSWER_WON);
    assert_int_equal(partition_shut(&f->opening, f->epoch), REDIS_ANSWER_OK);
    const struct command late = parts_purchase(3);
    assert_int_equal(parts_ask(&f->shop, &late), REDIS_ANSWER_FENCED);
    follow(f);
    assert_int_equal(orders(f), 2);
    assert_true(partition_open(f));
    assert_int_equal(parts_buy(&f->shop, 3), ANSWER_WON);
    follow(f);
    assert_int_equal(orders(f), 3);
}

static void who_comes_with_an_older_epoch_changes_nothing(void **state)
{
    struct fixture *f = *state;
    char sha[SCRIPT_SHA_DIGITS + 1];
    assert_int_equal(parts_buy(&f->shop, 1), ANSWER_WON);
    follow(f);
    const uint32_t old = f->epoch;
    assert_int_equal(partition_shut(&f->opening, old), REDIS_ANSWER_OK);
    assert_true(partition_open(f));
    const struct confirm *confirm = stream_queue_confirm(f->queue);
    const struct image_head head = { .epoch = old, .seq = 1, .lag_max = 1 };
    assert_int_equal(partition_begin(&f->opening, old), REDIS_ANSWER_FENCED);
    assert_int_equal(partition_begin(&f->opening, f->epoch), REDIS_ANSWER_FENCED); /* nor twice */
    assert_int_equal(partition_load(&f->opening, confirm_engine(confirm), &head), REDIS_ANSWER_FENCED);
    assert_int_equal(partition_admit(&f->opening, old, "another", sha), REDIS_ANSWER_FENCED);
    assert_int_equal(parts_buy(&f->shop, 2), ANSWER_WON);
    memcpy(f->shop.sha, sha, sizeof sha); /* the old script is in the server's cache again */
    const struct command late = parts_purchase(3);
    assert_int_equal(parts_ask(&f->shop, &late), REDIS_ANSWER_FENCED);
    follow(f);
    assert_int_equal(orders(f), 2);
}

/* The partition was opened anew by somebody else: what this worker has is void. */
static void a_worker_that_was_left_behind_stops(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(parts_buy(&f->shop, 1), ANSWER_WON);
    assert_int_equal(cluster(f)->epoch_raise(f->place.store, PART, f->epoch), STATUS_OK);
    const struct order_writer_progress progress = turn(f);
    assert_int_equal(progress.state, ORDER_WRITER_STOPPED);
    assert_non_null(strstr(progress.trouble, "epoch 2"));
    assert_int_equal(orders(f), 0);
}

static void stream_add(struct fixture *f, const char *id, const char *record)
{
    const struct span log = f->shop.keys.names[SCRIPT_KEY_LOG];
    char time[24];
    snprintf(time, sizeof time, "%" PRIu64, clock_now_ms() + 1000);
    parts_do(&f->shop,
        REDIS_WORDS(SPAN("XADD"), log, span_from_string(id), SPAN("e"), SPAN("1"), SPAN("t"),
            span_from_string(time), SPAN("r"), span_from_string(record)));
}

static void a_stream_that_the_script_did_not_write_is_noticed(void **state)
{
    static const struct {
        const char *id, *record, *why;
        enum status status;
    } wrong[] = {
        { "4-0", "gate 1 0 = 18 c1", "does not go on", STATUS_CORRUPT },
        { "3-1", "gate 1 0 = 18 c1", "can't be read", STATUS_CORRUPT },
        { "3-0", "gate 1 0 = eighteen", "can't be read", STATUS_CORRUPT },
        { "3-0", "reserve 0000000000000001 0000000000000002 1 1 0 0 0 = 1 c1 t1 p98 y1",
            "the engine answers", STATUS_CONFLICT },
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct fixture *f;
        struct queue_record *records = test_calloc(STREAM_RECORDS_MAX, sizeof *records);
        uint32_t count;
        assert_int_equal(setup((void **)&f), 0);
        follow(f);
        stream_add(f, wrong[i].id, wrong[i].record);
        for (int time = 0; time < 2; time++) { /* and it stays so */
            assert_int_equal(f->queue->ops->poll(f->queue, records, STREAM_RECORDS_MAX, &count),
                wrong[i].status);
            assert_int_equal(count, 0);
        }
        if (strstr(stream_queue_trouble(f->queue), wrong[i].why) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", stream_queue_trouble(f->queue), wrong[i].why);
        assert_int_equal(turn(f).state, ORDER_WRITER_STOPPED);
        assert_int_equal(kept(f).seq, 2);
        test_free(records);
        assert_int_equal(teardown((void **)&f), 0);
    }
}

static void the_stream_keeps_what_the_store_has_not(void **state)
{
    struct fixture *f = *state;
    for (user_id user = 1; user <= 20; user++)
        assert_int_equal(parts_buy(&f->shop, user), ANSWER_WON);
    follow(f);
    assert_int_equal(parts_buy(&f->shop, 21), ANSWER_WON);
    queue_open(f);
    follow(f);
    assert_int_equal(orders(f), 21);
    assert_int_equal(f->queue->ops->end(f->queue).seq, 23);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_the_script_sold_is_confirmed_and_written, setup, teardown),
        cmocka_unit_test_setup_teardown(the_engine_is_rebuilt_from_the_store_and_goes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(an_empty_redis_is_loaded_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_partition_that_was_shut_goes_on_where_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(who_comes_with_an_older_epoch_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_worker_that_was_left_behind_stops, setup, teardown),
        cmocka_unit_test(a_stream_that_the_script_did_not_write_is_noticed),
        cmocka_unit_test_setup_teardown(the_stream_keeps_what_the_store_has_not, setup, teardown),
    };
    clock_start(0);
    address = getenv("STAMPEDE_TEST_REDIS");
    if (address == NULL) {
        fputs("run by tools/with-redis\n", stderr);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
