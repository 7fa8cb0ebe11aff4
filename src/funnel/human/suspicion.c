/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/suspicion.h"

#include "base/status.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A place: tag of who it is 32 bits | number of the half-life 16 | points 16. Without points it is free. */
enum { LINE_PLACES = 8, TAG_SHIFT = 32, HALVINGS_MAX = 16 };
struct suspicion {
    uint32_t half_s;
    _Atomic uint64_t places[SUSPICION_PLACES];
};
static_assert(SUSPICION_PLACES % LINE_PLACES == 0, "whole lines");

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

static uint32_t points_now(uint64_t word, uint32_t period)
{
    const uint32_t points = word & 0xffff, passed = (period - (uint32_t)(word >> 16)) & 0xffff;
    if (passed == 0xffff)
        return points; /* another clock is ahead */
    return passed < HALVINGS_MAX ? points >> passed : 0;
}

/* The low bits name the line, the high ones the owner. */
static uint32_t line_of(uint64_t who)
{
    return (uint32_t)(who % (SUSPICION_PLACES / LINE_PLACES)) * LINE_PLACES;
}

void suspicion_add(struct suspicion *suspicion, uint64_t who, uint32_t points, uint32_t now_s)
{
    _Atomic uint64_t *line = &suspicion->places[line_of(who)];
    const uint64_t tag = who >> TAG_SHIFT;
    const uint32_t period = now_s / suspicion->half_s;
    uint32_t at = 0, sum = UINT32_MAX;
    uint64_t held = 0;
    bool known = false;
    for (uint32_t i = 0; i < LINE_PLACES && !known; i++) {
        const uint64_t word = atomic_load_explicit(&line[i], memory_order_relaxed);
        const uint32_t now = points_now(word, period);
        known = now > 0 && word >> TAG_SHIFT == tag;
        if (!known && now >= sum)
            continue;
        at = i;
        sum = now;
        held = word;
    }
    sum = (known ? sum : 0) + points;
    if (sum > SUSPICION_MAX)
        sum = SUSPICION_MAX;
    /* A lost race loses one event: the next one counts. */
    atomic_compare_exchange_strong(
        &line[at], &held, tag << TAG_SHIFT | (uint64_t)(period & 0xffff) << 16 | sum);
}

uint32_t suspicion_of(const struct suspicion *suspicion, uint64_t who, uint32_t now_s)
{
    const _Atomic uint64_t *line = &suspicion->places[line_of(who)];
    const uint64_t tag = who >> TAG_SHIFT;
    for (uint32_t i = 0; i < LINE_PLACES; i++) {
        const uint64_t word = atomic_load_explicit(&line[i], memory_order_relaxed);
        if (word >> TAG_SHIFT == tag)
            return points_now(word, now_s / suspicion->half_s);
    }
    return 0;
}
