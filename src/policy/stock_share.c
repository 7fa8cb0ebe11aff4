/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/stock_share.h"

static void shorten(uint32_t *units, uint32_t *missing)
{
    const uint32_t taken = *units < *missing ? *units : *missing;
    *units -= taken;
    *missing -= taken;
}

/* Units that were sold before the item was preheated are the item's own: they can't be missing. */
uint32_t stock_share(struct item *item, uint32_t stock)
{
    const uint32_t wanted = item->total - (item->sold < item->total ? item->sold : item->total);
    uint32_t missing = wanted > stock ? wanted - stock : 0;
    const uint32_t granted = wanted - missing;
    item->total -= missing;
    shorten(&item->channel_units[0], &missing);
    shorten(&item->safety, &missing);
    for (uint32_t channel = CHANNELS_MAX - 1; channel > 0; channel--)
        shorten(&item->channel_units[channel], &missing);
    shorten(&item->locked, &missing);
    return granted;
}

uint32_t stock_back(
    item_id item, const struct item_counts *counts, struct command commands[STOCK_BACK_MAX])
{
    uint32_t count = 0;
    for (uint32_t place = 0; place <= CHANNELS_MAX; place++) {
        const bool safety = place == CHANNELS_MAX;
        const uint32_t units = safety ? counts->safety : counts->channel_free[place];
        if (units > 0)
            commands[count++] = (struct command){ .type = COMMAND_ADJUST,
                .adjust = { .item = item,
                    .channel = safety ? CHANNEL_SAFETY : (channel_index)place,
                    .delta = -(int32_t)units } };
    }
    return count;
}
