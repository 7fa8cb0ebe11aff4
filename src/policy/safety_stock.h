/* SPDX-License-Identifier: Apache-2.0 */
/* policy/safety_stock.h: how many units of an item should be kept back.
 *
 * base = (returns + exchanges + defects + loss + other) ÷ units sold, of finished sales; without any sale,
 * SAFETY_BASE_STANDARD. The rate is the base, brought within two bounds; units are rounded up. Rates are in
 * thousandths.
 * Thread: any; pure functions. */
#ifndef STAMPEDE_POLICY_SAFETY_STOCK_H
#define STAMPEDE_POLICY_SAFETY_STOCK_H

#include "contract/channels.h"

enum { RATE_THOUSAND = 1000, SAFETY_BASE_STANDARD = 100 };

struct safety_bounds { /* thousandths; least ≤ most ≤ RATE_THOUSAND */
    uint32_t least, most;
};
struct safety_suggestion {
    uint32_t base, rate; /* thousandths; base is rounded up and at most RATE_THOUSAND */
    uint32_t units;
};
/* `units`: what could be sold if nothing was kept back. */
struct safety_suggestion safety_stock_suggest(
    const struct safety_history *history, const struct safety_bounds *bounds, uint32_t units);

#endif
