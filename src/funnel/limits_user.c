/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/limits_user.c: how often a user may ask (limits.h). */
#include "funnel/limits_parts.h"

#include <string.h>

REFUSED(refused_user, "user");
OVERFLOW(overflow_user, "user");
EVICTED(evicted_user, "user");

static struct user_row *row_at(const struct limits *limits, uint64_t line, uint32_t index)
{
    return (struct user_row *)(void *)(limits->rows + (line * LINE_ROWS + index) * limits->row_bytes);
}

/* Whether a time is one of the last `window_ms`, or just ahead. */
static bool is_recent(uint32_t time, uint32_t now, uint32_t window_ms)
{
    const int32_t age = (int32_t)(now - time);
    return time != 0 && age < (int32_t)window_ms && age > -(int32_t)LIMITS_SKEW_MS;
}

static uint32_t user_overflowed(
    struct limits *limits, uint32_t requests, uint32_t window_ms, uint64_t now_ms)
{
    const uint64_t window_ns = window_ms * NS_PER_MS;
    metric_add(&overflow_user, 1);
    return limits_bucket_take(&limits->user_overflow,
        window_ns / requests / LIMITS_OVERFLOW_SHARE + 1, window_ns, now_ms);
}

static inline struct user_row *row_of(
    const struct limits *limits, uint64_t line, user_id user, const struct user_row *except)
{
    const size_t step = limits->row_bytes; /* read once: the atomic loads would have it read again */
    char *at = (char *)row_at(limits, line, 0);
#pragma GCC unroll 4
    for (uint32_t i = 0; i < LINE_ROWS; i++, at += step) {
        struct user_row *row = (struct user_row *)(void *)at;
        if (atomic_load(&row->user) == user && row != except)
            return row;
    }
    return NULL;
}

/* Takes the row over for the user. NULL: a race was lost; the row may have been taken for this very user. */
static struct user_row *row_take(
    const struct limits *limits, uint64_t line, struct user_row *row, uint64_t holder, user_id user)
{
    if (!atomic_compare_exchange_strong(&row->user, &holder, user))
        return NULL;
    if (row_of(limits, line, user, row) == NULL)
        return row;
    holder = user;
    (void)atomic_compare_exchange_strong(&row->user, &holder, 0); /* there is one already */
    return NULL;
}

/* How many of the last window are in the row; `recent` gets their times, 0 where there is none. */
static uint32_t row_weight(const struct user_row *row, uint32_t requests, uint32_t now,
    uint32_t window_ms, uint32_t *recent)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < requests; i++) {
        const uint32_t time = atomic_load(&row->times[i]);
        recent[i] = is_recent(time, now, window_ms) ? time : 0;
        count += recent[i] != 0;
    }
    return count;
}

/* All rows of the line are in use: takes the row of whoever asked least, and longest ago, if that is half of
 * the limit or less, or one request. NULL: `full`, everybody in the line hammers; or a race was lost. */
static __attribute__((noinline)) struct user_row *row_evict(struct limits *limits, uint64_t line,
    user_id user, uint32_t requests, uint32_t now, uint32_t window_ms, bool *full)
{
    uint32_t recent[LIMITS_REQUESTS_MAX];
    struct user_row *best = NULL;
    uint32_t best_weight = requests / 2 > 1 ? requests / 2 : 1;
    int32_t best_age = INT32_MIN;
    for (uint32_t i = 0; i < LINE_ROWS; i++) {
        struct user_row *row = row_at(limits, line, i);
        const uint32_t weight = row_weight(row, requests, now, window_ms, recent);
        const int32_t age = (int32_t)(now - atomic_load(&row->last));
        if (weight > best_weight || (weight == best_weight && age <= best_age))
            continue;
        best = row;
        best_weight = weight;
        best_age = age;
    }
    *full = best == NULL;
    if (best == NULL)
        return NULL;
    const uint64_t holder = atomic_load(&best->user);
    if (row_weight(best, requests, now, window_ms, recent) > best_weight
        || row_take(limits, line, best, holder, user) == NULL)
        return NULL;
    for (uint32_t i = 0; i < requests; i++)
        if (recent[i] != 0)
            (void)atomic_compare_exchange_strong(&best->times[i], &recent[i], 0);
    metric_add(&evicted_user, 1);
    atomic_fetch_add_explicit(&limits->evicted, 1, memory_order_relaxed);
    return best;
}

/* Takes a row for the user: one without a holder, or an idle one (all its times are a window old), else that
 * of somebody else. NULL: `full`, or a race was lost. */
static inline struct user_row *row_claim(struct limits *limits, uint64_t line, user_id user,
    uint32_t requests, uint32_t now, uint32_t window_ms, bool *full)
{
    for (uint32_t i = 0; i < LINE_ROWS; i++) {
        struct user_row *row = row_at(limits, line, i);
        const uint64_t holder = atomic_load(&row->user);
        if (holder == 0 || !is_recent(atomic_load(&row->last), now, window_ms))
            return row_take(limits, line, row, holder, user);
    }
    return row_evict(limits, line, user, requests, now, window_ms, full);
}

/* How long until the next slot in turn lets in. */
static uint32_t row_wait_ms(
    const struct user_row *row, uint32_t slot, uint32_t requests, uint32_t now, uint32_t window_ms)
{
    const uint32_t next = atomic_load(&row->times[(slot + 1) % requests]);
    const int32_t age = next == 0 ? 0 : (int32_t)(now - next);
    return age <= 0 ? window_ms : age >= (int32_t)window_ms ? 1 : window_ms - (uint32_t)age;
}

static uint32_t user_take(
    struct limits *limits, user_id user, uint32_t requests, uint32_t window_ms, uint64_t now_ms)
{
    const uint64_t line = user & limits->row_mask; /* a user is a keyed hash already */
    const uint32_t now = (uint32_t)now_ms == 0 ? 1 : (uint32_t)now_ms;
    bool full = false;
    for (int i = 0; i < TRIES_MAX && !full; i++) {
        struct user_row *row = row_of(limits, line, user, NULL);
        if (row == NULL)
            row = row_claim(limits, line, user, requests, now, window_ms, &full);
        if (row == NULL)
            continue;
        atomic_store(&row->last, now);
        const uint32_t slot = atomic_fetch_add(&row->taken, 1);
        const uint32_t before = atomic_exchange(&row->times[slot % requests], now);
        if (atomic_load(&row->user) != user)
            continue; /* it was idle and has just been taken over */
        return is_recent(before, now, window_ms) ? row_wait_ms(row, slot, requests, now, window_ms) : 0;
    }
    return user_overflowed(limits, requests, window_ms, now_ms);
}

uint32_t limits_user(struct limits *limits, user_id user, uint64_t now_ms)
{
    const uint32_t requests = atomic_load_explicit(&limits->user_requests, memory_order_relaxed);
    const uint32_t window_ms = atomic_load_explicit(&limits->user_window_ms, memory_order_relaxed);
    if (requests == 0 || window_ms == 0)
        return 0;
    const uint32_t wait_ms = user_take(limits, user, requests, window_ms, now_ms);
    if (wait_ms != 0)
        metric_add(&refused_user, 1);
    return wait_ms;
}
