/* SPDX-License-Identifier: Apache-2.0 */
/* base/thread_rank.c: who runs first (base/thread.h). */
#include "base/log.h"
#include "base/thread.h"

#include <assert.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of sched_setattr(2), which the C library does not have. */
struct kernel_attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/* A thread that asks for a shorter turn goes before those with longer ones as soon as it wakes. The kernel
 * has turns since Linux 6.12; an older one takes `runtime_ns` for nothing. */
static bool turn_set(int nice, uint64_t turn_ns)
{
    struct kernel_attributes attributes = {
        .size = sizeof attributes, .policy = SCHED_OTHER, .nice = nice, .runtime_ns = turn_ns
    };
    static_assert(sizeof attributes == 48, "as the kernel has it");
    return syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
}

void thread_rank_set(enum thread_rank rank)
{
    static const struct {
        int nice;         /* at least */
        uint64_t turn_ns; /* 0: the kernel's own, some ms */
    } ranks[] = {
        [THREAD_SELLS] = { 0, 100 * 1000 },
        [THREAD_SHOWS] = { 10, 200 * 1000 },
        [THREAD_BACKGROUND] = { 10, 0 },
        [THREAD_LAST] = { 19, 0 },
    };
    const int given = getpriority(PRIO_PROCESS, (id_t)gettid()); /* whoever starts the program may set it */
    const int nice = given > ranks[rank].nice || rank == THREAD_SELLS ? given : ranks[rank].nice;
    if (!turn_set(nice, ranks[rank].turn_ns) && setpriority(PRIO_PROCESS, (id_t)gettid(), nice) != 0)
        log_warn("thread", "the priority can't be set: %m");
}
