/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of the logs beside a database that is played: order, bounds, and a database that is away. */
#include "inventory/redis/log_reader.h"

#include "base/clock.h"
#include "base/log.h"
#include "tests/unit/base/unit.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 100, PART = 32, LONG = 1000, PATIENCE_MS = 30 * 1000 };

/* Partitions PART, PART + 1, …; each entry has one record, and its first byte is that record's number. */
static struct {
    struct order_store store;
    uint32_t parts;
    uint32_t epoch[PARTS_MAX + 8];
    uint64_t seq[PARTS_MAX + 8];
    bool is_away;
    bool is_silent;      /* each question waits until the reader counts it as away */
    uint32_t silences;   /* that ended so */
    uint32_t reads_left; /* of entries, until the database is away */
    uint32_t reads, raises;
    uint32_t wanted[LOG_WANTS_MAX + 8], wanted_count;
} played;

static struct log_reader *reader;
static struct wake host;

static void silence(void)
{
    const uint64_t until_ms = clock_monotonic_ms() + PATIENCE_MS;
    if (!played.is_silent)
        return;
    assert_false(log_reader_is_away(reader)); /* it was asked just now */
    while (!log_reader_is_away(reader) && clock_monotonic_ms() < until_ms)
        poll(NULL, 0, 1);
    played.is_silent = log_reader_is_away(reader); /* else once is enough */
    played.silences += played.is_silent;
}

static enum status played_parts(struct order_store *store, uint32_t from, struct part_state *states,
    uint32_t max, uint32_t *count)
{
    (void)store;
    *count = 0;
    silence();
    if (played.is_away)
        return STATUS_AWAY;
    for (uint32_t i = 0; i < played.parts && *count < max; i++)
        if (PART + i >= from)
            states[(*count)++] = (struct part_state){ PART + i, played.epoch[i], played.seq[i], 1, 0 };
    return STATUS_OK;
}

static enum status played_next(struct order_store *store, uint32_t part, uint64_t after,
    struct journal_entry *entry, uint8_t *buffer)
{
    (void)store;
    silence();
    if (played.is_away || played.reads_left == 0)
        return STATUS_AWAY;
    played.reads_left--;
    played.reads++;
    if (after >= played.seq[part - PART])
        return STATUS_NOT_FOUND;
    buffer[0] = (uint8_t)(after + 1);
    *entry = (struct journal_entry){
        .part = part, .epoch = 1, .first_seq = after + 1, .bytes = span_of(buffer, 1)
    };
    return STATUS_OK;
}

static enum status played_want(struct order_store *store, uint32_t part)
{
    (void)store;
    silence();
    if (played.is_away)
        return STATUS_AWAY;
    assert_true(played.wanted_count < LOG_WANTS_MAX + 8);
    played.wanted[played.wanted_count++] = part;
    return STATUS_OK;
}

static enum status played_raise(struct order_store *store, uint32_t part, uint32_t from)
{
    (void)store;
    if (played.is_away)
        return STATUS_AWAY;
    played.raises++;
    if (played.epoch[part - PART] != from)
        return STATUS_CONFLICT;
    played.epoch[part - PART]++;
    return STATUS_OK;
}

static const struct cluster_store_ops cluster_ops = {
    .parts = played_parts, .journal_next = played_next, .part_want = played_want, .epoch_raise = played_raise
};
static const struct order_store_ops store_ops = { .cluster = &cluster_ops };

static int setup(void **state)
{
    (void)state;
    log_level_set(LOG_ERROR + 1);
    memset(&played, 0, sizeof played);
    played.store.ops = &store_ops;
    played.reads_left = UINT32_MAX;
    assert_int_equal(wake_open(&host), STATUS_OK);
    return log_reader_open(&reader,
               &(struct log_reader_config){ .store = &played.store, .parts_max = PARTS_MAX, .host = &host })
            == STATUS_OK
        ? 0
        : -1;
}

static int teardown(void **state)
{
    (void)state;
    log_reader_close(reader);
    wake_close(&host);
    return 0;
}

