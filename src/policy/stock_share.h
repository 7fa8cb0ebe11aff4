/* SPDX-License-Identifier: Apache-2.0 */
/* policy/stock_share.h: a product that has a stock of its own, and the items of overlapping sales that take
 * from it when they are preheated. Pure functions. */
#ifndef STAMPEDE_POLICY_STOCK_SHARE_H
#define STAMPEDE_POLICY_STOCK_SHARE_H

#include "contract/command.h"
#include "contract/order_store.h"

/* The item gets what it wants, or what there is. What is missing is taken from the web channel first,
 * then from the safety stock, from the other channels, the last one first, and from the locked units.
 * Answers how many it takes from the product: never more than `stock`. */
uint32_t stock_share(struct item *item, uint32_t stock);

/* What gives all units of the item that nobody has back to the product: one ADJUST for each place where units
 * lie; its record adds them to the product's stock. Answers how many. */
enum { STOCK_BACK_MAX = CHANNELS_MAX + 1 };
uint32_t stock_back(
    item_id item, const struct item_counts *counts, struct command commands[STOCK_BACK_MAX]);

#endif
