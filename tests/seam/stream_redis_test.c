/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/stream_redis_test.c: a partition on a real Redis (tools/with-redis): opened, purchases by the
 * script, its stream confirmed by the engine and written to a store; and what happens when Redis forgets,
 * another one opens the partition, or the stream is not what the script wrote. */
#include "contract/cluster_store.h"
#include "inventory/redis/command_text.h"
#include "inventory/redis/image.h"
#include "inventory/redis/opening.h"
#include "inventory/redis/record_text.h"
#include "orders/order_writer.h"
#include "queue/stream_queue.h"
#include "redis/caller.h"
#include "tests/unit/store/place.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PART = 7, LONG_MS = 60 * 1000, PAY_MS = 600000, UNITS = 50 };

static const char *address;
static const struct engine_config small = {
    .items_max = 8, .sales_max = 4, .tickets_max = 1000, .places_max = 10
};

struct fixture {
    struct place place; /* the store: product 1, sale 1, item 1 */
    struct redis_caller *caller;
    struct partition_keys keys;
    struct opening opening;
    struct confirm_config partition;
    struct ticket_queue *queue;
    struct arena arena;
    struct order_writer *writer;
    uint32_t epoch;
    char sha[SCRIPT_SHA_DIGITS + 1];
    struct outcome outcome; /* of the last call */
    char error[160];        /* or what was wrong */
    uint64_t now_ms;
};

/* ---- opening, as a worker does it ---- */

