/* SPDX-License-Identifier: Apache-2.0 */
/* policy/allocation.h: how the units of an item are shared out among its channels.
 *
 * share of a channel = weight of sales × its share of the units sold
 *                    + weight of conversion × its share of the conversions (paid orders ÷ visits)
 *                    + weight of value × its share of the mean order values
 * All numbers are whole; shares are in millionths and add up to SHARE_ONE exactly. Where a part has no
 * data at all, the channels share it equally. That is also done with conversion when a channel with paid
 * orders has no visits: then nobody knows how the channels compare. A channel without data in a part that
 * others have gets nothing of it. Units are shared out by largest remainder: they add up exactly, and a
 * larger share never gets fewer units. Of equal remainders the larger share goes first, then the channel
 * with the lower number. Thread: any; pure functions, no memory of their own. */
#ifndef STAMPEDE_POLICY_ALLOCATION_H
#define STAMPEDE_POLICY_ALLOCATION_H

#include "contract/channels.h"

enum { SHARE_ONE = 1000000, WEIGHTS_ONE = 1000, WEIGHTS_ROUNDING = 1 };

struct allocation_weights { /* thousandths */
    uint32_t sales, conversion, value;
};
/* Whether they add up to WEIGHTS_ONE, give or take WEIGHTS_ROUNDING. */
bool allocation_weights_are_good(const struct allocation_weights *weights);

struct allocation {
    uint32_t sales[CHANNELS_MAX], conversion[CHANNELS_MAX], value[CHANNELS_MAX]; /* each adds up to one */
    uint32_t share[CHANNELS_MAX];
    bool conversion_known;
};
/* Of 1 to CHANNELS_MAX channels; weights that are good. */
void allocation_shares(const struct sales_figures *figures, uint32_t count,
    const struct allocation_weights *weights, struct allocation *out);
/* All shares 0: equal ones. Σ out = units. */
void allocation_units(uint32_t units, const uint32_t *shares, uint32_t count, uint32_t *out);

struct allocation_move {
    channel_index from, to;
    uint32_t quantity;
};
/* What leads from `now` to `wanted`, which have the same sum. Answers how many: at most count − 1. */
uint32_t allocation_moves(
    const uint32_t *now, const uint32_t *wanted, uint32_t count, struct allocation_move *moves);

#endif
