/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/suspicion.h"

#include "base/status.h"

#include <stdatomic.h>

/* A place: the number of the half-life in the upper half, points in the lower. */
struct suspicion {
    uint32_t half_s;
    _Atomic uint32_t places[SUSPICION_PLACES];
};

enum { HALVINGS_MAX = 16 };

size_t suspicion_bytes(void)
{
    return sizeof(struct suspicion) + 64;
}

struct suspicion *suspicion_create(struct arena *arena, uint32_t half_s)
{
    struct suspicion *suspicion = arena_take(arena, 1, sizeof(struct suspicion));
    invariant(half_s > 0);
    suspicion->half_s = half_s;
    return suspicion;
}

static uint32_t points_now(uint32_t word, uint32_t period)
{
    const uint32_t passed = (period - (word >> 16)) & 0xffff;
    if (passed >= HALVINGS_MAX && passed < 0xffff)
        return 0;
    return passed == 0xffff ? word & 0xffff : (word & 0xffff) >> passed; /* another clock is ahead */
}

void suspicion_add(struct suspicion *suspicion, uint64_t who, uint32_t points, uint32_t now_s)
{
    _Atomic uint32_t *place = &suspicion->places[who % SUSPICION_PLACES];
    const uint32_t period = now_s / suspicion->half_s;
    uint32_t word = atomic_load_explicit(place, memory_order_relaxed);
    uint32_t sum = points_now(word, period) + points;
    if (sum > SUSPICION_MAX)
        sum = SUSPICION_MAX;
    /* A lost race loses one event: the next one counts. */
    atomic_compare_exchange_strong(place, &word, (period & 0xffff) << 16 | sum);
}

uint32_t suspicion_of(const struct suspicion *suspicion, uint64_t who, uint32_t now_s)
{
    const uint32_t word =
        atomic_load_explicit(&suspicion->places[who % SUSPICION_PLACES], memory_order_relaxed);
    return points_now(word, now_s / suspicion->half_s);
}
