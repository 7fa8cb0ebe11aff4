/* SPDX-License-Identifier: Apache-2.0 */
/* base/thread.h: threads with names and owners, and a wake-up that epoll can wait for. */
#ifndef STAMPEDE_BASE_THREAD_H
#define STAMPEDE_BASE_THREAD_H

#include "base/status.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct thread {
    pthread_t handle;
    bool started;
};
MUST_CHECK enum status thread_start(
    struct thread *thread, const char *name, void (*run)(void *), void *context);
void thread_join(struct thread *thread); /* accepts one that was never started */

/* Which threads let others run first when there are fewer cores than threads with work. */
enum thread_rank {
    THREAD_SHOWS,      /* lets those that sell go first; they have no rank of their own */
    THREAD_BACKGROUND, /* the same, and waits at once when one that sells or shows wakes up */
    THREAD_LAST,       /* seconds or minutes: nobody buys less because of it */
};
void thread_rank_set(enum thread_rank rank); /* of the calling thread; a warning in the log if it can't be */
/* Whoever has a rank (but THREAD_SHOWS) calls this often while it computes: after a while without a pause it
 * sleeps for a moment, so that others get the core. A thread without a rank goes on. */
void thread_give_way(void);
/* From now on the calling thread goes on without pauses, or no longer does. */
void thread_hurry(bool hurry);
/* The calling thread runs on the upper half of the cores only. A kernel lets a thread that computes go on
 * until the next tick, whoever wakes up; so those that sell find a core without one. */
void thread_half_take(void);

/* Which thread owns a structure. Debug builds (STAMPEDE_DEBUG) stop when another thread comes. */
struct thread_owner {
    uint64_t id;
};
uint64_t thread_self(void); /* never 0 */
static inline void thread_owner_take(struct thread_owner *owner)
{
    owner->id = thread_self();
}
#ifdef STAMPEDE_DEBUG
#define thread_owner_check(owner) invariant((owner).id == 0 || (owner).id == thread_self())
#else
#define thread_owner_check(owner) ((void)sizeof(owner))
#endif

/* A wake-up: any thread signals, one thread waits (by epoll on wake_fd, or wake_wait). Signals
 * before a wait fold into one; signalling one that is pending already costs no system call. */
struct wake {
    int fd; /* eventfd, non-blocking */
    _Atomic uint32_t pending;
};
MUST_CHECK enum status wake_open(struct wake *wake);
void wake_close(struct wake *wake); /* accepts a failed wake_open and a second close */
void wake_signal(struct wake *wake);
void wake_clear(struct wake *wake);                     /* waiter: before it looks at its queues */
void wake_wait(struct wake *wake, uint32_t timeout_ms); /* for threads without epoll; clears */

#endif