static void grow(uint32_t index, uint64_t entries)
{
    if (index >= played.parts)
        played.parts = index + 1;
    played.epoch[index] = 1;
    played.seq[index] += entries;
}

struct taken {
    uint32_t entries, states;
    struct part_state last; /* state */
};

/* Entries of partition PART go on at *seq, without a gap. */
static struct taken take(uint64_t *seq)
{
    struct taken taken = { 0 };
    for (struct log_piece *piece = log_reader_take(reader), *next; piece != NULL; piece = next) {
        next = piece->next;
        if (piece->entry.part == 0) {
            taken.states++;
            taken.last = piece->state;
        } else {
            taken.entries++;
            assert_int_equal(piece->state.part, piece->entry.part);
            if (piece->entry.part == PART) {
                assert_int_equal(piece->entry.first_seq, ++*seq);
                assert_int_equal(piece->entry.bytes.size, 1);
                assert_int_equal((uint8_t)piece->entry.bytes.data[0], (uint8_t)*seq);
            }
        }
        free(piece);
    }
    return taken;
}

static void entries_come_in_their_order_and_then_how_far_the_partition_is(void **state)
{
    (void)state;
    uint64_t seq = 0;
    grow(0, 3);
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    struct taken taken = take(&seq);
    assert_true(taken.entries == 3 && taken.states == 1);
    assert_true(taken.last.part == PART && taken.last.epoch == 1 && taken.last.seq == 3);
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    assert_null(log_reader_take(reader)); /* nothing is new */
    played.epoch[0] = 2;
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    taken = take(&seq);
    assert_true(taken.entries == 0 && taken.states == 1 && taken.last.epoch == 2);
    grow(0, 1);
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    assert_int_equal(take(&seq).entries, 1);
    assert_int_equal(seq, 4);
}

static void what_is_not_taken_is_bounded_and_goes_on_where_it_was(void **state)
{
    (void)state;
    uint64_t seq = 0;
    uint32_t rounds = 0;
    grow(0, LONG);
    while (log_reader_turn(reader) == STATUS_FULL) {
        assert_int_equal(played.reads, LOG_PIECES_MAX); /* it does not read what it can't hand over */
        assert_int_equal(log_reader_turn(reader), STATUS_FULL);
        assert_int_equal(played.reads, LOG_PIECES_MAX);
        assert_false(log_reader_is_away(reader));
        played.reads = 0;
        const struct taken taken = take(&seq);
        assert_true(taken.entries == LOG_PIECES_MAX && taken.states == 0);
        assert_true(++rounds < LONG);
    }
    assert_int_equal(rounds, LONG / LOG_PIECES_MAX);
    const struct taken taken = take(&seq);
    assert_true(taken.states == 1 && taken.last.seq == LONG);
    assert_int_equal(seq, LONG);
}

static void a_database_that_is_away_is_asked_again_and_nothing_is_lost(void **state)
{
    (void)state;
    uint64_t seq = 0;
    played.is_away = true;
    grow(0, 5);
    assert_int_equal(log_reader_turn(reader), STATUS_AWAY);
    assert_true(log_reader_is_away(reader));
    assert_null(log_reader_take(reader));
    played.is_away = false;
    played.reads_left = 2; /* away in the midst of a log */
    assert_int_equal(log_reader_turn(reader), STATUS_AWAY);
    assert_true(log_reader_is_away(reader));
    struct taken taken = take(&seq);
    assert_true(taken.entries == 2 && taken.states == 0); /* it is not known to be complete */
    played.reads_left = UINT32_MAX;
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    assert_false(log_reader_is_away(reader));
    taken = take(&seq);
    assert_true(taken.entries == 3 && taken.states == 1);
}

static void a_question_that_is_not_answered_in_time_makes_the_database_one_that_is_away(void **state)
{
    (void)state;
    uint64_t seq = 0;
    grow(0, 1);
    played.is_silent = true;
    assert_true(log_reader_want(reader, 7));
    assert_int_equal(log_reader_turn(reader), STATUS_OK); /* each is answered in the end */
    assert_int_equal(played.silences, 4); /* what is wanted, which there are, an entry, the next one */
    assert_false(log_reader_is_away(reader));
    assert_int_equal(take(&seq).entries, 1);
}

