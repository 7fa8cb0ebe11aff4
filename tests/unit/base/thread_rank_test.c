/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_give_way_by_their_rank_and_no_other_thread_does),
        cmocka_unit_test(threads_in_the_background_have_longer_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
