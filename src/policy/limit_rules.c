/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/limit_rules.h"

#include <stddef.h>

static const uint64_t DAY_MS = 24ull * 60 * 60 * 1000;
/* Numbers in the database: they never change their meaning. */
static const uint64_t SCOPE_GROUP = (uint64_t)1 << 32, SCOPE_PAYER = (uint64_t)1 << 33;

const char *limit_rules_wrong(const struct item_limits *limits)
{
    const bool limited = limits->period_limit > 0 || limits->payer_limit > 0;
    if (limited && limits->period_days == 0)
        return "period_limit and payer_limit need period_days.";
    if (!limited && limits->period_days > 0)
        return "period_days needs period_limit or payer_limit.";
    if (!limited && limits->period_group > 0)
        return "period_group needs period_limit or payer_limit.";
    return NULL;
}

uint32_t limit_most(const struct item_limits *limits, enum limit_kind kind)
{
    return kind == LIMIT_PERIOD ? limits->period_limit
        : kind == LIMIT_PAYER   ? limits->payer_limit
                                : 0;
}

uint64_t limit_scope(const struct item_limits *limits, uint32_t product, enum limit_kind kind)
{
    const uint64_t group = limits->period_group == 0 ? product : SCOPE_GROUP | limits->period_group;
    return kind == LIMIT_PAYER ? SCOPE_PAYER | group : group;
}

uint64_t limit_since_ms(const struct item_limits *limits, uint64_t now_ms)
{
    const uint64_t period_ms = limits->period_days * DAY_MS;
    return now_ms > period_ms ? now_ms - period_ms : 0;
}

uint64_t limit_until_ms(const struct item_limits *limits, uint64_t now_ms)
{
    return now_ms + limits->period_days * DAY_MS;
}

bool limit_allows(uint64_t used, uint32_t quantity, uint32_t most)
{
    return most == 0 || (quantity <= most && used <= most - quantity);
}
