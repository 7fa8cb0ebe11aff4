/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/human/suspicion.h: how often something happened to somebody lately, in points: checks that failed,
 * passes that were taken. It makes the next challenge harder, and many failures refuse for a while.
 * Points fade by half in a fixed time. An entry knows its owner by 32 bits of a keyed hash and its line
 * of eight, so nobody answers for others. In a full line the entry with the fewest points gives way.
 * Thread: any; no locks. Memory: from the arena at create. */
#ifndef STAMPEDE_FUNNEL_HUMAN_SUSPICION_H
#define STAMPEDE_FUNNEL_HUMAN_SUSPICION_H

#include "base/arena.h"

#include <stdint.h>

enum { SUSPICION_MAX = 0xffff, SUSPICION_PLACES = 1 << 16 };

struct suspicion; /* opaque: fields are in suspicion.c */
size_t suspicion_bytes(void);
/* half_s: seconds in which points fade by half. */
struct suspicion *suspicion_create(struct arena *arena, uint32_t half_s);
/* `who`: a keyed hash of an address or a user. */
void suspicion_add(struct suspicion *suspicion, uint64_t who, uint32_t points, uint32_t now_s);
uint32_t suspicion_of(const struct suspicion *suspicion, uint64_t who, uint32_t now_s);

#endif
