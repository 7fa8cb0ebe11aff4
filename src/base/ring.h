/* SPDX-License-Identifier: Apache-2.0 */
/* base/ring.h: bounded queue of fixed-size slots, one producer thread and one consumer thread, no
 * locks. Each side caches the other's index and publishes its own once per batch.
 * Memory: taken from the arena at create. Errors: a full ring refuses (false), an empty one has
 * nothing. */
#ifndef STAMPEDE_BASE_RING_H
#define STAMPEDE_BASE_RING_H

#include "base/arena.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct ring {
    alignas(64) _Atomic uint64_t tail; /* written by the producer: slots published */
    uint64_t tail_local;               /* producer only: slots written, not all published */
    uint64_t head_seen;                /* producer only: last head it looked at */
    alignas(64) _Atomic uint64_t head; /* written by the consumer: slots given back */
    uint64_t head_local;               /* consumer only */
    uint64_t tail_seen;                /* consumer only */
    alignas(64) char *slots;
    uint32_t slot_count; /* power of two */
    uint32_t slot_bytes;
};

void ring_create(struct ring *ring, struct arena *arena, uint32_t slot_count, uint32_t slot_bytes);

/* Producer: a slot to fill, or NULL when full. It becomes visible with the next ring_publish.
 * Reserving again before ring_commit gives the same slot. */
static inline void *ring_reserve(struct ring *ring)
{
    if (__builtin_expect(ring->tail_local - ring->head_seen == ring->slot_count, 0)) {
        /* acquire: the consumer has finished reading the slots it gave back */
        ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
        if (ring->tail_local - ring->head_seen == ring->slot_count)
            return NULL;
    }
    return ring->slots + (ring->tail_local & (ring->slot_count - 1)) * ring->slot_bytes;
}
/* The slot from ring_reserve is filled. */
static inline void ring_commit(struct ring *ring)
{
    invariant(ring->tail_local - ring->head_seen < ring->slot_count);
    ring->tail_local++;
}
/* Shows all committed slots; true if there was anything to show. */
static inline bool ring_publish(struct ring *ring)
{
    if (atomic_load_explicit(&ring->tail, memory_order_relaxed) == ring->tail_local)
        return false;
    atomic_store_explicit(&ring->tail, ring->tail_local, memory_order_release);
    return true;
}
/* reserve + copy + commit; false when full */
bool ring_put(struct ring *ring, const void *slot);
/* The same and publish. */
bool ring_push(struct ring *ring, const void *slot);
/* Producer: slots written, published or not, and not given back. */
uint64_t ring_written(const struct ring *ring);

/* Consumer: the oldest slot, or NULL when empty; valid until ring_release. */
static inline void *ring_peek(struct ring *ring)
{
    if (ring->head_local == ring->tail_seen) {
        /* acquire: the producer has finished writing the slots it shows */
        ring->tail_seen = atomic_load_explicit(&ring->tail, memory_order_acquire);
        if (ring->head_local == ring->tail_seen)
            return NULL;
    }
    return ring->slots + (ring->head_local & (ring->slot_count - 1)) * ring->slot_bytes;
}
/* The slot that comes so many after it; NULL: none that ring_peek has seen. */
static inline void *ring_peek_ahead(const struct ring *ring, uint32_t ahead)
{
    if (ring->tail_seen - ring->head_local <= ahead)
        return NULL;
    return ring->slots + ((ring->head_local + ahead) & (ring->slot_count - 1)) * ring->slot_bytes;
}
/* Consumer: slots that came before the peeked one, and that ring_peek has seen in all. */
static inline uint64_t ring_popped(const struct ring *ring)
{
    return ring->head_local;
}
static inline uint64_t ring_seen(const struct ring *ring)
{
    return ring->tail_seen;
}
/* Done with the peeked slot; the producer sees it after ring_release. */
static inline void ring_pop(struct ring *ring)
{
    invariant(ring->head_local != ring->tail_seen);
    ring->head_local++;
}
/* Gives all popped slots back. */
static inline void ring_release(struct ring *ring)
{
    if (atomic_load_explicit(&ring->head, memory_order_relaxed) != ring->head_local)
        atomic_store_explicit(&ring->head, ring->head_local, memory_order_release);
}
/* Slots published and not given back. Either side, a hint only. */
uint64_t ring_used(const struct ring *ring);

#endif
