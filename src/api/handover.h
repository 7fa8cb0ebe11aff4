/* SPDX-License-Identifier: Apache-2.0 */
/* api/handover.h: one pointer that a thread replaces and the edges read, without locks. A
 * reader may use what it loaded until the end of its loop turn; it then counts the turn. The
 * writer frees a replaced value when every reader has counted a turn since. Turns come at least
 * every EDGE_TICK_MS, so little waits. A reader that has no loop says reader_enter before it loads a
 * value and reader_left when it does not use it any more.
 * Thread: handover_put and handover_collect: one writer; the rest: readers. */
#ifndef STAMPEDE_API_HANDOVER_H
#define STAMPEDE_API_HANDOVER_H

#include "contract/limits.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { READERS_MAX = EDGES_MAX + VIEW_READERS_MAX };
struct reader_turns {
    uint32_t readers; /* the edges, then the readers of order views */
    struct {
        alignas(64) _Atomic uint64_t count;
    } turns[READERS_MAX];
};
static inline void reader_turn_done(struct reader_turns *turns, uint32_t reader)
{
    _Atomic uint64_t *count = &turns->turns[reader].count;
    /* Sequentially consistent with the exchange in handover_put: whoever counts a turn after it
     * sees the new value. */
    atomic_store(count, atomic_load_explicit(count, memory_order_relaxed) + 1);
}

/* It has ended, and holds nothing any more: nobody waits for its turns. */
#define READER_LEFT UINT64_MAX
static inline void reader_left(struct reader_turns *turns, uint32_t reader)
{
    atomic_store(&turns->turns[reader].count, READER_LEFT);
}
/* After reader_left. `entered` is the reader's own and was 0 at first. */
static inline void reader_enter(struct reader_turns *turns, uint32_t reader, uint64_t *entered)
{
    atomic_store(&turns->turns[reader].count, ++*entered);
}

enum { HANDOVER_OLD_MAX = 64 };
struct handover {
    _Atomic(void *) now;
    struct {
        void *value;
        uint64_t seen[READERS_MAX];
    } old[HANDOVER_OLD_MAX];
    uint32_t old_count;
    void (*release)(void *value);
};
static inline void *handover_get(struct handover *handover)
{
    return atomic_load(&handover->now);
}
void handover_create(struct handover *handover, void *first, void (*release)(void *));
/* Waits (briefly) only when HANDOVER_OLD_MAX values are still held. */
void handover_put(struct handover *handover, struct reader_turns *turns, void *value);
void handover_collect(struct handover *handover, struct reader_turns *turns);
void handover_close(struct handover *handover); /* when no reader runs any more */

#endif
