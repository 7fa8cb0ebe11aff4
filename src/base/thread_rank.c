/* SPDX-License-Identifier: Apache-2.0 */
/* base/thread_rank.c: who runs first (base/thread.h). Shorter turns for those that sell (sched_setattr) were
 * tried, and gave nothing: docs/performance.md#stalls. */
#include "base/log.h"
#include "base/thread.h"

#include <sys/resource.h>
#include <unistd.h>

void thread_rank_set(enum thread_rank rank)
{
    static const int least[] = { [THREAD_BACKGROUND] = 10, [THREAD_LAST] = 19 };
    const int given = getpriority(PRIO_PROCESS, (id_t)gettid()); /* whoever starts the program may set it */
    if (given < least[rank] && setpriority(PRIO_PROCESS, (id_t)gettid(), least[rank]) != 0)
        log_warn("thread", "the priority can't be set: %m");
}
