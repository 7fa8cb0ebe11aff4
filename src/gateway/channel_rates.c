/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/channel_rates.h"

#include <stdatomic.h>
#include <string.h>

enum { BURST_US = 1000 * 1000, SKEW_US = 60 * 1000 * 1000, TRIES_MAX = 16, BUSY_MS = 1 };

void channel_rates_set(struct channel_rates *rates, uint32_t per_s)
{
    invariant(per_s > 0);
    memset(rates, 0, sizeof *rates);
    rates->interval_us = BURST_US / per_s + (BURST_US % per_s != 0);
}

uint32_t channel_rates_ask(struct channel_rates *rates, uint32_t key, uint64_t now_ms)
{
    const uint64_t now_us = now_ms * 1000;
    invariant(key < ADMIN_KEYS_MAX);
    uint64_t full = atomic_load_explicit(&rates->full_us[key], memory_order_relaxed);
    for (int tries = 0; tries < TRIES_MAX; tries++) {
        /* Further ahead than it can be: the clock was set back. */
        const uint64_t from = full > now_us && full < now_us + SKEW_US ? full : now_us;
        const uint64_t next = from + rates->interval_us;
        if (next > now_us + BURST_US)
            return (uint32_t)((next - now_us - BURST_US) / 1000 + 1);
        if (atomic_compare_exchange_weak_explicit(
                &rates->full_us[key], &full, next, memory_order_relaxed, memory_order_relaxed))
            return 0;
    }
    return BUSY_MS;
}
