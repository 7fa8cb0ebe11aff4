/* SPDX-License-Identifier: Apache-2.0 */
/* base/clock.h: the one door to time.
 * Server time is wall time at start carried on by CLOCK_BOOTTIME: it never jumps while the program
 * runs, and it never starts before the last time in the log (clock_start gets that as
 * `not_before_ms`).
 * Thread: clock_start once before other threads; the rest from any thread. */
#ifndef STAMPEDE_BASE_CLOCK_H
#define STAMPEDE_BASE_CLOCK_H

#include <stdint.h>

void clock_start(uint64_t not_before_ms);
uint64_t clock_now_ms(void); /* server time, ms since 1970 */
/* The same, and of the same reading CLOCK_BOOTTIME in ns: for durations up to a clock_boot_ns. */
uint64_t clock_now_both(uint64_t *boot_ns);
uint64_t clock_boot_ns(void);
uint64_t clock_wall_ms(void);      /* what the system's wall clock says; for comparing only */
uint64_t clock_monotonic_ns(void); /* for durations */
static inline uint64_t clock_monotonic_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

/* How far another clock is ahead of ours (negative: behind), surely: it was read as `theirs_ms` at some
 * moment between these two of ours, so what is between them can't be told from no difference. */
static inline int64_t clock_apart_ms(uint64_t asked_ms, uint64_t heard_ms, uint64_t theirs_ms)
{
    if (theirs_ms > heard_ms)
        return (int64_t)(theirs_ms - heard_ms);
    return theirs_ms < asked_ms ? -(int64_t)(asked_ms - theirs_ms) : 0;
}

#endif
