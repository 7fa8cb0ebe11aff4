/* SPDX-License-Identifier: Apache-2.0 */
#include "orders/order_writer.h"

#include "base/log.h"
#include "base/metrics.h"
#include "tests/unit/orders/fake_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { WRITTEN = 1 + DISPOSE_APPLY, REJECTED = 1 + DISPOSE_REJECT, DEAD = 1 + DISPOSE_DEAD };
enum { HALF = ORDER_BATCH_MAX / 2, THREE_QUARTERS = HALF + HALF / 2 };

struct fixture {
    struct fake_queue queue;
    struct fake_store store;
    struct arena arena;
    struct order_writer *writer;
    struct order_writer_progress progress;
    uint64_t now_ms;
    uint32_t told, told_last;
    user_id told_user;
    uint64_t written, rejected, dead;
};

static void count_told(void *context, ticket_number ticket, user_id user)
{
    struct fixture *f = context;
    f->told_user = user;
    f->told++;
    f->told_last = (uint32_t)ticket;
}

static int setup(void **state)
{
    struct fixture *f = test_calloc(1, sizeof *f);
    log_level_set(LOG_ERROR + 1);
    assert_int_equal(arena_open(&f->arena, order_writer_bytes(0) + 4096), STATUS_OK);
    fake_queue_open(&f->queue, 0);
    fake_store_open(&f->store);
    f->now_ms = 1000000;
    f->writer = order_writer_create(&f->arena,
        &(struct order_writer_config){ .queue = &f->queue.queue,
            .store = &f->store.store,
            .changed = count_told,
            .changed_context = f });
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    arena_close(&f->arena);
    test_free(f);
    return 0;
}

static enum status turn(struct fixture *f)
{
    enum status status = order_writer_turn(f->writer, f->now_ms, &f->progress);
    f->written += f->progress.written;
    f->rejected += f->progress.rejected;
    f->dead += f->progress.dead;
    return status;
}

static void start(struct fixture *f, lsn_t end)
{
    f->queue.end = end;
    assert_int_equal(order_writer_start(f->writer), STATUS_OK);
}

/* Turns until there is nothing left, moving time as the writer asks; false: it took more turns than
 * `max`. */
static bool run(struct fixture *f, uint32_t max)
{
    for (uint32_t i = 0; i < max; i++) {
        assert_int_equal(turn(f), STATUS_OK);
        if (f->progress.state == ORDER_WRITER_IDLE)
            return true;
        f->now_ms += f->progress.wait_ms;
    }
    return false;
}

static uint32_t count_fate(const struct fixture *f, uint8_t fate)
{
    uint32_t count = 0;
    for (lsn_t lsn = 1; lsn <= f->queue.end; lsn++)
        count += f->store.fate[lsn] == fate;
    return count;
}

static void every_record_is_written_once_in_full_batches(void **state)
{
    struct fixture *f = *state;
    start(f, 3 * ORDER_BATCH_MAX + 10);
    assert_true(run(f, 20));
    assert_int_equal(count_fate(f, WRITTEN), f->queue.end);
    assert_int_equal(f->store.largest, ORDER_BATCH_MAX);
    assert_int_equal(f->store.applies, 4);
    assert_int_equal(f->written, f->queue.end);
    assert_int_equal(f->told, f->queue.end);
    assert_int_equal(f->told_last, 1000 + f->queue.end);
    assert_int_equal(f->queue.committed, f->queue.end);
    assert_int_equal(f->progress.lag, 0);
    assert_int_equal(f->progress.position.seq, f->queue.end);
}

static void a_long_list_of_users_is_written_in_short_transactions(void **state)
{
    struct fixture *f = *state;
    f->queue.of_users = true;
    start(f, ORDER_BATCH_MAX + 10);
    assert_true(run(f, 200));
    assert_int_equal(f->store.position, f->queue.end);
    assert_int_equal(f->store.largest, ORDER_USERS_MAX / USERS_PER_COMMAND);
}

static void the_first_ticket_is_written_at_once_and_the_next_ones_gather(void **state)
{
    struct fixture *f = *state;
    start(f, 1);
    assert_int_equal(turn(f), STATUS_OK);
    assert_int_equal(f->store.position, 1);
    f->queue.end = 2;
    assert_int_equal(turn(f), STATUS_OK);
    assert_int_equal(f->store.position, 1);
    assert_int_equal(f->progress.wait_ms, ORDER_BATCH_WAIT_MS);
    assert_int_equal(f->progress.state, ORDER_WRITER_WORKING);
    assert_int_equal(f->progress.lag, 1);
    f->queue.end = 3;
    f->now_ms += ORDER_BATCH_WAIT_MS - 1;
    assert_int_equal(turn(f), STATUS_OK);
    assert_int_equal(f->store.position, 1);
    f->now_ms++;
    assert_int_equal(turn(f), STATUS_OK);
    assert_int_equal(f->store.position, 3);
    assert_int_equal(f->store.applies, 2);
}