static void all_partitions_are_followed_up_to_the_bound(void **state)
{
    (void)state;
    uint64_t seq = 0;
    for (uint32_t i = 0; i < PARTS_MAX; i++)
        grow(i, 1);
    assert_int_equal(log_reader_turn(reader), STATUS_OK); /* more than one question to the database */
    const struct taken taken = take(&seq);
    assert_true(taken.entries == PARTS_MAX && taken.states == PARTS_MAX);
    grow(PARTS_MAX, 1);
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    assert_null(log_reader_take(reader));
    grow(0, 1);
    assert_int_equal(log_reader_turn(reader), STATUS_OK); /* the others are still read */
    assert_int_equal(take(&seq).entries, 1);
}

static void partitions_that_are_wanted_are_written_once_when_the_database_is_there(void **state)
{
    (void)state;
    played.is_away = true;
    assert_true(log_reader_want(reader, 7));
    assert_true(log_reader_want(reader, 9));
    assert_true(log_reader_want(reader, 7)); /* it is on the list */
    assert_int_equal(log_reader_turn(reader), STATUS_AWAY);
    played.is_away = false;
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    assert_int_equal(played.wanted_count, 2);
    assert_int_equal(played.wanted[0] + played.wanted[1], 7 + 9);
    for (uint32_t i = 0; i < LOG_WANTS_MAX; i++)
        assert_true(log_reader_want(reader, 100 + i));
    assert_false(log_reader_want(reader, 99));
    assert_true(log_reader_want(reader, 100));
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    assert_int_equal(played.wanted_count, 2 + LOG_WANTS_MAX);
    assert_true(log_reader_want(reader, 99));
}

static void a_partition_at_rest_is_roused_once_by_its_epoch(void **state)
{
    (void)state;
    grow(0, 1);
    played.epoch[0] = 3;
    played.is_away = true;
    assert_true(log_reader_rouse(reader, PART, 3));
    assert_true(log_reader_rouse(reader, PART, 3));
    assert_int_equal(log_reader_turn(reader), STATUS_AWAY);
    played.is_away = false;
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    assert_int_equal(played.epoch[0], 4);
    assert_true(log_reader_rouse(reader, PART, 3)); /* somebody who has not heard of it */
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    assert_int_equal(log_reader_turn(reader), STATUS_OK);
    assert_true(played.epoch[0] == 4 && played.raises == 2 && played.wanted_count == 0);
}

static void the_thread_wakes_the_host_and_ends_when_it_is_stopped(void **state)
{
    (void)state;
    struct thread thread = { 0 };
    uint64_t seq = 0;
    grow(0, 3);
    assert_int_equal(thread_start(&thread, "log", log_reader_run, reader), STATUS_OK);
    while (seq < 3) {
        wake_wait(&host, 10000); /* a host that sleeps: only the signal brings it here in time */
        (void)take(&seq);
    }
    log_reader_stop(reader);
    thread_join(&thread);
    assert_int_equal(seq, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            entries_come_in_their_order_and_then_how_far_the_partition_is, setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_is_not_taken_is_bounded_and_goes_on_where_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_database_that_is_away_is_asked_again_and_nothing_is_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_question_that_is_not_answered_in_time_makes_the_database_one_that_is_away, setup, teardown),
        cmocka_unit_test_setup_teardown(all_partitions_are_followed_up_to_the_bound, setup, teardown),
        cmocka_unit_test_setup_teardown(
            partitions_that_are_wanted_are_written_once_when_the_database_is_there, setup, teardown),
        cmocka_unit_test_setup_teardown(a_partition_at_rest_is_roused_once_by_its_epoch, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_thread_wakes_the_host_and_ends_when_it_is_stopped, setup, teardown),
    };
    return cmocka_run_group_tests_name("inventory/redis/log_reader", tests, NULL, NULL);
}
