/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that want to be called at a moment: a heap, earliest first, one place per connection.
 * Memory: allocated once. Thread: one owner. */
#ifndef BENCH_BOTS_TIMERS_H
#define BENCH_BOTS_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

struct timer {
    uint64_t due_ns;
    uint32_t connection;
};

struct timers {
    struct timer *heap;
    uint32_t count, room;
};

/* Each connection waits for one moment at most, so there is always room. */
static inline void timer_add(struct timers *timers, uint32_t connection, uint64_t due_ns)
{
    if (timers->count == timers->room)
        __builtin_trap();
    uint32_t at = timers->count++;
    while (at > 0 && timers->heap[(at - 1) / 2].due_ns > due_ns) {
        timers->heap[at] = timers->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    timers->heap[at] = (struct timer){ due_ns, connection };
}

static inline bool timer_due(struct timers *timers, uint64_t now, struct timer *timer)
{
    if (timers->count == 0 || timers->heap[0].due_ns > now)
        return false;
    *timer = timers->heap[0];
    const struct timer last = timers->heap[--timers->count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < timers->count && timers->heap[child + 1].due_ns < timers->heap[child].due_ns)
            child++;
        if (child >= timers->count || timers->heap[child].due_ns >= last.due_ns)
            break;
        timers->heap[at] = timers->heap[child];
        at = child;
    }
    timers->heap[at] = last;
    return true;
}

#endif
