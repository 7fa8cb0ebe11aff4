/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ring.h"

#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { SLOTS = 8, CROSSING = 200000 };

struct slot {
    uint64_t number, twice, filler;
}; /* 24 bytes: not a power of two */

static struct arena arena;
static struct ring ring;

static int ring_setup(void **state)
{
    (void)state;
    if (arena_open(&arena, 65536) != STATUS_OK)
        return -1;
    ring_create(&ring, &arena, SLOTS, sizeof(struct slot));
    return 0;
}

static int ring_teardown(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static bool push(uint64_t number)
{
    return ring_push(&ring, &(struct slot){ .number = number, .twice = number * 2 });
}

static void pop(uint64_t expected)
{
    struct slot *slot = ring_peek(&ring);
    assert_true(slot != NULL && slot->number == expected && slot->twice == expected * 2);
    ring_pop(&ring);
}

static void slots_come_out_in_order_round_after_round(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SLOTS * 5; i++) {
        assert_true(push(2 * i));
        assert_true(push(2 * i + 1));
        assert_int_equal(ring_used(&ring), 2);
        pop(2 * i);
        pop(2 * i + 1);
        assert_null(ring_peek(&ring));
        ring_release(&ring);
        assert_int_equal(ring_used(&ring), 0);
    }
}

static void a_full_ring_refuses_and_changes_nothing(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SLOTS; i++)
        assert_true(push(i));
    assert_false(push(99));
    assert_null(ring_reserve(&ring));
    assert_false(ring_publish(&ring));
    assert_int_equal(ring_used(&ring), SLOTS);
    for (uint64_t i = 0; i < SLOTS; i++)
        pop(i);
    assert_null(ring_peek(&ring));
}

static void a_popped_slot_is_not_reused_before_release(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SLOTS; i++)
        assert_true(push(i));
    struct slot *kept = ring_peek(&ring);
    pop(0);
    pop(1);
    assert_false(push(99));
    assert_true(kept != NULL && kept->number == 0);
    ring_release(&ring);
    assert_true(push(8));
    assert_true(push(9));
    assert_false(push(99));
    for (uint64_t i = 2; i < 10; i++)
        pop(i);
}

static void committed_slots_are_seen_together_at_publish_and_not_before(void **state)
{
    (void)state;
    assert_false(ring_publish(&ring));
    for (uint64_t i = 0; i < 3; i++) {
        struct slot *slot = ring_reserve(&ring);
        assert_non_null(slot);
        assert_ptr_equal(ring_reserve(&ring), slot); /* not committed, so the same again */
        *slot = (struct slot){ .number = i, .twice = i * 2 };
        ring_commit(&ring);
        assert_null(ring_peek(&ring));
        assert_int_equal(ring_used(&ring), 0);
    }
    assert_true(ring_publish(&ring));
    assert_false(ring_publish(&ring));
    for (uint64_t i = 0; i < 3; i++)
        pop(i);
    assert_null(ring_peek(&ring));
}

static void a_batch_may_be_as_big_as_the_ring_and_no_bigger(void **state)
{
    (void)state;
    for (int i = 0; i < SLOTS; i++) {
        assert_non_null(ring_reserve(&ring));
        ring_commit(&ring);
    }
    assert_null(ring_reserve(&ring));
    assert_true(ring_publish(&ring));
    assert_int_equal(ring_used(&ring), SLOTS);
}

static void commit_without_room(void)
{
    for (int i = 0; i <= SLOTS; i++)
        ring_commit(&ring);
}
static void pop_from_empty(void)
{
    ring_pop(&ring);
}
static void create_with_odd_count(void)
{
    ring_create(&ring, &arena, 6, 8);
}
static void create_with_no_slots(void)
{
    ring_create(&ring, &arena, 0, 8);
}
static void create_with_no_bytes(void)
{
    ring_create(&ring, &arena, 8, 0);
}

static void misuse_stops_the_program(void **state)
{
    (void)state;
    assert_true(unit_stops(commit_without_room));
    assert_true(unit_stops(pop_from_empty));
    assert_true(unit_stops(create_with_odd_count));
    assert_true(unit_stops(create_with_no_slots));
    assert_true(unit_stops(create_with_no_bytes));
}

/* Batches of changing size, so that publish and full meet in every position. */
static void *produce(void *unused)
{
    (void)unused;
    for (uint64_t i = 0; i < CROSSING;) {
        struct slot *slot = ring_reserve(&ring);
        if (slot == NULL) {
            ring_publish(&ring);
            sched_yield();
            continue;
        }
        *slot = (struct slot){ .number = i, .twice = i * 2, .filler = ~i };
        ring_commit(&ring);
        if (++i % 5 == 0 || i % 7 == 0)
            ring_publish(&ring);
    }
    ring_publish(&ring);
    return NULL;
}

static void two_threads_lose_double_and_tear_nothing(void **state)
{
    (void)state;
    pthread_t producer;
    uint64_t wrong = 0;
    assert_int_equal(pthread_create(&producer, NULL, produce, NULL), 0);
    for (uint64_t i = 0; i < CROSSING;) {
        struct slot *slot = ring_peek(&ring);
        if (slot == NULL) {
            ring_release(&ring);
            sched_yield();
            continue;
        }
        wrong += slot->number != i || slot->twice != i * 2 || slot->filler != ~i;
        memset(slot, 0xee, sizeof *slot); /* ours until released */
        ring_pop(&ring);
        if (++i % 3 == 0)
            ring_release(&ring);
        wrong += ring_used(&ring) > SLOTS;
    }
    assert_int_equal(pthread_join(producer, NULL), 0);
    assert_int_equal(wrong, 0);
    assert_null(ring_peek(&ring));
}

static void assert_ahead(uint32_t ahead, uint64_t number)
{
    const struct slot *slot = ring_peek_ahead(&ring, ahead);
    assert_non_null(slot);
    if (slot != NULL)
        assert_int_equal(slot->number, number);
}

static void a_slot_ahead_is_seen_once_it_was_published_and_looked_at(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SLOTS - 2; i++) { /* the next ones go round the end */
        assert_true(push(i));
        pop(i);
    }
    ring_release(&ring);
    for (uint64_t i = 0; i < 4; i++)
        assert_true(push(i));
    assert_null(ring_peek_ahead(&ring, 0)); /* nobody has looked yet */
    assert_non_null(ring_peek(&ring));
    for (uint32_t i = 0; i < 4; i++)
        assert_ahead(i, i);
    assert_null(ring_peek_ahead(&ring, 4));
    pop(0);
    assert_ahead(2, 3);
    assert_null(ring_peek_ahead(&ring, 3));
}

#define RING_TEST(test) cmocka_unit_test_setup_teardown(test, ring_setup, ring_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RING_TEST(a_slot_ahead_is_seen_once_it_was_published_and_looked_at),
        RING_TEST(slots_come_out_in_order_round_after_round),
        RING_TEST(a_full_ring_refuses_and_changes_nothing),
        RING_TEST(a_popped_slot_is_not_reused_before_release),
        RING_TEST(committed_slots_are_seen_together_at_publish_and_not_before),
        RING_TEST(a_batch_may_be_as_big_as_the_ring_and_no_bigger),
        RING_TEST(misuse_stops_the_program),
        RING_TEST(two_threads_lose_double_and_tear_nothing),
    };
    return cmocka_run_group_tests_name("base/ring", tests, NULL, NULL);
}
