/* SPDX-License-Identifier: Apache-2.0 */
/* The hand-over from the thread that writes orders to the worker: nothing is lost, doubled or torn. */
#include "worker/written_news.h"

#include "base/thread.h"
#include "tests/unit/base/unit.h"

#include <sched.h>
#include <stdio.h>

enum { TURNS = 2000, NOTES = 20 };

static struct arena arena;
static struct written_news news;

static int setup(void **state)
{
    (void)state;
    assert_int_equal(arena_open(&arena, written_news_bytes()), STATUS_OK);
    written_news_open(&news, &arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    written_news_close(&news);
    arena_close(&arena);
    return 0;
}

static void turn(uint32_t records, uint64_t lag, const char *trouble)
{
    written_news_turn(&news,
        &(struct order_writer_progress){
            .state = ORDER_WRITER_WORKING, .records = records, .dead = 1, .lag = lag, .trouble = trouble });
}

static void notes_are_taken_with_the_turn_that_they_belong_to(void **state)
{
    (void)state;
    assert_false(written_news_take(&news));
    written_news_note(&news, 5, 55);
    assert_false(written_news_take(&news)); /* the turn has not ended */
    turn(1, 9, NULL);
    assert_true(written_news_take(&news));
    assert_int_equal(news.taken->note_count, 1);
    assert_true(news.taken->notes[0].ticket == 5 && news.taken->notes[0].user == 55);
    assert_false(written_news_take(&news));
    turn(0, 8, NULL);
    assert_true(written_news_take(&news));
    assert_int_equal(news.taken->note_count, 0);
}

static void several_turns_are_summed_up(void **state)
{
    (void)state;
    turn(3, 9, "away");
    turn(4, 7, NULL);
    assert_true(written_news_take(&news));
    assert_int_equal(news.taken->progress.records, 7);
    assert_int_equal(news.taken->progress.dead, 2);
    assert_int_equal(news.taken->progress.lag, 7);
    assert_null(news.taken->progress.trouble);
    turn(1, 6, "away");
    assert_true(written_news_take(&news));
    assert_int_equal(news.taken->progress.records, 1);
    assert_string_equal(news.taken->progress.trouble, "away");
}

static void more_notes_than_there_is_room_for_become_many(void **state)
{
    (void)state;
    for (uint32_t i = 0; i <= WRITTEN_NOTES_MAX; i++)
        written_news_note(&news, i + 1, 1);
    turn(1, 0, NULL);
    assert_true(written_news_take(&news));
    assert_true(news.taken->many && news.taken->note_count == WRITTEN_NOTES_MAX);
    turn(1, 0, NULL);
    assert_true(written_news_take(&news));
    assert_false(news.taken->many);
}

static void writes(void *context)
{
    (void)context;
    ticket_number ticket = 0;
    for (uint64_t i = 1; i <= TURNS; i++) {
        char trouble[32];
        for (uint32_t note = 0; note < NOTES; note++, ticket++)
            written_news_note(&news, ticket + 1, 2 * (ticket + 1));
        snprintf(trouble, sizeof trouble, "turn %llu", (unsigned long long)i);
        turn(NOTES, i, trouble);
        if (i % 64 == 0)
            sched_yield();
    }
}

static void two_threads_lose_nothing(void **state)
{
    (void)state;
    struct thread thread;
    uint64_t records = 0;
    ticket_number last = 0;
    bool were_many = false;
    assert_int_equal(thread_start(&thread, "writes", writes, NULL), STATUS_OK);
    while (records < (uint64_t)TURNS * NOTES) {
        if (!written_news_take(&news)) {
            sched_yield();
            continue;
        }
        const struct written_block *taken = news.taken;
        char trouble[32];
        snprintf(trouble, sizeof trouble, "turn %llu", (unsigned long long)taken->progress.lag);
        assert_string_equal(taken->progress.trouble, trouble);
        assert_int_equal(taken->turns, taken->progress.lag);
        records += taken->progress.records;
        for (uint32_t i = 0; i < taken->note_count; i++) {
            assert_int_equal(taken->notes[i].user, 2 * taken->notes[i].ticket);
            assert_true(
                taken->notes[i].ticket == last + 1 || (were_many && taken->notes[i].ticket > last));
            last = taken->notes[i].ticket;
            were_many = false;
        }
        were_many |= taken->many; /* those that had no room came last, and some may be of the turn after */
    }
    thread_join(&thread);
    assert_int_equal(records, (uint64_t)TURNS * NOTES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(notes_are_taken_with_the_turn_that_they_belong_to),
        TEST(several_turns_are_summed_up),
        TEST(more_notes_than_there_is_room_for_become_many),
        TEST(two_threads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
