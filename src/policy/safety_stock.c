/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/safety_stock.h"

#include "base/status.h"

static uint32_t base_of(const struct safety_history *history)
{
    const uint64_t came =
        history->returned + history->exchanged + history->damaged + history->lost + history->other;
    if (history->sold == 0)
        return SAFETY_BASE_STANDARD;
    if (came >= history->sold)
        return RATE_THOUSAND;
    return (uint32_t)((came * RATE_THOUSAND + history->sold - 1) / history->sold);
}

struct safety_suggestion safety_stock_suggest(
    const struct safety_history *history, const struct safety_bounds *bounds, uint32_t units)
{
    invariant(bounds->least <= bounds->most && bounds->most <= RATE_THOUSAND);
    const uint32_t base = base_of(history);
    const uint32_t rate = base < bounds->least ? bounds->least
        : base > bounds->most                  ? bounds->most
                                               : base;
    const uint64_t kept = ((uint64_t)units * rate + RATE_THOUSAND - 1) / RATE_THOUSAND;
    return (struct safety_suggestion){ .base = base, .rate = rate, .units = (uint32_t)kept };
}
