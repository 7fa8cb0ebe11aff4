/* base/ring.h: bounded queue of fixed-size slots, one producer thread and one consumer thread, no locks.
 * Each side caches the other's index and publishes its own once per batch.
 * Memory: taken from the arena at create. Errors: a full ring refuses (false), an empty one has nothing. */
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

/* Producer: a slot to fill, or NULL when full. It becomes visible with the next ring_publish. */
void *ring_reserve(struct ring *ring);
void ring_commit(struct ring *ring);  /* the slot from ring_reserve is filled */
bool ring_publish(struct ring *ring); /* shows all committed slots; true if there was anything to show */
/* reserve + copy + commit + publish */
bool ring_push(struct ring *ring, const void *slot);

/* Consumer: the oldest slot, or NULL when empty; valid until ring_pop. */
void *ring_peek(struct ring *ring);
void ring_pop(struct ring *ring);     /* done with the peeked slot; the producer sees it after ring_release */
void ring_release(struct ring *ring); /* gives all popped slots back */
/* Either side, a hint only. */
uint64_t ring_used(const struct ring *ring);

#endif
