/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handover.h"

#include "tests/unit/base/unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { READERS = 2, VALUES = 2000 };

struct value {
    uint64_t number, twice; /* twice = 2 * number while it lives */
};

static struct handover handover;
static struct reader_turns turns;
static _Atomic uint32_t freed;
static _Atomic bool stop;

static void value_free(void *pointer)
{
    struct value *value = pointer;
    if (value == NULL)
        return;
    value->twice = 1; /* a reader that still looks will see it, and ASan and TSan too */
    free(value);
    atomic_fetch_add(&freed, 1);
}

static struct value *value_make(uint64_t number)
{
    struct value *value = malloc(sizeof *value);
    assert_non_null(value);
    *value = (struct value){ number, 2 * number };
    return value;
}

static int fresh(void **state)
{
    (void)state;
    turns = (struct reader_turns){ .readers = READERS };
    atomic_store(&freed, 0);
    atomic_store(&stop, false);
    handover_create(&handover, value_make(0), value_free);
    return 0;
}

static int closed(void **state)
{
    (void)state;
    handover_close(&handover);
    return 0;
}

static uint64_t shown(void)
{
    const struct value *value = handover_get(&handover);
    return value->number;
}

static void readers_get_the_newest_value(void **state)
{
    (void)state;
    assert_int_equal(shown(), 0);
    handover_put(&handover, &turns, value_make(1));
    assert_int_equal(shown(), 1);
}

static void an_old_value_lives_until_every_reader_has_done_a_turn_since(void **state)
{
    (void)state;
    handover_put(&handover, &turns, value_make(1));
    handover_collect(&handover, &turns);
    assert_int_equal(freed, 0);
    reader_turn_done(&turns, 0);
    reader_turn_done(&turns, 0);
    handover_collect(&handover, &turns);
    assert_int_equal(freed, 0); /* the other reader may still look */
    reader_turn_done(&turns, 1);
    handover_collect(&handover, &turns);
    assert_int_equal(freed, 1);
    handover_collect(&handover, &turns);
    assert_int_equal(freed, 1);
}

static void each_old_value_waits_for_the_turns_since_it_was_replaced(void **state)
{
    (void)state;
    handover_put(&handover, &turns, value_make(1));
    for (uint32_t reader = 0; reader < READERS; reader++)
        reader_turn_done(&turns, reader);
    handover_put(&handover, &turns, value_make(2)); /* frees the first, keeps the second */
    assert_int_equal(freed, 1);
    handover_collect(&handover, &turns);
    assert_int_equal(freed, 1);
    for (uint32_t reader = 0; reader < READERS; reader++)
        reader_turn_done(&turns, reader);
    handover_collect(&handover, &turns);
    assert_int_equal(freed, 2);
}

static void who_has_left_is_not_waited_for(void **state)
{
    (void)state;
    reader_turn_done(&turns, 0);
    reader_left(&turns, 0);
    reader_left(&turns, 1);
    for (uint64_t number = 1; number <= 3 * HANDOVER_OLD_MAX; number++)
        handover_put(&handover, &turns, value_make(number)); /* would wait for ever */
    handover_collect(&handover, &turns);
    assert_int_equal(atomic_load(&freed), 3 * HANDOVER_OLD_MAX);
}

static void the_first_value_may_be_missing(void **state)
{
    (void)state;
    struct handover empty;
    handover_create(&empty, NULL, value_free);
    assert_null(handover_get(&empty));
    handover_put(&empty, &turns, value_make(7));
    assert_int_equal(empty.old_count, 0);
    handover_close(&empty);
    assert_int_equal(freed, 1);
}

static void closing_frees_what_is_left(void **state)
{
    (void)state;
    struct handover left;
    handover_create(&left, value_make(0), value_free);
    for (uint64_t number = 1; number <= HANDOVER_OLD_MAX; number++)
        handover_put(&left, &turns, value_make(number));
    assert_int_equal(freed, 0);
    handover_close(&left);
    assert_int_equal(freed, HANDOVER_OLD_MAX + 1);
    assert_null(handover_get(&left));
}

/* As an edge does it: a turn begins by counting the one before; what was loaded is used until
 * the next. */
static void *read_on(void *context)
{
    const uint32_t reader = *(const uint32_t *)context;
    uint64_t last = 0;
    uintptr_t wrong = 0;
    while (!atomic_load(&stop)) {
        reader_turn_done(&turns, reader);
        const struct value *value = handover_get(&handover);
        for (int look = 0; look < 4; look++) {
            wrong += value->twice != 2 * value->number || value->number < last;
            last = value->number;
            if (look == 2)
                sched_yield();
        }
    }
    return (void *)wrong;
}

static void readers_never_see_a_value_that_was_freed(void **state)
{
    (void)state;
    pthread_t readers[READERS];
    uint32_t numbers[READERS];
    for (uint32_t i = 0; i < READERS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&readers[i], NULL, read_on, &numbers[i]), 0);
    }
    for (uint64_t number = 1; number <= VALUES; number++)
        handover_put(&handover, &turns, value_make(number)); /* waits when all places are taken */
    atomic_store(&stop, true);
    for (uint32_t i = 0; i < READERS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(readers[i], &wrong), 0);
        assert_null(wrong);
    }
    assert_true(freed >= VALUES - HANDOVER_OLD_MAX);
    assert_int_equal(shown(), VALUES);
}

#define HANDOVER_TEST(test) cmocka_unit_test_setup_teardown(test, fresh, closed)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HANDOVER_TEST(readers_get_the_newest_value),
        HANDOVER_TEST(an_old_value_lives_until_every_reader_has_done_a_turn_since),
        HANDOVER_TEST(each_old_value_waits_for_the_turns_since_it_was_replaced),
        HANDOVER_TEST(who_has_left_is_not_waited_for),
        HANDOVER_TEST(the_first_value_may_be_missing),
        HANDOVER_TEST(closing_frees_what_is_left),
        HANDOVER_TEST(readers_never_see_a_value_that_was_freed),
    };
    return cmocka_run_group_tests_name("api/handover", tests, NULL, NULL);
}
