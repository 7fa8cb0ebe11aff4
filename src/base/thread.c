/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { THREAD_NAME_BYTES = 16 }; /* the kernel keeps fifteen characters */

struct start {
    void (*run)(void *);
    void *context;
    char name[THREAD_NAME_BYTES];
};

static void *thread_main(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), start.name); /* only for people: a failure changes nothing */
    start.run(start.context);
    return NULL;
}

enum status thread_start(struct thread *thread, const char *name, void (*run)(void *), void *context)
{
    *thread = (struct thread){ 0 };
    struct start *start = malloc(sizeof *start);
    if (start == NULL)
        return STATUS_IO;
    *start = (struct start){ .run = run, .context = context };
    snprintf(start->name, sizeof start->name, "%s", name);
    int rc = pthread_create(&thread->handle, NULL, thread_main, start);
    if (rc != 0) {
        free(start);
        errno = rc;
        return STATUS_IO;
    }
    thread->started = true;
    return STATUS_OK;
}

void thread_join(struct thread *thread)
{
    if (!thread->started)
        return;
    int rc = pthread_join(thread->handle, NULL);
    invariant(rc == 0);
    thread->started = false;
}

uint64_t thread_self(void)
{
    static _Atomic uint64_t last;
    static _Thread_local uint64_t self;
    if (self == 0)
        self = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    return self;
}

enum status wake_open(struct wake *wake)
{
    atomic_init(&wake->pending, 0);
    wake->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return wake->fd < 0 ? STATUS_IO : STATUS_OK;
}

void wake_close(struct wake *wake)
{
    if (wake->fd >= 0)
        close(wake->fd);
    wake->fd = -1;
}

/* Why no wake-up is lost: whoever turns `pending` from 0 to 1 writes the eventfd afterwards, and
 * whoever drains the eventfd turns `pending` to 0 afterwards. So `pending` never stays 1 over an
 * eventfd that nobody will write. A signaller that finds 1 writes nothing, but its exchange
 * comes before the waiter's exchange on the same word, which therefore sees all that the
 * signaller queued (both are acquire-release). A plain load here, or a plain store in
 * wake_clear, would break that. */
void wake_signal(struct wake *wake)
{
    if (atomic_exchange_explicit(&wake->pending, 1, memory_order_acq_rel) != 0)
        return;
    ssize_t done;
    do
        done = write(wake->fd, &(uint64_t){ 1 }, sizeof(uint64_t));
    while (done < 0 && errno == EINTR);
    /* EAGAIN: the counter is full, so it is readable */
    invariant(done == sizeof(uint64_t) || errno == EAGAIN);
}

void wake_clear(struct wake *wake)
{
    uint64_t count;
    ssize_t done;
    do
        done = read(wake->fd, &count, sizeof count);
    while (done < 0 && errno == EINTR);
    invariant(done == sizeof count || errno == EAGAIN);
    atomic_exchange_explicit(&wake->pending, 0, memory_order_acq_rel);
}

void wake_wait(struct wake *wake, uint32_t timeout_ms)
{
    struct pollfd waiting = { .fd = wake->fd, .events = POLLIN };
    int rc = poll(&waiting, 1, timeout_ms > INT_MAX ? INT_MAX : (int)timeout_ms);
    /* EINTR: an early return is allowed, the caller looks at its queues either way */
    invariant(rc >= 0 || errno == EINTR);
    wake_clear(wake);
}