static void a_turn_gives_the_thread_back(void **state)
{
    struct fixture *f = *state;
    start(f, FAKE_RECORDS_MAX - 1);
    f->store.bad = 1; /* never stops being refused by a guard that names it */
    f->store.bad_kind = REFUSAL_UNIQUE;
    f->store.refuses_rejected = f->store.refuses_dead = true;
    for (int i = 0; i < 50; i++) {
        const uint32_t before = f->store.applies;
        assert_int_equal(turn(f), STATUS_OK);
        assert_in_range(f->store.applies - before, 0, ORDER_APPLIES_PER_TURN);
        f->now_ms += f->progress.wait_ms;
    }
    assert_int_equal(f->progress.state, ORDER_WRITER_AWAY);
    assert_int_equal(f->store.position, 0); /* and is never skipped */
}

static void a_refused_guard_rejects_the_one_record_and_writes_the_others(void **state)
{
    struct fixture *f = *state;
    static const enum refusal_kind kinds[] = { REFUSAL_UNIQUE, REFUSAL_LIMIT };
    start(f, 0);
    for (int i = 0; i < 2; i++) {
        f->queue.end += 100;
        f->store.bad = f->queue.end - 40;
        f->store.bad_kind = kinds[i];
        const uint32_t before = f->store.applies;
        f->now_ms += 1000;
        assert_true(run(f, 10));
        assert_int_equal(f->store.applies - before, 2); /* at once, no retries */
        assert_int_equal(f->store.fate[f->store.bad], REJECTED);
    }
    assert_int_equal(count_fate(f, WRITTEN), 198);
    assert_int_equal(f->rejected, 2);
    assert_int_equal(f->written, 198);
    assert_int_equal(f->told, 200); /* the rejected one hears of it too */
}

static void a_record_refused_for_good_is_tried_a_bounded_number_of_times_then_buried(void **state)
{
    struct fixture *f = *state;
    start(f, 100);
    f->store.bad = 60;
    f->store.bad_kind = REFUSAL_STOCK;
    const uint64_t begun_ms = f->now_ms;
    assert_true(run(f, 50));
    /* The tries, then the records before it, itself, and the rest. */
    assert_int_equal(f->store.applies, ORDER_TRIES_MAX + 3);
    assert_in_range(f->now_ms - begun_ms, (ORDER_TRIES_MAX - 1) * ORDER_BATCH_WAIT_MS, 1000);
    assert_int_equal(f->store.fate[60], DEAD);
    assert_string_equal(f->store.dead_reason, "bad apple");
    assert_int_equal(count_fate(f, WRITTEN), 99);
    assert_int_equal(f->dead, 1);
    assert_int_equal(f->told, 99);
}

static void a_refusal_that_passes_is_no_dead_letter(void **state)
{
    struct fixture *f = *state;
    start(f, 100);
    f->store.bad = 60;
    f->store.bad_kind = REFUSAL_STOCK;
    f->store.bad_times = ORDER_TRIES_MAX - 1;
    assert_true(run(f, 50));
    assert_int_equal(count_fate(f, WRITTEN), 100);
    assert_int_equal(f->dead, 0);
}

static void halving_finds_the_one_bad_record_of_a_full_batch(void **state)
{
    struct fixture *f = *state;
    start(f, 0);
    static const lsn_t places[] = { 1, 2, HALF - 1, HALF, HALF + 1, THREE_QUARTERS,
        ORDER_BATCH_MAX - 1, ORDER_BATCH_MAX };
    static_assert(sizeof places / sizeof places[0] < FAKE_BATCHES, "each place gets a batch of its own");
    const uint32_t halvings = 32 - (uint32_t)__builtin_clz(ORDER_BATCH_MAX - 1); /* log2, rounded up */
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        const lsn_t base = f->queue.end;
        const uint32_t before = f->store.applies;
        f->queue.end += ORDER_BATCH_MAX;
        f->store.bad = base + places[i];
        f->store.bad_kind = REFUSAL_UNKNOWN;
        f->store.bad_is_silent = true;
        f->now_ms += 1000;
        assert_true(run(f, 100));
        assert_int_equal(f->store.fate[base + places[i]], DEAD);
        assert_int_equal(f->dead, i + 1);
        assert_int_equal(count_fate(f, WRITTEN), f->queue.end - i - 1);
        /* The whole, the halves, the tries, then itself and the rest. */
        assert_in_range(f->store.applies - before, 1, 1 + halvings + ORDER_TRIES_MAX + 2);
    }
}