static void queue_open(struct fixture *f)
{
    const struct stream_queue_config config = {
        .caller = f->caller, .store = f->place.store, .partition = f->partition, .timeout_ms = LONG_MS
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
    if (f->sha[0] != '\0')
        stream_queue_script(f->queue, f->sha);
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
    assert_int_equal(partition_admit(&f->opening, f->epoch, f->sha), REDIS_ANSWER_OK);
    stream_queue_script(f->queue, f->sha);
    return is_there;
}

/* ---- the gateway's side ---- */

static void reply_take(void *context, const struct redis_value *value)
{
    struct fixture *f = context;
    f->error[0] = '\0';
    if (value->kind == REDIS_KIND_ERROR)
        snprintf(f->error, sizeof f->error, "%.*s", (int)value->text.size, value->text.data);
    else if (value->kind != REDIS_KIND_LIST || value->count != 2
        || outcome_text_read(value->list[1].text, &f->outcome) != STATUS_OK)
        snprintf(f->error, sizeof f->error, "the reply can't be read");
}

static enum redis_answer ask(struct fixture *f, const struct command *command)
{
    char bytes[COMMAND_TEXT_MAX];
    struct text text = text_in(bytes, sizeof bytes);
    const struct span *names = f->keys.names;
    struct span words[10 + PURCHASE_WORDS] = { SPAN("EVALSHA"), span_from_string(f->sha), SPAN("5"),
        names[0], names[1], names[2], names[3], names[4], SPAN("0"), SPAN("reserve") };
    struct redis_words call = { words, 10 };
    if (command->type == COMMAND_RESERVE) {
        assert_int_equal(purchase_text_write(&text, command, NULL, &words[call.count]), STATUS_OK);
        call.count += PURCHASE_WORDS;
    } else {
        assert_int_equal(command_text_write(&text, command), STATUS_OK);
        words[9] = text_span(&text);
    }
    return redis_call(f->caller, names[0], call, LONG_MS, reply_take, f);
}

static enum answer must(struct fixture *f, const struct command *command)
{
    const enum redis_answer answer = ask(f, command);
    if (answer != REDIS_ANSWER_OK || f->error[0] != '\0')
        fail_msg("%d: %s", answer, f->error);
    return (enum answer)f->outcome.answer;
}

static struct command purchase(user_id user)
{
    return (struct command){ .type = COMMAND_RESERVE,
        .reserve = { .user = user, .key = user + 1000, .item = 1, .quantity = 1 } };
}

static enum answer buy(struct fixture *f, user_id user)
{
    const struct command command = purchase(user);
    return must(f, &command);
}

static void sale_make(struct fixture *f)
{
    struct command sale = { .type = COMMAND_SALE,
        .sale = { .sale = 1, .start_ms = 1000, .end_ms = f->now_ms + 3600000 } };
    struct command item = { .type = COMMAND_PREHEAT };
    item.preheat = (struct command_preheat){ .item = 1, .sale = 1, .unit_price = 99, .total = UNITS };
    item.preheat.limit_per_user = 1;
    item.preheat.pay_window_ms = PAY_MS;
    item.preheat.channel_units[0] = UNITS;
    assert_int_equal(must(f, &sale), ANSWER_DONE);
    assert_int_equal(must(f, &item), ANSWER_DONE);
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
    struct redis_client_config config = { 0 };
    struct span bad;
    log_level_set(LOG_ERROR + 1);
    place_make(&f->place);
    assert_int_equal(place_open(&f->place, NULL), STATUS_OK);
    assert_int_equal(redis_nodes_read(span_from_string(address), config.seeds, REDIS_SEEDS_MAX,
                         &config.seed_count, &bad),
        STATUS_OK);
    assert_int_equal(redis_caller_open(&f->caller, &config), STATUS_OK);
    assert_true(redis_caller_is_ready(f->caller, LONG_MS));
    f->partition = (struct confirm_config){ .part = PART, .engine = &small };
    random_secret(&f->partition.data_id, sizeof f->partition.data_id); /* others are on the server, too */
    partition_keys_make(&f->keys, f->partition.data_id, PART);
    f->opening = (struct opening){ .caller = f->caller, .keys = &f->keys, .timeout_ms = LONG_MS };
    f->now_ms = clock_now_ms();
    queue_open(f);
    assert_false(partition_open(f));
    sale_make(f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    f->queue->ops->close(f->queue);
    arena_close(&f->arena);
    redis_caller_close(f->caller);
    place_remove(&f->place);
    test_free(f);
    return 0;
}

/* ---- rules ---- */

static void what_the_script_sold_is_confirmed_and_written(void **state)
{
    struct fixture *f = *state;
    for (user_id user = 1; user <= 60; user++)
        assert_int_equal(buy(f, user), user <= UNITS ? ANSWER_WON : ANSWER_SOLD_OUT);
    struct command another = purchase(7);
    another.reserve.key = 1;
    assert_int_equal(must(f, &another), ANSWER_IN_PROGRESS); /* not told before it is kept */
    follow(f);
    assert_int_equal(must(f, &another), ANSWER_ALREADY_BOUGHT);
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
        assert_int_equal(buy(f, user), ANSWER_WON);
        follow(f);
    }
    const uint64_t before = digest(f);
    queue_open(f);
    assert_true(digest(f) == before);
    assert_int_equal(buy(f, 6), ANSWER_WON);
    follow(f);
    assert_int_equal(orders(f), 6);
}

/* Redis has lost everything: the state comes from the engine, and nobody buys twice. */
static void an_empty_redis_is_loaded_again(void **state)
{
    struct fixture *f = *state;
    for (user_id user = 1; user <= 5; user++)
        assert_int_equal(buy(f, user), ANSWER_WON);
    follow(f);
    assert_int_equal(redis_call(f->caller, f->keys.names[0],
                         REDIS_WORDS(SPAN("DEL"), f->keys.names[0], f->keys.names[1],
                             f->keys.names[2], f->keys.names[3], f->keys.names[4]),
                         LONG_MS, NULL, NULL),
        REDIS_ANSWER_OK);
    const struct command again = purchase(9);
    assert_int_equal(ask(f, &again), REDIS_ANSWER_FENCED); /* not opened: it sells nothing */
    queue_open(f);
    assert_false(partition_open(f));
    assert_int_equal(buy(f, 3), ANSWER_REPEATED);
    assert_int_equal(f->outcome.ticket, 3);
    for (user_id user = 6; user <= 60; user++)
        assert_int_equal(buy(f, user), user <= UNITS ? ANSWER_WON : ANSWER_SOLD_OUT);
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
    assert_int_equal(buy(f, 1), ANSWER_WON);
    assert_int_equal(partition_shut(&f->opening, f->epoch + 1), REDIS_ANSWER_OK); /* not this one */
    assert_int_equal(buy(f, 2), ANSWER_WON);
    assert_int_equal(partition_shut(&f->opening, f->epoch), REDIS_ANSWER_OK);
    const struct command late = purchase(3);
    assert_int_equal(ask(f, &late), REDIS_ANSWER_FENCED);
    follow(f);
    assert_int_equal(orders(f), 2);
    assert_true(partition_open(f));
    assert_int_equal(buy(f, 3), ANSWER_WON);
    follow(f);
    assert_int_equal(orders(f), 3);
}

static void who_comes_with_an_older_epoch_changes_nothing(void **state)
{
    struct fixture *f = *state;
    char sha[SCRIPT_SHA_DIGITS + 1];
    assert_int_equal(buy(f, 1), ANSWER_WON);
    follow(f);
    const uint32_t old = f->epoch;
    assert_int_equal(partition_shut(&f->opening, old), REDIS_ANSWER_OK);
    assert_true(partition_open(f));
    const struct confirm *confirm = stream_queue_confirm(f->queue);
    const struct image_head head = { .epoch = old, .seq = 1, .lag_max = 1 };
    assert_int_equal(partition_begin(&f->opening, old), REDIS_ANSWER_FENCED);
    assert_int_equal(partition_begin(&f->opening, f->epoch), REDIS_ANSWER_FENCED); /* nor twice */
    assert_int_equal(partition_load(&f->opening, confirm_engine(confirm), &head), REDIS_ANSWER_FENCED);
    assert_int_equal(partition_admit(&f->opening, old, sha), REDIS_ANSWER_FENCED);
    assert_int_equal(buy(f, 2), ANSWER_WON);
    memcpy(f->sha, sha, sizeof sha); /* the old script is in the server's cache again */
    const struct command late = purchase(3);
    assert_int_equal(ask(f, &late), REDIS_ANSWER_FENCED);
    follow(f);
    assert_int_equal(orders(f), 2);
}

/* The partition was opened anew by somebody else: what this worker has is void. */
static void a_worker_that_was_left_behind_stops(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(buy(f, 1), ANSWER_WON);
    assert_int_equal(cluster(f)->epoch_raise(f->place.store, PART, f->epoch), STATUS_OK);
    const struct order_writer_progress progress = turn(f);
    assert_int_equal(progress.state, ORDER_WRITER_STOPPED);
    assert_non_null(strstr(progress.trouble, "epoch 2"));
    assert_int_equal(orders(f), 0);
}

static void stream_add(struct fixture *f, const char *id, const char *record)
{
    const struct span log = f->keys.names[SCRIPT_KEY_LOG];
    char time[24];
    snprintf(time, sizeof time, "%" PRIu64, clock_now_ms() + 1000);
    assert_int_equal(redis_call(f->caller, log,
                         REDIS_WORDS(SPAN("XADD"), log, span_from_string(id), SPAN("e"), SPAN("1"),
                             SPAN("t"), span_from_string(time), SPAN("r"), span_from_string(record)),
                         LONG_MS, NULL, NULL),
        REDIS_ANSWER_OK);
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
        assert_int_equal(buy(f, user), ANSWER_WON);
    follow(f);
    assert_int_equal(buy(f, 21), ANSWER_WON);
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
