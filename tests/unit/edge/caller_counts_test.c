/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/caller_counts.h"

#include "tests/unit/base/unit.h"

#include <pthread.h>
#include <stdatomic.h>

static struct address numbered(uint32_t number)
{
    return address_from_v4(
        (const uint8_t[4]){ 10, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number });
}

static struct caller_counts *made(uint32_t callers, uint32_t cap)
{
    struct caller_counts *counts;
    const struct hash_key key = { 3, 4 };
    assert_int_equal(caller_counts_create(&counts, callers, cap, ADDRESS_GROUP_BITS, key), STATUS_OK);
    return counts;
}

static void the_cap_is_for_each_address_and_leaving_makes_room(void **state)
{
    struct caller_counts *counts = made(1024, 3);
    const struct address a = numbered(1), b = numbered(2);
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(caller_enter(counts, &a), CALLER_COUNTED);
    assert_int_equal(caller_enter(counts, &a), CALLER_TOO_MANY);
    assert_int_equal(caller_enter(counts, &b), CALLER_COUNTED);
    caller_leave(counts, &a, CALLER_COUNTED);
    assert_int_equal(caller_enter(counts, &a), CALLER_COUNTED);
    assert_int_equal(caller_enter(counts, &a), CALLER_TOO_MANY);
    caller_counts_free(counts);
}

static void those_without_a_place_are_let_in_uncounted(void **state)
{
    struct caller_counts *counts = made(2, 1); /* one line of eight */
    uint32_t counted = 0, uncounted = 0;
    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        const struct address caller = numbered(i);
        const enum caller_answer answer = caller_enter(counts, &caller);
        counted += answer == CALLER_COUNTED;
        uncounted += answer == CALLER_UNCOUNTED;
    }
    assert_int_equal(counted, 8);
    assert_int_equal(uncounted, 992);
    const struct address first = numbered(0), last = numbered(999);
    assert_int_equal(caller_enter(counts, &first), CALLER_TOO_MANY); /* who has a place is counted still */
    caller_leave(counts, &last, CALLER_UNCOUNTED);
    caller_leave(counts, &first, CALLER_COUNTED); /* its place is free for anybody */
    assert_int_equal(caller_enter(counts, &last), CALLER_COUNTED);
    caller_counts_free(counts);
}

static void as_many_addresses_as_connections_find_a_place_each(void **state)
{
    enum { CONNECTIONS = 16384 };
    struct caller_counts *counts = made(CONNECTIONS, 1);
    uint32_t refused = 0, uncounted = 0;
    (void)state;
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        const struct address caller = numbered(i);
        const enum caller_answer answer = caller_enter(counts, &caller);
        refused += answer == CALLER_TOO_MANY;
        uncounted += answer == CALLER_UNCOUNTED;
    }
    assert_int_equal(refused, 0);
    assert_true(uncounted < CONNECTIONS / 1000);
    caller_counts_free(counts);
}

enum { THREADS = 4, ROUNDS = 20000, CAP = 5 };
static _Atomic uint32_t inside[4];

static void *caller_thread(void *context)
{
    struct caller_counts *counts = context;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        const struct address caller = numbered(i % 4);
        enum caller_answer answers[3];
        for (int j = 0; j < 3; j++) {
            answers[j] = caller_enter(counts, &caller);
            if (answers[j] != CALLER_TOO_MANY)
                invariant(atomic_fetch_add(&inside[i % 4], 1) < CAP);
        }
        for (int j = 0; j < 3; j++) {
            if (answers[j] == CALLER_TOO_MANY)
                continue;
            atomic_fetch_sub(&inside[i % 4], 1);
            caller_leave(counts, &caller, answers[j]);
        }
    }
    return NULL;
}

static void threads_never_get_more_than_the_cap_and_leave_nothing_behind(void **state)
{
    struct caller_counts *counts = made(1024, CAP);
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, caller_thread, counts), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < 4; i++) {
        const struct address caller = numbered(i);
        for (int j = 0; j < CAP; j++)
            assert_int_equal(caller_enter(counts, &caller), CALLER_COUNTED);
        assert_int_equal(caller_enter(counts, &caller), CALLER_TOO_MANY);
    }
    caller_counts_free(counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cap_is_for_each_address_and_leaving_makes_room),
        cmocka_unit_test(those_without_a_place_are_let_in_uncounted),
        cmocka_unit_test(as_many_addresses_as_connections_find_a_place_each),
        cmocka_unit_test(threads_never_get_more_than_the_cap_and_leave_nothing_behind),
    };
    return cmocka_run_group_tests_name("edge/caller_counts", tests, NULL, NULL);
}
