/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ring.h"

#include <string.h>

void ring_create(struct ring *ring, struct arena *arena, uint32_t slot_count, uint32_t slot_bytes)
{
    invariant(slot_count > 0 && (slot_count & (slot_count - 1)) == 0);
    invariant(slot_bytes > 0);
    memset(ring, 0, sizeof *ring);
    ring->slots = arena_take(arena, slot_count, slot_bytes);
    ring->slot_count = slot_count;
    ring->slot_bytes = slot_bytes;
}

bool ring_put(struct ring *ring, const void *slot)
{
    void *room = ring_reserve(ring);
    if (room == NULL)
        return false;
    memcpy(room, slot, ring->slot_bytes);
    ring_commit(ring);
    return true;
}

bool ring_push(struct ring *ring, const void *slot)
{
    if (!ring_put(ring, slot))
        return false;
    ring_publish(ring);
    return true;
}

uint64_t ring_written(const struct ring *ring)
{
    return ring->tail_local - atomic_load_explicit(&ring->head, memory_order_acquire);
}

uint64_t ring_used(const struct ring *ring)
{
    /* Head first: the other way round it could have run past the tail we remember. */
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    uint64_t used = tail - head;
    return used < ring->slot_count ? used : ring->slot_count;
}
