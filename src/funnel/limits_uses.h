/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/limits_uses.h: what this gateway has let through and the others have not been told yet. On one
 * machine there is none of it, and each layer asks for it by one pointer.
 *
 * Items and admission: a sum each, told whenever it is not 0. Addresses: a table of USES_SLOTS counts,
 * because a crowd has more addresses than anybody wants to hear of. Noted is who asks again within
 * USES_LIFE_MS; told is who has used a share of its burst, so that an honest crowd costs no message. Who
 * stays below is forgotten by half each USES_LIFE_MS. In a full line of the table a newcomer takes the slot
 * of who has used least, if that is two requests or less.
 *
 * Thread: noting: any, atomics only, no locks, every loop bounded; taking: one. Memory: from the arena at
 * create. */
#ifndef STAMPEDE_FUNNEL_LIMITS_USES_H
#define STAMPEDE_FUNNEL_LIMITS_USES_H

#include "funnel/limits.h"

struct arena;
struct limits_uses;

enum {
    USES_SLOTS = 16384,
    USES_LIFE_MS = 8000,
    USES_PER_LOOK = 64, /* addresses that are told at once, the heaviest first; the others at the next look */
    USES_SHARE = 4, /* told is who has used 1 / (USES_SHARE x gateways) of the burst */
};
/* The bits of a keyed hash that name an address: those that limits.c uses. The others are 0. */
#define USES_NAME_MASK (~(((UINT64_C(1) << 20) - 1) << 24))

size_t limits_uses_bytes(uint32_t items);
struct limits_uses *limits_uses_create(struct arena *arena, uint32_t items);

/* Noting: out of line, since one machine never gets there. */
__attribute__((noinline, cold)) void uses_note_address(
    struct limits_uses *uses, uint64_t name, uint32_t amount);
__attribute__((noinline, cold)) void uses_note_item(struct limits_uses *uses, item_id item, uint64_t ns);
__attribute__((noinline, cold)) void uses_note_admission(struct limits_uses *uses, uint64_t ns);

/* Takes the next thing to tell; false: that was all of this look. `gateways`: how many there are, with this
 * one. */
struct uses_look {
    uint32_t item, slot, told, last, pass;
    bool admission;
};
void uses_look_begin(struct limits *limits, struct uses_look *look, uint64_t now_ms);
bool uses_look_next(
    struct limits *limits, struct uses_look *look, uint32_t gateways, struct limits_use *use);

#endif
