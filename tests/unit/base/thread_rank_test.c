/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include "base/clock.h"

#include "unit.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of sched_getattr(2). */
struct kernel_attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t turn_ns, deadline_ns, period_ns;
};

static int nice_of_this_thread(void)
{
    return getpriority(PRIO_PROCESS, (id_t)gettid());
}

struct ranked {
    enum thread_rank rank;
    int nice;
    uint64_t turn_ns;
};

static uint64_t turn_of_this_thread(void)
{
    struct kernel_attributes attributes = { .size = sizeof attributes };
    assert_int_equal(syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0), 0);
    return attributes.turn_ns;
}

static void rank_take(void *context)
{
    struct ranked *ranked = context;
    thread_rank_set(ranked->rank);
    ranked->nice = nice_of_this_thread();
    ranked->turn_ns = turn_of_this_thread();
}

static struct ranked ranked_as(enum thread_rank rank)
{
    struct thread thread;
    struct ranked ranked = { .rank = rank };
    assert_int_equal(thread_start(&thread, "x", rank_take, &ranked), STATUS_OK);
    thread_join(&thread);
    return ranked;
}

static void threads_give_way_by_their_rank_and_no_other_thread_does(void **state)
{
    (void)state;
    const int given = nice_of_this_thread();
    assert_int_equal(ranked_as(THREAD_SHOWS).nice, given > 10 ? given : 10);
    assert_int_equal(ranked_as(THREAD_BACKGROUND).nice, given > 10 ? given : 10);
    assert_int_equal(ranked_as(THREAD_LAST).nice, 19);
    assert_int_equal(nice_of_this_thread(), given);
}

/* A thread that sells runs at once when it wakes up in the middle of a longer turn; it waits for the end of
 * an equal one. Kernels before Linux 6.12 tell no turns. */
static void threads_in_the_background_have_longer_turns(void **state)
{
    (void)state;
    const uint64_t sells_ns = turn_of_this_thread();
    if (sells_ns == 0)
        skip();
    assert_int_equal(ranked_as(THREAD_SHOWS).turn_ns, sells_ns);
    assert_true(ranked_as(THREAD_BACKGROUND).turn_ns > sells_ns);
    assert_true(ranked_as(THREAD_LAST).turn_ns > ranked_as(THREAD_BACKGROUND).turn_ns);
    assert_int_equal(turn_of_this_thread(), sells_ns);
}

struct paused {
    bool ranked, hurries;
    long pauses;
};

/* Computes for a while, and gives way all the time. */
static void compute(void *context)
{
    struct paused *paused = context;
    struct rusage before, after;
    if (paused->ranked)
        thread_rank_set(THREAD_BACKGROUND);
    thread_hurry(paused->hurries);
    getrusage(RUSAGE_THREAD, &before);
    const uint64_t end_ns = clock_monotonic_ns() + 50 * 1000 * 1000;
    while (clock_monotonic_ns() < end_ns)
        thread_give_way();
    getrusage(RUSAGE_THREAD, &after);
    paused->pauses = after.ru_nvcsw - before.ru_nvcsw; /* it went to sleep by itself */
}

static long pauses_of(bool ranked, bool hurries)
{
    struct thread thread;
    struct paused paused = { .ranked = ranked, .hurries = hurries };
    assert_int_equal(thread_start(&thread, "x", compute, &paused), STATUS_OK);
    thread_join(&thread);
    return paused.pauses;
}

static void who_has_a_rank_pauses_while_it_computes_unless_it_hurries(void **state)
{
    (void)state;
    assert_int_equal(pauses_of(false, false), 0);
    assert_int_equal(pauses_of(true, true), 0);
    assert_true(pauses_of(true, false) > 0); /* some 200, fewer on a busy machine */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_give_way_by_their_rank_and_no_other_thread_does),
        cmocka_unit_test(threads_in_the_background_have_longer_turns),
        cmocka_unit_test(who_has_a_rank_pauses_while_it_computes_unless_it_hurries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
