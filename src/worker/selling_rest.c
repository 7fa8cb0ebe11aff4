/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/selling_rest.h"

#include "contract/limits.h"

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
    rest->turn_ms = now_ms + (filled ? SELLING_FULL_PAUSE_MS : ORDER_BATCH_WAIT_MS);
    return now_ms;
}
