/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAMPEDE_DEBUG
#define STAMPEDE_DEBUG /* thread_owner_check is a check only then */
#endif
#include "base/thread.h"

#include "base/clock.h"

#include "unit.h"

#include <poll.h>
#include <sched.h>

enum { SIGNALS = 20000 };

static void copy_name(void *context)
{
    pthread_getname_np(pthread_self(), context, 16);
}

static void a_thread_runs_with_its_name_cut_to_fifteen_characters(void **state)
{
    (void)state;
    struct thread thread;
    char name[16] = "";
    assert_int_equal(thread_start(&thread, "inventory", copy_name, name), STATUS_OK);
    thread_join(&thread);
    assert_string_equal(name, "inventory");
    assert_int_equal(thread_start(&thread, "0123456789abcdef", copy_name, name), STATUS_OK);
    thread_join(&thread);
    assert_string_equal(name, "0123456789abcde");
}

static void joining_twice_or_a_thread_never_started_is_harmless(void **state)
{
    (void)state;
    struct thread thread = { 0 };
    char name[16];
    thread_join(&thread);
    assert_int_equal(thread_start(&thread, "x", copy_name, name), STATUS_OK);
    thread_join(&thread);
    thread_join(&thread);
}

static void copy_self(void *context)
{
    *(uint64_t *)context = thread_self();
}

static void every_thread_has_an_id_of_its_own_that_stays(void **state)
{
    (void)state;
    struct thread thread;
    uint64_t first = 0, second = 0;
    assert_int_equal(thread_start(&thread, "x", copy_self, &first), STATUS_OK);
    thread_join(&thread);
    assert_int_equal(thread_start(&thread, "x", copy_self, &second), STATUS_OK);
    thread_join(&thread);
    assert_true(thread_self() != 0 && first != 0 && second != 0);
    assert_true(first != second && first != thread_self() && second != thread_self());
    assert_true(thread_self() == thread_self());
}

static struct thread_owner owner;
static void check_owner(void)
{
    thread_owner_check(owner);
}

static void a_structure_is_for_its_owner_or_for_anyone_before_it_has_one(void **state)
{
    (void)state;
    owner.id = 0;
    assert_false(unit_stops(check_owner));
    thread_owner_take(&owner);
    assert_false(unit_stops(check_owner));
    owner.id++;
    assert_true(unit_stops(check_owner));
}

static bool is_readable(const struct wake *wake)
{
    struct pollfd waiting = { .fd = wake->fd, .events = POLLIN };
    return poll(&waiting, 1, 0) == 1;
}

static void signals_fold_into_one_and_only_the_first_costs_a_write(void **state)
{
    (void)state;
    struct wake wake;
    uint64_t count = 0;
    assert_int_equal(wake_open(&wake), STATUS_OK);
    assert_false(is_readable(&wake));
    for (int i = 0; i < 5; i++)
        wake_signal(&wake);
    assert_true(is_readable(&wake));
    assert_int_equal(read(wake.fd, &count, sizeof count), sizeof count);
    assert_int_equal(count, 1); /* each write would have added one */
    wake_clear(&wake);
    wake_close(&wake);
}

static void a_cleared_wake_is_quiet_and_can_be_signalled_again(void **state)
{
    (void)state;
    struct wake wake;
    assert_int_equal(wake_open(&wake), STATUS_OK);
    wake_clear(&wake); /* nothing there: must not block */
    for (int i = 0; i < 3; i++) {
        wake_signal(&wake);
        assert_true(is_readable(&wake));
        wake_clear(&wake);
        assert_false(is_readable(&wake));
    }
    wake_close(&wake);
    wake_close(&wake);
}

static void waiting_ends_at_the_signal_or_at_the_timeout(void **state)
{
    (void)state;
    struct wake wake;
    assert_int_equal(wake_open(&wake), STATUS_OK);
    uint64_t start_ns = clock_monotonic_ns();
    wake_wait(&wake, 20);
    assert_true(clock_monotonic_ns() - start_ns >= 19000000u);
    wake_signal(&wake);
    start_ns = clock_monotonic_ns();
    wake_wait(&wake, UINT32_MAX);
    assert_true(clock_monotonic_ns() - start_ns < 10000000000u);
    assert_false(is_readable(&wake));
    wake_close(&wake);
}

/* The queue is a plain number per signaller, published before the signal as a ring is. */
struct crossing {
    struct wake wake;
    _Atomic uint64_t made[2];
    _Atomic uint32_t next;
};

static void signal_many(void *context)
{
    struct crossing *crossing = context;
    uint32_t me = atomic_fetch_add(&crossing->next, 1);
    for (uint64_t i = 1; i <= SIGNALS; i++) {
        atomic_store_explicit(&crossing->made[me], i, memory_order_release);
        wake_signal(&crossing->wake);
        if (i % 64 == 0)
            sched_yield(); /* let the waiter fall asleep now and then */
    }
}

/* A lost wake-up shows as a wait that only its timeout ends. */
static void no_wake_up_is_lost_between_two_signallers_and_a_waiter(void **state)
{
    (void)state;
    struct crossing crossing = { 0 };
    struct thread threads[2];
    assert_int_equal(wake_open(&crossing.wake), STATUS_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(thread_start(&threads[i], "signaller", signal_many, &crossing), STATUS_OK);
    uint64_t longest_ns = 0;
    while (atomic_load_explicit(&crossing.made[0], memory_order_acquire) < SIGNALS
        || atomic_load_explicit(&crossing.made[1], memory_order_acquire) < SIGNALS) {
        uint64_t start_ns = clock_monotonic_ns();
        wake_wait(&crossing.wake, 30000);
        uint64_t took_ns = clock_monotonic_ns() - start_ns;
        longest_ns = took_ns > longest_ns ? took_ns : longest_ns;
    }
    for (int i = 0; i < 2; i++)
        thread_join(&threads[i]);
    assert_true(longest_ns < 29000000000u);
    wake_close(&crossing.wake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_runs_with_its_name_cut_to_fifteen_characters),
        cmocka_unit_test(joining_twice_or_a_thread_never_started_is_harmless),
        cmocka_unit_test(every_thread_has_an_id_of_its_own_that_stays),
        cmocka_unit_test(a_structure_is_for_its_owner_or_for_anyone_before_it_has_one),
        cmocka_unit_test(signals_fold_into_one_and_only_the_first_costs_a_write),
        cmocka_unit_test(a_cleared_wake_is_quiet_and_can_be_signalled_again),
        cmocka_unit_test(waiting_ends_at_the_signal_or_at_the_timeout),
        cmocka_unit_test(no_wake_up_is_lost_between_two_signallers_and_a_waiter),
    };
    return cmocka_run_group_tests_name("base/thread", tests, NULL, NULL);
}