static void halving_also_finds_what_must_be_rejected(void **state)
{
    struct fixture *f = *state;
    start(f, ORDER_BATCH_MAX);
    f->store.bad = THREE_QUARTERS;
    f->store.bad_kind = REFUSAL_LIMIT;
    f->store.bad_is_silent = true;
    assert_true(run(f, 100));
    assert_int_equal(f->store.fate[THREE_QUARTERS], REJECTED);
    assert_int_equal(count_fate(f, WRITTEN), ORDER_BATCH_MAX - 1);
}

static void a_store_that_is_away_pauses_longer_and_longer_and_loses_nothing(void **state)
{
    struct fixture *f = *state;
    uint32_t waits[12];
    start(f, 700);
    f->store.answer = STATUS_AWAY;
    for (int i = 0; i < 12; i++) {
        assert_int_equal(turn(f), STATUS_OK);
        assert_int_equal(f->store.applies, i + 1);
        assert_int_equal(f->progress.state, ORDER_WRITER_AWAY);
        assert_int_equal(f->progress.lag, 700);
        assert_string_equal(f->progress.trouble, "told to fail");
        waits[i] = f->progress.wait_ms;
        f->now_ms += waits[i] - 1;
        assert_int_equal(turn(f), STATUS_OK); /* too early: nothing happens */
        assert_int_equal(f->store.applies, i + 1);
        f->now_ms++;
    }
    assert_int_equal(waits[0], ORDER_AWAY_MS_MIN);
    assert_int_equal(waits[1], 2 * ORDER_AWAY_MS_MIN);
    assert_int_equal(waits[11], ORDER_AWAY_MS_MAX);
    assert_int_equal(f->store.position, 0);
    f->store.answer = STATUS_OK;
    assert_true(run(f, 10));
    assert_int_equal(count_fate(f, WRITTEN), 700);
    assert_null(f->progress.trouble);
    f->store.answer = STATUS_AWAY; /* the next pause starts short again */
    f->queue.end++;
    f->now_ms += 1000;
    assert_int_equal(turn(f), STATUS_OK);
    assert_int_equal(f->progress.wait_ms, ORDER_AWAY_MS_MIN);
}

static void a_clock_that_goes_back_does_not_stretch_a_pause(void **state)
{
    struct fixture *f = *state;
    start(f, 10);
    f->store.answer = STATUS_AWAY;
    assert_int_equal(turn(f), STATUS_OK);
    f->store.answer = STATUS_OK;
    f->now_ms -= 500000;
    const uint64_t set_back_ms = f->now_ms;
    assert_true(run(f, 10));
    assert_int_equal(count_fate(f, WRITTEN), 10);
    assert_true(f->now_ms - set_back_ms <= ORDER_AWAY_MS_MIN + ORDER_BATCH_WAIT_MS);
}

/* It may have been kept: together with others it would be something else. */
static void what_the_store_did_not_answer_is_tried_again_as_it_was(void **state)
{
    struct fixture *f = *state;
    start(f, 10);
    f->store.answer = STATUS_AWAY;
    assert_int_equal(turn(f), STATUS_OK);
    f->queue.end = 30;
    f->store.answer = STATUS_OK;
    f->store.largest = 0;
    f->now_ms += f->progress.wait_ms;
    assert_true(run(f, 20));
    assert_int_equal(f->store.largest, 20);
    assert_int_equal(count_fate(f, WRITTEN), 30);
}

static void a_queue_that_is_away_is_tried_again(void **state)
{
    struct fixture *f = *state;
    start(f, 10);
    f->queue.poll_answer = STATUS_IO;
    assert_int_equal(turn(f), STATUS_OK);
    assert_int_equal(f->progress.state, ORDER_WRITER_AWAY);
    f->queue.poll_answer = STATUS_OK;
    f->now_ms += f->progress.wait_ms;
    f->queue.end = 0; /* nothing there: back all the same */
    assert_int_equal(turn(f), STATUS_OK);
    assert_int_equal(f->progress.state, ORDER_WRITER_IDLE);
    f->queue.end = 10;
    assert_true(run(f, 10));
    assert_int_equal(count_fate(f, WRITTEN), 10);
}

