#include "funnel/suspicion.h"

#include <stdatomic.h>

/* A place: the number of the minute in the upper half, points in the lower. */
struct suspicion {
    _Atomic uint32_t places[SUSPICION_PLACES];
};

enum { HALVINGS_MAX = 16, POINTS_MAX = 1000 };

size_t suspicion_bytes(void)
{
    return sizeof(struct suspicion) + 64;
}

struct suspicion *suspicion_create(struct arena *arena)
{
    return arena_take(arena, 1, sizeof(struct suspicion));
}

static uint32_t points_now(uint32_t word, uint32_t minute)
{
    const uint32_t passed = (minute - (word >> 16)) & 0xffff;
    if (passed >= HALVINGS_MAX && passed < 0xffff)
        return 0;
    return passed == 0xffff ? word & 0xffff : (word & 0xffff) >> passed; /* another clock is ahead */
}

void suspicion_add(struct suspicion *suspicion, uint64_t who, uint32_t now_s)
{
    _Atomic uint32_t *place = &suspicion->places[who % SUSPICION_PLACES];
    const uint32_t minute = now_s / SUSPICION_HALF_S;
    uint32_t word = atomic_load_explicit(place, memory_order_relaxed);
    uint32_t points = points_now(word, minute) + SUSPICION_PER_FAILURE;
    if (points > POINTS_MAX)
        points = POINTS_MAX;
    /* A lost race loses one failure: the next one counts. */
    atomic_compare_exchange_strong(place, &word, (minute & 0xffff) << 16 | points);
}

uint32_t suspicion_of(const struct suspicion *suspicion, uint64_t who, uint32_t now_s)
{
    const uint32_t word =
        atomic_load_explicit(&suspicion->places[who % SUSPICION_PLACES], memory_order_relaxed);
    const uint32_t points = points_now(word, now_s / SUSPICION_HALF_S);
    return points < SUSPICION_MAX ? points : SUSPICION_MAX;
}
