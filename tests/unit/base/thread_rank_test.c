/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include "unit.h"

#include <sys/resource.h>
#include <unistd.h>

static int nice_of_this_thread(void)
{
    return getpriority(PRIO_PROCESS, (id_t)gettid());
}

struct ranked {
    enum thread_rank rank;
    int nice;
};

static void rank_take(void *context)
{
    struct ranked *ranked = context;
    thread_rank_set(ranked->rank);
    ranked->nice = nice_of_this_thread();
}

static int nice_of(enum thread_rank rank)
{
    struct thread thread;
    struct ranked ranked = { .rank = rank };
    assert_int_equal(thread_start(&thread, "x", rank_take, &ranked), STATUS_OK);
    thread_join(&thread);
    return ranked.nice;
}

static void threads_give_way_by_their_rank_and_no_other_thread_does(void **state)
{
    (void)state;
    const int given = nice_of_this_thread();
    assert_int_equal(nice_of(THREAD_BACKGROUND), given > 10 ? given : 10);
    assert_int_equal(nice_of(THREAD_LAST), 19);
    assert_int_equal(nice_of_this_thread(), given);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_give_way_by_their_rank_and_no_other_thread_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