static void damage_stops_the_writer_for_good(void **state)
{
    struct fixture *f = *state;
    start(f, 10);
    f->store.answer = STATUS_CORRUPT;
    assert_int_equal(turn(f), STATUS_CORRUPT);
    assert_int_equal(f->progress.state, ORDER_WRITER_STOPPED);
    f->store.answer = STATUS_OK;
    f->now_ms += 100000;
    assert_int_equal(turn(f), STATUS_CORRUPT);
    assert_int_equal(f->store.applies, 1);
    assert_int_equal(f->progress.lag, 10);
}

static void a_damaged_queue_stops_the_writer_too(void **state)
{
    struct fixture *f = *state;
    start(f, 10);
    f->queue.poll_answer = STATUS_CORRUPT;
    assert_int_equal(turn(f), STATUS_CORRUPT);
    assert_int_equal(f->progress.state, ORDER_WRITER_STOPPED);
}

static void it_starts_where_the_store_is_or_says_who_is_too_old(void **state)
{
    struct fixture *f = *state;
    f->queue.end = 10;
    f->store.position = 11;
    assert_int_equal(order_writer_start(f->writer), STATUS_CONFLICT);
    f->store.position = 4;
    f->queue.kept_after = 5;
    assert_int_equal(order_writer_start(f->writer), STATUS_NOT_FOUND);
    f->queue.kept_after = 4;
    assert_int_equal(order_writer_start(f->writer), STATUS_OK);
    assert_true(run(f, 10));
    assert_int_equal(count_fate(f, WRITTEN), 6);
    assert_int_equal(f->written, 6);
}

static uint64_t metric_named(const char *name)
{
    static char page[65536];
    struct text text = text_in(page, sizeof page - 1);
    metrics_render(&text);
    assert_false(text.overflow);
    page[text.size] = '\0';
    char line[100];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *found = strstr(page, line);
    assert_non_null(found);
    struct span rest = span_from_string(found + strlen(line)), number;
    uint64_t value;
    assert_true(span_take_until(&rest, '\n', &number));
    assert_int_equal(span_to_u64(number, &value), STATUS_OK);
    return value;
}

static void metrics_tell_what_was_written_and_what_waits(void **state)
{
    struct fixture *f = *state;
    const uint64_t written = metric_named("stampede_orders_written_total");
    const uint64_t rejected = metric_named("stampede_orders_rejected_total");
    const uint64_t dead = metric_named("stampede_dead_letters_total");
    start(f, 20);
    f->store.answer = STATUS_AWAY;
    assert_int_equal(turn(f), STATUS_OK);
    assert_int_equal(metric_named("stampede_store_away"), 1);
    assert_int_equal(metric_named("stampede_order_lag"), 20);
    f->store.answer = STATUS_OK;
    f->store.bad = 3;
    f->store.bad_kind = REFUSAL_UNIQUE;
    f->now_ms += 1000;
    assert_true(run(f, 20));
    f->queue.end = 21;
    f->store.bad = 21;
    f->store.bad_kind = REFUSAL_UNKNOWN;
    f->now_ms += 1000;
    assert_true(run(f, 20));
    assert_int_equal(metric_named("stampede_store_away"), 0);
    assert_int_equal(metric_named("stampede_order_lag"), 0);
    assert_int_equal(metric_named("stampede_orders_written_total"), written + 19);
    assert_int_equal(metric_named("stampede_orders_rejected_total"), rejected + 1);
    assert_int_equal(metric_named("stampede_dead_letters_total"), dead + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_record_is_written_once_in_full_batches),
        TEST(a_long_list_of_users_is_written_in_short_transactions),
        TEST(the_first_ticket_is_written_at_once_and_the_next_ones_gather),
        TEST(a_turn_gives_the_thread_back),
        TEST(a_refused_guard_rejects_the_one_record_and_writes_the_others),
        TEST(a_record_refused_for_good_is_tried_a_bounded_number_of_times_then_buried),
        TEST(a_refusal_that_passes_is_no_dead_letter),
        TEST(halving_finds_the_one_bad_record_of_a_full_batch),
        TEST(halving_also_finds_what_must_be_rejected),
        TEST(a_store_that_is_away_pauses_longer_and_longer_and_loses_nothing),
        TEST(a_clock_that_goes_back_does_not_stretch_a_pause),
        TEST(what_the_store_did_not_answer_is_tried_again_as_it_was),
        TEST(a_queue_that_is_away_is_tried_again),
        TEST(damage_stops_the_writer_for_good),
        TEST(a_damaged_queue_stops_the_writer_too),
        TEST(it_starts_where_the_store_is_or_says_who_is_too_old),
        TEST(metrics_tell_what_was_written_and_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
