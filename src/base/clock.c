/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

static _Atomic uint64_t clock_offset_ms; /* server time minus CLOCK_BOOTTIME, modulo 2^64 */
static _Atomic bool clock_started;

static uint64_t read_ns(clockid_t id)
{
    struct timespec now;
    int rc = clock_gettime(id, &now);
    invariant(rc == 0);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t read_ms(clockid_t id)
{
    return read_ns(id) / 1000000u;
}

void clock_start(uint64_t not_before_ms)
{
    uint64_t start_ms = clock_wall_ms();
    if (start_ms < not_before_ms)
        start_ms = not_before_ms;
    atomic_store(&clock_offset_ms, start_ms - read_ms(CLOCK_BOOTTIME));
    atomic_store(&clock_started, true);
}

uint64_t clock_now_ms(void)
{
    invariant(atomic_load_explicit(&clock_started, memory_order_relaxed));
    return read_ms(CLOCK_BOOTTIME) + atomic_load_explicit(&clock_offset_ms, memory_order_relaxed);
}

uint64_t clock_now_both(uint64_t *boot_ns)
{
    invariant(atomic_load_explicit(&clock_started, memory_order_relaxed));
    *boot_ns = read_ns(CLOCK_BOOTTIME);
    return *boot_ns / 1000000u + atomic_load_explicit(&clock_offset_ms, memory_order_relaxed);
}

uint64_t clock_boot_ns(void)
{
    return read_ns(CLOCK_BOOTTIME);
}

uint64_t clock_wall_ms(void)
{
    return read_ms(CLOCK_REALTIME);
}

uint64_t clock_monotonic_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}
