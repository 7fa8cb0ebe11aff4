/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/selling_rest.h"

#include "contract/limits.h"

static bool comes_fast(const struct selling_rest *rest, uint64_t now_ms, lsn_t durable)
{
    return (durable - rest->turn_durable) * 1000 >= (now_ms - rest->turned_ms) * SELLING_FAST_PER_S;
}

uint64_t selling_rest_until(
    struct selling_rest *rest, uint64_t now_ms, lsn_t durable, bool behind, bool filled)
{
    if (durable != rest->durable_seen)
        rest->selling_until_ms = now_ms + SELLING_MS;
    rest->durable_seen = durable;
    if (now_ms >= rest->selling_until_ms || behind)
        return now_ms;
    if (now_ms < rest->turn_ms)
        return rest->turn_ms;
    const bool longer = filled && comes_fast(rest, now_ms, durable);
    rest->turn_ms = now_ms + (longer ? SELLING_FULL_PAUSE_MS : ORDER_BATCH_WAIT_MS);
    rest->turn_durable = durable;
    rest->turned_ms = now_ms;
    return now_ms;
}
