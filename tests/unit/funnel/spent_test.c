/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/spent.h"

#include "base/random.h"
#include "base/thread.h"
#include "tests/unit/base/unit.h"

#include <stdlib.h>

enum { NOW_S = 1700000000, LIFE_S = 120, SMALL = 4, THREADS = 8, MARKS = 20000, ROUNDS = 2 };

static struct arena arena;
static struct spent *spent;

static void set_open(uint32_t marks_max)
{
    assert_int_equal(arena_open(&arena, spent_bytes(marks_max)), STATUS_OK);
    spent = spent_create(&arena, marks_max);
}

static void a_mark_is_fresh_once(void **state)
{
    (void)state;
    set_open(1000);
    assert_false(spent_seen(spent, 77));
    assert_int_equal(spent_take(spent, 77, NOW_S + LIFE_S, NOW_S), SPENT_FRESH);
    assert_true(spent_seen(spent, 77));
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(spent_take(spent, 77, NOW_S + LIFE_S, NOW_S + i), SPENT_AGAIN);
    assert_int_equal(spent_take(spent, 0, NOW_S + LIFE_S, NOW_S), SPENT_FRESH);
    assert_int_equal(spent_take(spent, 0, NOW_S + LIFE_S, NOW_S), SPENT_AGAIN);
    assert_int_equal(spent_take(spent, UINT64_MAX, NOW_S + LIFE_S, NOW_S), SPENT_FRESH);
    arena_close(&arena);
}

static void in_a_full_neighbourhood_what_expires_first_is_forgotten(void **state)
{
    (void)state;
    set_open(SMALL); /* one bucket */
    for (uint64_t i = 0; i < SPENT_NEIGHBOURS; i++)
        assert_int_equal(
            spent_take(spent, i << 32, NOW_S + LIFE_S - (i == 5 ? 2 * SPENT_UNIT_S : 0), NOW_S),
            SPENT_FRESH);
    assert_int_equal(spent_forgotten(spent), 0);
    assert_int_equal(spent_take(spent, UINT64_C(99) << 32, NOW_S + LIFE_S, NOW_S), SPENT_FRESH);
    assert_int_equal(spent_take(spent, UINT64_C(99) << 32, NOW_S + LIFE_S, NOW_S), SPENT_AGAIN);
    assert_int_equal(spent_forgotten(spent), 1);
    for (uint64_t i = 0; i < SPENT_NEIGHBOURS; i++)
        assert_int_equal(spent_seen(spent, i << 32), i != 5);
    arena_close(&arena);
}

/* More than the set is made for: nobody is refused, and hardly anything is forgotten before twice as many. */
static void a_crowd_is_never_refused_and_is_seen_coming(void **state)
{
    (void)state;
    struct random random;
    uint32_t refused = 0;
    set_open(MARKS);
    random_seed(&random, 7);
    for (uint32_t i = 0; i < 4 * MARKS; i++) {
        if (i == MARKS / 4)
            assert_int_equal(spent_crowded(spent), 0);
        if (i == MARKS)
            assert_int_equal(spent_forgotten(spent), 0);
        refused += spent_take(spent, random_next(&random), NOW_S + LIFE_S, NOW_S) != SPENT_FRESH;
        if (spent_forgotten(spent) > 0)
            assert_true(spent_crowded(spent) > 0); /* it was told before */
    }
    assert_int_equal(refused, 0);
    assert_true(spent_forgotten(spent) > 0);
    arena_close(&arena);
}

static void expired_places_are_used_again_but_not_before_the_margin(void **state)
{
    (void)state;
    set_open(SMALL);
    for (uint64_t i = 0; i < SPENT_NEIGHBOURS; i++)
        assert_int_equal(spent_take(spent, i << 32, NOW_S + LIFE_S, NOW_S), SPENT_FRESH);
    const uint64_t late = UINT64_C(99) << 32;
    const uint32_t expired = NOW_S + LIFE_S;
    assert_int_equal(spent_take(spent, late, expired + LIFE_S, expired), SPENT_FRESH);
    assert_int_equal(spent_forgotten(spent), 1);
    assert_int_equal(
        spent_take(spent, UINT64_C(98) << 32, expired + LIFE_S, expired + SPENT_MARGIN_S - 1),
        SPENT_FRESH);
    assert_int_equal(spent_forgotten(spent), 2);
    assert_int_equal(spent_take(spent, UINT64_C(97) << 32, expired + LIFE_S,
                         expired + SPENT_MARGIN_S + SPENT_UNIT_S),
        SPENT_FRESH);
    assert_int_equal(spent_forgotten(spent), 2);
    arena_close(&arena);
}

