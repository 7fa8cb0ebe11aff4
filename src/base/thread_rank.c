/* SPDX-License-Identifier: Apache-2.0 */
/* base/thread_rank.c: which threads let others run first (base/thread.h).
 *
 * A nice value says how much of a core a thread gets, not when. Since Linux 6.12 a thread that runs keeps
 * the core until its turn is over, 1 to 3 ms, even if one with a better nice value wakes up; unless that one
 * asks for shorter turns. So threads in the background ask for longer turns (sched_setattr), and those that
 * sell don't wait for them: docs/performance.md#views-beside-operators. An older kernel has no such rule, and
 * ignores the wish.
 *
 * A turn is not cut short, though, while the thread that runs has had less of the core than its share: then
 * whoever wakes up waits until the next tick, up to 4 ms. So those in the background also sleep for a moment
 * by themselves (thread_give_way). */
#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"

#include <assert.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local struct {
    bool hurries;
    uint64_t burst_ns; /* it computes so long without a pause; 0: as long as it likes */
    uint64_t since_ns; /* its last pause */
} pace;

/* Of sched_setattr(2), which the C library does not have. */
struct kernel_attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t turn_ns, deadline_ns, period_ns;
};
static_assert(sizeof(struct kernel_attributes) == 48, "as the kernel has it");

void thread_rank_set(enum thread_rank rank)
{
    static const struct {
        int nice;         /* at least */
        uint64_t turn_ns; /* 0: the kernel's own */
        uint64_t burst_ns;
    } ranks[] = {
        [THREAD_SHOWS] = { 10, 0, 0 },
        [THREAD_BACKGROUND] = { 10, 10 * 1000 * 1000, 200 * 1000 },
        [THREAD_LAST] = { 19, 20 * 1000 * 1000, 50 * 1000 },
    };
    const int given = getpriority(PRIO_PROCESS, (id_t)gettid()); /* whoever starts the program may set it */
    const struct kernel_attributes attributes = {
        .size = sizeof attributes,
        .policy = SCHED_OTHER,
        .nice = given > ranks[rank].nice ? given : ranks[rank].nice,
        .turn_ns = ranks[rank].turn_ns,
    };
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0
        && setpriority(PRIO_PROCESS, (id_t)gettid(), attributes.nice) != 0)
        log_warn("thread", "the priority can't be set: %m");
    pace.burst_ns = ranks[rank].burst_ns;
    pace.since_ns = clock_monotonic_ns();
}

void thread_give_way(void)
{
    if (pace.burst_ns == 0 || pace.hurries || clock_monotonic_ns() - pace.since_ns < pace.burst_ns)
        return;
    nanosleep(&(struct timespec){ .tv_nsec = 1 }, NULL); /* the kernel makes some 50 µs of it */
    pace.since_ns = clock_monotonic_ns();
}

void thread_hurry(bool hurry)
{
    pace.hurries = hurry;
}

void thread_half_take(void)
{
    cpu_set_t given, half;
    if (sched_getaffinity(0, sizeof given, &given) != 0)
        return; /* more cores than the set has room for: nobody needs to stand back */
    const int count = CPU_COUNT(&given);
    CPU_ZERO(&half);
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &given) && seen++ >= count / 2)
            CPU_SET((size_t)cpu, &half);
    if (sched_setaffinity(0, sizeof half, &half) != 0)
        log_warn("thread", "it can't be kept to half of the cores: %m");
}
