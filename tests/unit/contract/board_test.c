/* SPDX-License-Identifier: Apache-2.0 */
#include "contract/board.h"

#include "base/thread.h"
#include "tests/unit/base/unit.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum {
    ITEMS = 8,
    BUYERS = 20000,
    PUBLICATIONS = 20000,
    INTERRUPTION_US = 50,
    INTERRUPTIONS = 2000,
    READS_MAX = 20000000, /* where signals wait long to be delivered */
};

static struct arena arena;
static struct board board;

static int open_board(void **state)
{
    (void)state;
    assert_int_equal(arena_open(&arena, board_bytes(ITEMS, BUYERS)), STATUS_OK);
    board_create(&board, &arena, ITEMS, BUYERS);
    board.filter_key = (struct hash_key){ 11, 22 };
    return 0;
}

static int close_board(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static struct board_update an_update(item_id item)
{
    return (struct board_update){
        .item = item,
        .sale = 3,
        .start_ms = 100,
        .end_ms = 200,
        .unit_price = 99900,
        .gate = GATE_PAUSED,
        .limit_per_user = 2,
        .counts = { .given = 60,
            .free = 10,
            .held = 20,
            .sold = 15,
            .safety = 9,
            .written_off = 6,
            .channel_free = { 1, 2, 0, 0, 0, 0, 0, 7 } },
    };
}

static void what_is_published_is_read_back_whole(void **state)
{
    (void)state;
    struct board_update update = an_update(ITEMS - 1), copy;
    board_publish(&board, &update);
    memset(&copy, 0xff, sizeof copy);
    assert_true(board_read(&board, ITEMS - 1, &copy));
    assert_int_equal(copy.item, update.item);
    assert_int_equal(copy.sale, update.sale);
    assert_int_equal(copy.start_ms, update.start_ms);
    assert_int_equal(copy.end_ms, update.end_ms);
    assert_int_equal(copy.unit_price, update.unit_price);
    assert_int_equal(copy.gate, update.gate);
    assert_int_equal(copy.limit_per_user, update.limit_per_user);
    assert_memory_equal(&copy.counts, &update.counts, sizeof copy.counts);
}

static void the_first_time_that_nothing_was_left_is_remembered(void **state)
{
    (void)state;
    struct board_update update = an_update(1);
    board_note_sold_out(&board, &update, 1000);
    assert_int_equal(board_sold_out_ms(&board, 1), 0); /* units are free */
    memset(update.counts.channel_free, 0, sizeof update.counts.channel_free);
    board_note_sold_out(&board, &update, 1500);
    board_note_sold_out(&board, &update, 1600); /* some came back meanwhile */
    assert_int_equal(board_sold_out_ms(&board, 1), 1500);
    assert_int_equal(board_sold_out_ms(&board, 2), 0);
    assert_int_equal(board_sold_out_ms(&board, 0), 0);
    assert_int_equal(board_sold_out_ms(&board, ITEMS), 0);
}

static void when_it_sold_out_is_not_told_if_a_restart_came_after_the_first_purchase(void **state)
{
    (void)state;
    struct board_update taken = an_update(3), fresh = an_update(4);
    fresh.counts.held = fresh.counts.sold = 0;
    board_note_sold_out(&board, &taken, 0);
    board_note_sold_out(&board, &fresh, 0);
    for (unsigned i = 0; i < CHANNELS_MAX; i++)
        taken.counts.channel_free[i] = fresh.counts.channel_free[i] = 0;
    board_note_sold_out(&board, &fresh, 1400); /* nothing was given yet: nothing is sold */
    fresh.counts.sold = 1;
    board_note_sold_out(&board, &taken, 1500);
    board_note_sold_out(&board, &fresh, 1500);
    assert_int_equal(board_sold_out_ms(&board, 3), 0);
    assert_int_equal(board_sold_out_ms(&board, 4), 1500);
}

static void an_item_that_is_not_there_or_never_published_is_not_read(void **state)
{
    (void)state;
    struct board_update copy;
    assert_false(board_read(&board, 0, &copy));
    assert_false(board_read(&board, 1, &copy));
    assert_false(board_read(&board, ITEMS, &copy));
    assert_false(board_read(&board, UINT32_MAX, &copy));
}

static void publish_outside(void)
{
    struct board_update update = an_update(ITEMS);
    board_publish(&board, &update);
}

static void publishing_an_item_outside_the_board_stops_the_program(void **state)
{
    (void)state;
    assert_true(unit_stops(publish_outside));
}

static void what_is_asked_and_decided_is_counted_by_item_and_channel(void **state)
{
    (void)state;
    board_asked(&board, 2, 1, 5);
    board_asked(&board, 2, 1, 3);
    board_decided(&board, 2, 1, 5);
    assert_int_equal(board_queued(&board, 2, 1), 3);
    for (item_id item = 0; item < ITEMS; item++)
        for (uint32_t channel = 0; channel < CHANNELS_MAX; channel++)
            assert_int_equal(board_queued(&board, item, (channel_index)channel),
                item == 2 && channel == 1 ? 3 : 0);
    board_asked(&board, ITEMS, 0, 1); /* no such item, no such channel: nothing to count */
    board_decided(&board, 1, CHANNELS_MAX, 1);
    board_asked(&board, 1, CHANNELS_MAX, 1);
    assert_int_equal(board_queued(&board, 1, CHANNELS_MAX - 1), 0);
}

static void a_new_filter_knows_nobody(void **state)
{
    (void)state;
    for (user_id user = 1; user < 1000; user++)
        assert_false(board_may_have_bought(&board, 1, user));
}

static void the_filter_never_forgets_and_rarely_errs(void **state)
{
    (void)state;
    for (user_id user = 1; user <= BUYERS; user++)
        board_add_buyer(&board, (item_id)(1 + user % 3), user);
    unsigned wrong = 0;
    for (user_id user = 1; user <= BUYERS; user++) {
        assert_true(board_may_have_bought(&board, (item_id)(1 + user % 3), user));
        /* the same user with another item, and another user */
        wrong += board_may_have_bought(&board, (item_id)(1 + (user + 1) % 3), user);
        wrong += board_may_have_bought(&board, 1, user << 32 | BUYERS);
    }
    assert_true(wrong < 2 * BUYERS / 50);
}

static void the_filter_depends_on_its_key(void **state)
{
    (void)state;
    for (user_id user = 1; user <= 100; user++)
        board_add_buyer(&board, 1, user);
    board.filter_key.k0 ^= 1;
    unsigned known = 0;
    for (user_id user = 1; user <= 100; user++)
        known += board_may_have_bought(&board, 1, user);
    assert_true(known < 10);
}

static void buyers_of_an_item_with_a_limit_group_are_holders_of_the_group(void **state)
{
    (void)state;
    const uint64_t group = UINT64_C(1) << 32 | 7;
    board_add_buyer(&board, 1, 100); /* its group is not known yet */
    board_set_limit_group(&board, 1, group);
    board_add_buyer(&board, 1, 101);
    board_add_buyer(&board, 2, 102);
    assert_int_equal(board_limit_group(&board, 1), group);
    assert_int_equal(board_limit_group(&board, 2), 0);
    assert_true(board_may_hold(&board, group, 101));
    assert_false(board_may_hold(&board, group, 100) || board_may_hold(&board, group, 102));
    assert_false(board_may_hold(&board, 7, 101)); /* a product is no group */
    assert_true(board_may_have_bought(&board, 1, 101));
    board_set_limit_group(&board, 1, 0);
    board_add_buyer(&board, 1, 103);
    assert_false(board_may_hold(&board, group, 103));
}

static void a_full_filter_of_holders_takes_nobody_in_until_it_is_cleared(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (user_id user = 1; user <= 2 * BUYERS; user++) {
        board_add_holder(&board, 3, user);
        board_add_holder(&board, 3, user); /* again: counts once */
    }
    assert_true(board_holders_full(&board));
    assert_int_equal(atomic_load(&board.holders->count), BUYERS);
    for (user_id user = 1; user <= BUYERS; user++) {
        assert_true(board_may_hold(&board, 3, user));
        wrong += board_may_hold(&board, 3, user << 32);
    }
    assert_true(wrong < BUYERS / 50);
    board_clear_holders(&board);
    assert_false(board_holders_full(&board));
    for (user_id user = 1; user <= BUYERS; user++)
        assert_false(board_may_hold(&board, 3, user));
    board_add_holder(&board, 3, 1);
    assert_true(board_may_hold(&board, 3, 1));
}

static void hold_upwards(void *context)
{
    (void)context;
    for (user_id user = 1; user < BUYERS / 2; user++)
        board_add_holder(&board, 5, user);
}

static void holders_that_two_threads_add_are_all_there(void **state)
{
    (void)state;
    struct thread other = { .started = false };
    assert_int_equal(thread_start(&other, "other", hold_upwards, NULL), STATUS_OK);
    for (user_id user = BUYERS / 2; user < BUYERS - 100; user++)
        board_add_holder(&board, 5, user);
    thread_join(&other);
    for (user_id user = 1; user < BUYERS - 100; user++)
        assert_true(board_may_hold(&board, 5, user));
}

/* A publication whose numbers are all n; its buyer is added before. */
static void publish_number(uint32_t n)
{
    struct board_update update = { .item = 1,
        .sale = n,
        .start_ms = n,
        .end_ms = n,
        .unit_price = n,
        .limit_per_user = n,
        .counts = { .given = n, .held = n, .sold = n, .safety = n, .written_off = n } };
    for (unsigned i = 0; i < CHANNELS_MAX; i++)
        update.counts.channel_free[i] = n;
    board_add_buyer(&board, 1, n);
    board_publish(&board, &update);
}

/* The number of the publication; all that is read must be of it. */
static uint32_t number_read(void)
{
    struct board_update copy;
    if (!board_read(&board, 1, &copy))
        return 0;
    const uint32_t n = copy.sale;
    assert_true(
        copy.start_ms == n && copy.end_ms == n && copy.unit_price == n && copy.limit_per_user == n);
    assert_true(copy.counts.given == n && copy.counts.held == n && copy.counts.sold == n);
    assert_true(copy.counts.safety == n && copy.counts.written_off == n);
    assert_int_equal(copy.counts.free, (uint32_t)CHANNELS_MAX * n);
    assert_true(board_may_have_bought(&board, 1, n));
    return n;
}

static void publish_on_and_on(void *context)
{
    (void)context;
    for (uint32_t n = 1; n <= PUBLICATIONS; n++)
        publish_number(n);
}

static void a_reader_beside_the_writer_sees_consistent_sets_and_their_buyers(void **state)
{
    (void)state;
    struct thread writer = { .started = false };
    assert_int_equal(thread_start(&writer, "writer", publish_on_and_on, NULL), STATUS_OK);
    for (uint32_t last = 0; last < PUBLICATIONS;) {
        const uint32_t n = number_read();
        assert_true(n >= last);
        last = n;
    }
    thread_join(&writer);
}

static volatile sig_atomic_t interruptions;

static void publish_next(int signal_number)
{
    (void)signal_number;
    publish_number((uint32_t)++interruptions);
}

/* The writer interrupts the reader on its own core: whichever cores are busy, most publications
 * fall between two loads of one read. */
static void a_reader_that_a_publication_interrupts_reads_again(void **state)
{
    (void)state;
    const struct itimerval often = { { 0, INTERRUPTION_US }, { 0, INTERRUPTION_US } };
    const struct itimerval never = { { 0, 0 }, { 0, 0 } };
    const struct sigaction publish = { .sa_handler = publish_next };
    struct sigaction before;
    interruptions = 0;
    assert_int_equal(sigaction(SIGALRM, &publish, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (uint32_t reads = 0; reads < READS_MAX && interruptions < INTERRUPTIONS; reads++)
        (void)number_read();
    assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
    assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
}

static _Atomic bool reading;

static void read_once(void *copy)
{
    atomic_store(&reading, true);
    (void)board_read(&board, 1, copy);
}

/* As a writer does that is interrupted between two stores. */
static void a_reader_waits_for_an_update_that_is_half_written(void **state)
{
    (void)state;
    const struct timespec long_enough_to_read = { 0, 50000000 };
    struct thread reader = { .started = false };
    struct board_update copy = { .sale = 0 };
    publish_number(1);
    atomic_fetch_add(&board.items[1].sequence, 1);
    atomic_store(&board.items[1].unit_price, 2);
    atomic_store(&reading, false);
    assert_int_equal(thread_start(&reader, "reader", read_once, &copy), STATUS_OK);
    while (!atomic_load(&reading))
        sched_yield();
    nanosleep(&long_enough_to_read, NULL);
    atomic_store(&board.items[1].unit_price, 1);
    atomic_fetch_add(&board.items[1].sequence, 1);
    thread_join(&reader);
    assert_int_equal(copy.sale, 1);
    assert_int_equal(copy.unit_price, 1);
}

int main(void)
{
#define RULE(name) cmocka_unit_test_setup_teardown(name, open_board, close_board)
    const struct CMUnitTest rules[] = {
        RULE(what_is_published_is_read_back_whole),
        RULE(the_first_time_that_nothing_was_left_is_remembered),
        RULE(when_it_sold_out_is_not_told_if_a_restart_came_after_the_first_purchase),
        RULE(an_item_that_is_not_there_or_never_published_is_not_read),
        RULE(publishing_an_item_outside_the_board_stops_the_program),
        RULE(what_is_asked_and_decided_is_counted_by_item_and_channel),
        RULE(buyers_of_an_item_with_a_limit_group_are_holders_of_the_group),
        RULE(a_full_filter_of_holders_takes_nobody_in_until_it_is_cleared),
        RULE(holders_that_two_threads_add_are_all_there),
        RULE(a_new_filter_knows_nobody),
        RULE(the_filter_never_forgets_and_rarely_errs),
        RULE(the_filter_depends_on_its_key),
        RULE(a_reader_beside_the_writer_sees_consistent_sets_and_their_buyers),
        RULE(a_reader_that_a_publication_interrupts_reads_again),
        RULE(a_reader_waits_for_an_update_that_is_half_written),
    };
    return cmocka_run_group_tests(rules, NULL, NULL);
}
