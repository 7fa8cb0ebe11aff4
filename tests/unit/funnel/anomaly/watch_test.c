/* SPDX-License-Identifier: Apache-2.0 */
/* What an edge notes: rows, who gives way, and the exchange of tables between two threads. */
#include "funnel/anomaly/watch.h"

#include "tests/unit/base/unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { EVENTS = 200000 };

static struct arena arena;
static struct watch *watch;

static int watch_setup(void **state)
{
    (void)state;
    if (arena_open(&arena, watch_bytes()) != STATUS_OK)
        return -1;
    watch = watch_create(&arena, (struct hash_key){ 1, 2 }, 30);
    watch_give(watch);
    return 0;
}

static int watch_teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static struct address address_of(uint32_t number)
{
    const uint8_t four[4] = { 10, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number };
    return address_from_v4(four);
}

static void note(enum watch_signal signal, uint64_t now_ms, uint32_t client, user_id user, uint64_t start_ms)
{
    const struct watch_event event = { signal, now_ms, address_of(client), user };
    if (signal == WATCH_ASKED && user != 0)
        watch_purchase(watch, user, now_ms, start_ms);
    else
        watch_note(watch, &event);
}

static const struct watch_row *row_of(const struct watch_table *table, uint32_t client, user_id user)
{
    static const struct address nowhere;
    const struct address address = user != 0 ? nowhere : address_of(client);
    for (uint32_t i = 0; i < WATCH_ROWS; i++)
        if (table->rows[i].noted != 0 && table->rows[i].user == user
            && address_equal(&table->rows[i].address, &address))
            return &table->rows[i];
    static const struct watch_row none;
    return &none; /* noted 0 */
}

static const struct watch_table *taken(void)
{
    watch_turn(watch);
    const struct watch_table *table = watch_take(watch);
    assert_non_null(table);
    return table;
}

static void each_signal_goes_to_whom_it_is_about(void **state)
{
    (void)state;
    note(WATCH_TOO_FAST, 1000, 1, 0, 0);
    note(WATCH_TOO_FAST, 1000, 1, 77, 0); /* the user's own rate: not the address's fault */
    note(WATCH_FAILED, 1000, 1, 77, 0);   /* a token is worth nothing as a name */
    note(WATCH_SEEN, 1000, 1, 78, 0);
    note(WATCH_SEEN, 1000, 2, 78, 0);
    const struct watch_table *table = taken();
    const struct watch_row *row = row_of(table, 1, 0);
    assert_int_equal(row->too_fast, 1);
    assert_int_equal(row->failed, 1);
    assert_int_equal(
        __builtin_popcountll(row->marks[0] | row->marks[1] | row->marks[2] | row->marks[3]), 1);
    assert_int_equal(row_of(table, 0, 77)->too_fast, 1);
    uint32_t marks = 0;
    for (uint32_t i = 0; i < WATCH_MARK_WORDS; i++)
        marks += (uint32_t)__builtin_popcountll(row_of(table, 0, 78)->marks[i]);
    assert_int_equal(marks, 2);
    assert_int_equal(row_of(table, 3, 0)->noted, 0);
}

static void intervals_and_early_purchases_are_noted(void **state)
{
    (void)state;
    note(WATCH_ASKED, 5030, 1, 9, 5000);
    note(WATCH_ASKED, 5040, 1, 9, 5000);
    note(WATCH_ASKED, 5060, 1, 9, 5000);
    note(WATCH_ASKED, 5031, 1, 10, 5000);
    note(WATCH_ASKED, 4000, 5, 0, 0); /* before the start: nobody has said who */
    const struct watch_table *table = taken();
    const struct watch_row *row = row_of(table, 0, 9);
    assert_int_equal(row->asked, 3);
    assert_int_equal(row->asked_last_ms - row->asked_first_ms, 30);
    assert_int_equal(row->asked_squares, 10 * 10 + 20 * 20);
    assert_int_equal(row->start_ms, 5000);
    assert_int_equal(row_of(table, 0, 10)->start_ms, 0); /* one past the edge */
    assert_int_equal(row_of(table, 5, 0)->asked, 1);
    assert_int_equal(row_of(table, 1, 0)->noted, 0);
}