static void what_is_given_back_is_fresh_again(void **state)
{
    (void)state;
    set_open(1000);
    spent_give_back(spent, 5); /* never taken: nothing happens */
    assert_int_equal(spent_take(spent, 5, NOW_S + LIFE_S, NOW_S), SPENT_FRESH);
    spent_give_back(spent, 5);
    assert_int_equal(spent_take(spent, 5, NOW_S + LIFE_S, NOW_S), SPENT_FRESH);
    assert_int_equal(spent_take(spent, 5, NOW_S + LIFE_S, NOW_S), SPENT_AGAIN);
    arena_close(&arena);
}

static void a_sweep_empties_what_has_expired_and_counts_the_rest(void **state)
{
    (void)state;
    set_open(SMALL);
    assert_int_equal(spent_take(spent, UINT64_C(1) << 32, NOW_S + 10, NOW_S), SPENT_FRESH);
    assert_int_equal(spent_take(spent, UINT64_C(2) << 32, NOW_S + 1000, NOW_S), SPENT_FRESH);
    assert_int_equal(spent_sweep(spent, 1000, NOW_S), 2);
    assert_int_equal(spent_sweep(spent, 1000, NOW_S + 100), 1);
    assert_false(spent_seen(spent, UINT64_C(1) << 32));
    assert_true(spent_seen(spent, UINT64_C(2) << 32));
    assert_int_equal(spent_sweep(spent, 1000, NOW_S + 2000), 0);
    arena_close(&arena);
}

/* ---- many threads, the same marks ---- */

static uint64_t marks[MARKS];
static _Atomic uint32_t fresh[MARKS];
static _Atomic uint32_t full;
static _Atomic uint32_t waiting;

static void taker(void *context)
{
    const uint32_t start = (uint32_t)(uintptr_t)context;
    atomic_fetch_add(&waiting, 1);
    while (atomic_load(&waiting) < THREADS) {
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < MARKS; i++) {
            const uint32_t at = round == 0 ? i : (i + start * 97) % MARKS;
            /* Clocks that differ: places that some think expired and others don't. */
            const uint32_t now_s = NOW_S + start % SPENT_MARGIN_S;
            switch (spent_take(spent, marks[at], NOW_S + LIFE_S, now_s)) {
            case SPENT_FRESH:
                atomic_fetch_add(&fresh[at], 1);
                break;
            case SPENT_FULL:
                atomic_fetch_add(&full, 1);
                break;
            case SPENT_AGAIN:
                break;
            }
        }
    }
}

static void of_many_threads_exactly_one_gets_each_mark(void **state)
{
    (void)state;
    struct thread threads[THREADS] = { { .started = false } };
    struct random random;
    set_open(MARKS);
    random_seed(&random, 42);
    for (uint32_t i = 0; i < MARKS; i++) {
        marks[i] = random_next(&random);
        fresh[i] = 0;
    }
    /* Old marks that are about to expire, so that places change hands under the takers. */
    for (uint32_t i = 0; i < 2 * MARKS; i++)
        assert_int_not_equal(
            spent_take(spent, random_next(&random), NOW_S - SPENT_MARGIN_S + i % 8, NOW_S - 60),
            SPENT_AGAIN);
    waiting = 0;
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(thread_start(&threads[i], "taker", taker, (void *)(uintptr_t)i), STATUS_OK);
    for (uint32_t i = 0; i < THREADS; i++)
        thread_join(&threads[i]);
    uint32_t never = 0;
    for (uint32_t i = 0; i < MARKS; i++) {
        if (fresh[i] > 1)
            fail_msg("mark %u was fresh %u times", i, fresh[i]);
        never += fresh[i] == 0;
    }
    assert_true(never == 0 || full > 0); /* only a full neighbourhood leaves a mark out */
    assert_true(never < MARKS / 100);
    arena_close(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_is_fresh_once),
        cmocka_unit_test(in_a_full_neighbourhood_what_expires_first_is_forgotten),
        cmocka_unit_test(a_crowd_is_never_refused_and_is_seen_coming),
        cmocka_unit_test(expired_places_are_used_again_but_not_before_the_margin),
        cmocka_unit_test(what_is_given_back_is_fresh_again),
        cmocka_unit_test(a_sweep_empties_what_has_expired_and_counts_the_rest),
        cmocka_unit_test(of_many_threads_exactly_one_gets_each_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
