/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/spent.h: what may be used once and was: challenges that were solved, passes that bought. A
 * bounded set of 64-bit marks, each kept until its expiry. A mark is a keyed hash of what is spent, so
 * nobody chooses where it lands.
 * Thread: any, all edges share one; no locks, and every call ends after a bounded number of steps.
 * Memory: from the arena at create.
 * When there are more marks than the set is made for, nobody is refused: where a mark's neighbourhood is
 * full, the mark there that expires first is forgotten. What it stands for could then be used once more,
 * for the rest of its short life. The set tells of it before (spent_crowded). */
#ifndef STAMPEDE_FUNNEL_SPENT_H
#define STAMPEDE_FUNNEL_SPENT_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SPENT_NEIGHBOURS = 16, /* places where one mark may be: two cache lines */
    SPENT_SPARE = 4,       /* places for each mark that the set is made for */
    SPENT_CROWDED = 14,    /* in a set as full as it is made for, one of 10,000 has so many */
    SPENT_UNIT_S = 4,      /* expiries are kept in these, rounded up */
    SPENT_MARGIN_S = 8,    /* threads may differ so much in what time it is */
    SPENT_LIFE_MAX_S = 7 * 24 * 60 * 60,
};

enum spent_answer {
    SPENT_FRESH, /* to one caller only */
    SPENT_AGAIN,
    SPENT_FULL, /* too many are taken in the same moment; nothing was changed */
};

struct spent; /* opaque: fields are in spent.c */
/* For `marks_max` marks at a time. */
size_t spent_bytes(uint32_t marks_max);
struct spent *spent_create(struct arena *arena, uint32_t marks_max);

/* expires_s: from when on nobody would accept what the mark stands for, so that it may be forgotten;
 * at most SPENT_LIFE_MAX_S from now. */
enum spent_answer spent_take(struct spent *spent, uint64_t mark, uint32_t expires_s, uint32_t now_s);
/* Looks without taking. True: it was taken, or is being taken. */
bool spent_seen(const struct spent *spent, uint64_t mark);
/* By who got SPENT_FRESH and could not use it: the mark is fresh again. */
void spent_give_back(struct spent *spent, uint64_t mark);
/* Any thread: how many marks found SPENT_CROWDED neighbours or more, and how many were forgotten early. */
uint64_t spent_crowded(const struct spent *spent);
uint64_t spent_forgotten(const struct spent *spent);
/* Forgets what has expired in the next `places` places, whole buckets of them; call it now and then,
 * all places within SPENT_LIFE_MAX_S. Answers how many of them are taken. Thread: one. */
uint32_t spent_sweep(struct spent *spent, uint32_t places, uint32_t now_s);

#endif