static void one_who_comes_again_stays_in_a_crowd_that_does_not_fit(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20 * WATCH_ROWS; i++) {
        note(WATCH_TOO_FAST, 1000, 100 + i, 0, 0);
        if (i % 16 == 0)
            note(WATCH_TOO_FAST, 1000, 1, 0, 0);
    }
    const struct watch_table *table = taken();
    assert_in_range(table->lost, 18 * WATCH_ROWS, 20 * WATCH_ROWS);
    assert_int_not_equal(row_of(table, 1, 0)->noted, 0);
    assert_true(row_of(table, 1, 0)->too_fast > WATCH_ROWS);
}

static void two_addresses_of_one_ipv6_network_are_one(void **state)
{
    struct watch_event event = { .signal = WATCH_TOO_FAST, .now_ms = 1 };
    (void)state;
    assert_int_equal(address_parse(SPAN("2001:db8::1"), &event.client), STATUS_OK);
    watch_note(watch, &event);
    assert_int_equal(address_parse(SPAN("2001:db8::ffff:0:0:9"), &event.client), STATUS_OK);
    watch_note(watch, &event);
    const struct watch_table *table = taken();
    uint32_t rows = 0;
    for (uint32_t i = 0; i < WATCH_ROWS; i++)
        rows += table->rows[i].noted == 2;
    assert_int_equal(rows, 1);
}

static void a_table_is_handed_over_once_and_comes_back_empty(void **state)
{
    (void)state;
    note(WATCH_FAILED, 1, 1, 0, 0);
    assert_null(watch_take(watch)); /* the edge has not turned yet */
    const struct watch_table *first = taken();
    assert_int_not_equal(row_of(first, 1, 0)->noted, 0);
    note(WATCH_FAILED, 1, 2, 0, 0); /* while the worker reads the first */
    watch_turn(watch);
    assert_ptr_equal(watch_take(watch), first);
    assert_int_equal(row_of(first, 2, 0)->noted, 0);
    watch_give(watch);
    const struct watch_table *second = taken();
    assert_ptr_not_equal(second, first);
    assert_int_not_equal(row_of(second, 2, 0)->noted, 0);
    watch_give(watch);
    assert_int_equal(row_of(taken(), 1, 0)->noted, 0);
}

static void *edge_run(void *context)
{
    _Atomic bool *done = context;
    for (uint32_t i = 0; i < EVENTS; i++) {
        note(i % 2 == 0 ? WATCH_FAILED : WATCH_TOO_FAST, i, i % 16, 0, 0);
        if (i % 50 == 0) {
            watch_turn(watch);
            sched_yield();
        }
    }
    atomic_store(done, true);
    return NULL;
}

/* Run under ThreadSanitizer too. */
static void nothing_is_lost_between_the_threads(void **state)
{
    pthread_t edge;
    uint64_t seen = 0;
    _Atomic bool done = false;
    bool ended = false;
    (void)state;
    assert_int_equal(pthread_create(&edge, NULL, edge_run, &done), 0);
    for (uint32_t last = 0; last < 2;) {
        const struct watch_table *table = watch_take(watch);
        if (table != NULL) {
            for (uint32_t i = 0; i < WATCH_ROWS; i++)
                seen += table->rows[i].failed + table->rows[i].too_fast;
            watch_give(watch);
            last += ended;
        }
        if (!ended && atomic_load(&done)) { /* it may have ended before a single table was taken */
            pthread_join(edge, NULL);
            ended = true;
        }
        if (ended)
            watch_turn(watch);
        else if (table == NULL)
            sched_yield();
    }
    assert_int_equal(seen, EVENTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_signal_goes_to_whom_it_is_about, watch_setup, watch_teardown),
        cmocka_unit_test_setup_teardown(
            intervals_and_early_purchases_are_noted, watch_setup, watch_teardown),
        cmocka_unit_test_setup_teardown(
            one_who_comes_again_stays_in_a_crowd_that_does_not_fit, watch_setup, watch_teardown),
        cmocka_unit_test_setup_teardown(
            two_addresses_of_one_ipv6_network_are_one, watch_setup, watch_teardown),
        cmocka_unit_test_setup_teardown(
            a_table_is_handed_over_once_and_comes_back_empty, watch_setup, watch_teardown),
        cmocka_unit_test_setup_teardown(nothing_is_lost_between_the_threads, watch_setup, watch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
