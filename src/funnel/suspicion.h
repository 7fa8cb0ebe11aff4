/* funnel/suspicion.h: how often checks failed for somebody lately, as a number from 0 to 100 that makes
 * the next challenge harder. Counters fade by half each minute. Two of a place share its number: that
 * costs one of them a second of work, and nobody a purchase.
 * Thread: any; no locks. Memory: from the arena at create. */
#ifndef STAMPEDE_FUNNEL_SUSPICION_H
#define STAMPEDE_FUNNEL_SUSPICION_H

#include "base/arena.h"

#include <stdint.h>

enum {
    SUSPICION_MAX = 100,
    SUSPICION_PER_FAILURE = 10,
    SUSPICION_PLACES = 1 << 16,
    SUSPICION_HALF_S = 60
};

struct suspicion;
size_t suspicion_bytes(void);
struct suspicion *suspicion_create(struct arena *arena);
/* `who`: a keyed hash of an address or a user. */
void suspicion_add(struct suspicion *suspicion, uint64_t who, uint32_t now_s);
uint32_t suspicion_of(const struct suspicion *suspicion, uint64_t who, uint32_t now_s);

#endif
