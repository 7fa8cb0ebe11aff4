/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/channel_rates.h: how fast the keys of channels may ask. Each key has a bucket of its own, of one
 * second's worth, so that a channel whose program runs wild takes nothing from another one. Kept as one time
 * for each key, the moment at which its bucket is full again (as in funnel/limits.h).
 * A key is known by its place in the list of keys; when the list changes, a bucket may pass to another key,
 * which then waits a second at most.
 * Thread: any; atomics only. One process: several gateways let each key ask so often each. */
#ifndef STAMPEDE_GATEWAY_CHANNEL_RATES_H
#define STAMPEDE_GATEWAY_CHANNEL_RATES_H

#include "config/admin_keys.h"

struct channel_rates {
    uint64_t interval_us;
    _Atomic uint64_t full_us[ADMIN_KEYS_MAX];
};
void channel_rates_set(struct channel_rates *rates, uint32_t per_s); /* 1 or more; all buckets are full */
/* 0: it may ask, and was counted. Else how long to wait, in ms. */
MUST_CHECK uint32_t channel_rates_ask(struct channel_rates *rates, uint32_t key, uint64_t now_ms);

#endif
