/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/anomaly/watch.h: what an edge notices about addresses and users that look like machines. Not every
 * request is noted: only those that were refused for speed or for a bad token, passes that were given,
 * and purchases that came as far as the inventory or too early. Each edge counts in a small table; once
 * a second the worker gets it and the edge goes on in another, so that no counter is ever shared. What the
 * counts mean is said by funnel/anomaly/watch_rules.h.
 *
 * A table has places for WATCH_ROWS addresses and users. When a bucket is full, the row that was noted
 * least gives way: those who come again and again stay, a crowd that comes once each may be lost, and
 * that is counted.
 * Thread: watch_note, watch_purchase and watch_turn: the edge's; watch_take and watch_give: the worker's.
 * Memory: from the arena at start. */
#ifndef STAMPEDE_FUNNEL_ANOMALY_WATCH_H
#define STAMPEDE_FUNNEL_ANOMALY_WATCH_H

#include "base/address.h"
#include "base/arena.h"
#include "contract/types.h"

#include <stdalign.h>
#include <stdatomic.h>

enum {
    WATCH_ROWS = 2048,
    WATCH_WAYS = 4,
    WATCH_EARLY_WEIGHT = 64, /* being early is rare and must not be lost at the start itself */
    WATCH_MARKS = 256,       /* bits, of which each user (address) seen sets one */
    WATCH_MARK_WORDS = WATCH_MARKS / 64,
};
static_assert((WATCH_ROWS & (WATCH_ROWS - 1)) == 0, "a bucket is found with a mask");

enum watch_signal {
    WATCH_NOTHING,
    WATCH_TOO_FAST, /* refused for its rate: the user's if it is known, else the address's */
    WATCH_FAILED,   /* a bad session, pass, token or challenge */
    WATCH_SEEN,     /* a pass was given to this user at this address */
    WATCH_ASKED,    /* a purchase: before the start, from an address; of a user: watch_purchase */
    WATCH_SIGNALS,
};

struct watch_row {
    struct address address; /* IPv6: the first 64 bits; all 0 in the row of a user */
    user_id user;           /* 0: the row of an address */
    uint32_t noted;         /* 0: an empty place */
    uint32_t too_fast, failed;
    uint32_t asked;
    uint64_t asked_first_ms, asked_last_ms;
    uint64_t asked_squares; /* Σ (ms between one and the next)² */
    uint64_t start_ms;      /* a purchase came right after this start; 0: none did */
    uint64_t marks[WATCH_MARK_WORDS];
};
struct watch_table {
    uint64_t lost; /* rows that gave way */
    struct watch_row rows[WATCH_ROWS];
};

struct watch {
    struct hash_key key;
    uint32_t early_ms;
    /* The edge fills tables[given & 1]; the other one is the worker's, or waits for it. */
    alignas(64) _Atomic uint32_t given;  /* written by the edge */
    alignas(64) _Atomic uint32_t wanted; /* written by the worker */
    struct watch_table *tables[2];
};

struct watch_event {
    enum watch_signal signal;
    uint64_t now_ms;
    struct address client;
    user_id user; /* 0: not known */
};

size_t watch_bytes(void);
/* early_ms: a purchase within this time after the start is noted as early. */
struct watch *watch_create(struct arena *arena, struct hash_key key, uint32_t early_ms);
void watch_note(struct watch *watch, const struct watch_event *event);
/* A purchase of this user came as far as the inventory. start_ms: when the sale began; 0: not known. */
void watch_purchase(struct watch *watch, user_id user, uint64_t now_ms, uint64_t start_ms);
/* Once per loop turn: hands the table over if the worker wants it. */
static inline void watch_turn(struct watch *watch)
{
    const uint32_t wanted = atomic_load_explicit(&watch->wanted, memory_order_acquire);
    if (__builtin_expect(wanted != atomic_load_explicit(&watch->given, memory_order_relaxed), 0))
        atomic_store_explicit(&watch->given, wanted, memory_order_release);
}

/* The table that the edge has handed over; NULL: not yet. Then watch_give, which empties it and wants
 * the next. The first table comes after the first watch_give. */
const struct watch_table *watch_take(struct watch *watch);
void watch_give(struct watch *watch);

#endif
