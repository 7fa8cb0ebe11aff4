/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/limits_parts.h: what limits.c, limits_user.c and limits_uses.c share. */
#ifndef STAMPEDE_FUNNEL_LIMITS_PARTS_H
#define STAMPEDE_FUNNEL_LIMITS_PARTS_H

#include "base/arena.h"
#include "base/cipher.h"
#include "base/metrics.h"
#include "funnel/limits.h"
#include "funnel/limits_uses.h"

enum {
    LINE_ROWS = 4,
    TRIES_MAX = 16, /* races lost before one counts as overflow; each was somebody's progress */
    ROW_HEAD_BYTES = 16,
    ROW_BYTES = 64,
};
#define NS_PER_MS 1000000ull

struct user_row {
    _Atomic uint64_t user;    /* 0: free */
    _Atomic uint32_t taken;   /* slots so far */
    _Atomic uint32_t last;    /* when one was taken */
    _Atomic uint32_t times[]; /* low bits of now_ms; 0: never */
};
static_assert(sizeof(struct user_row) == ROW_HEAD_BYTES, "a row of twelve requests is one line");
static_assert(LIMITS_WINDOW_MAX_MS + LIMITS_SKEW_MS < INT32_MAX, "times are compared by difference");

struct limits {
    struct arena arena;
    struct cipher_mac key; /* of addresses */
    uint32_t v6_bits;
    uint32_t item_count;
    uint64_t line_mask, row_mask;
    size_t row_bytes;
    uint32_t row_slots;
    size_t bytes;
    _Atomic uint64_t *entries; /* of addresses: tag over time; 0: free */
    char *rows;
    _Atomic uint64_t *items; /* moments, in ns */
    _Atomic uint64_t admission, address_overflow, user_overflow, evicted;
    /* What limits_set writes. The address's two are one word: they belong together. */
    alignas(64) _Atomic uint64_t address_rate; /* burst × interval, over interval, in units */
    _Atomic uint32_t address_per_s, address_burst, user_requests, user_window_ms, admission_per_s;
    struct limits_uses *uses; /* NULL: nobody is told what is let through */
    struct hash_key shared_key;
};

#define REFUSED(variable, layer) \
    COUNTER_OF(variable, "stampede_limits_refused_total", "layer=\"" layer "\"", \
        "Requests refused by a rate limit.")
#define OVERFLOW(variable, layer) \
    COUNTER_OF(variable, "stampede_limits_overflow_total", "layer=\"" layer "\"", \
        "Requests that shared a bucket because the table was full.")
#define EVICTED(variable, layer) \
    COUNTER_OF(variable, "stampede_limits_evicted_total", "layer=\"" layer "\"", \
        "Entries of clients who had used little, given to newcomers because the table is full.")

/* `interval_ns` for one, `burst_ns` at once (one interval at least). */
uint32_t limits_bucket_take(
    _Atomic uint64_t *bucket, uint64_t interval_ns, uint64_t burst_ns, uint64_t now_ms);

#endif
