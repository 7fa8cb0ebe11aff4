/* SPDX-License-Identifier: Apache-2.0 */
/* worker/channel_returns.h: units that channels have not sold in their time go back to web. Done again and
 * again while the sale lasts: a second time finds nothing to move, and what comes back to a channel later
 * (an order that was not confirmed) goes to web as well. Thread: the worker's, from within an errand. */
#ifndef STAMPEDE_WORKER_CHANNEL_RETURNS_H
#define STAMPEDE_WORKER_CHANNEL_RETURNS_H

#include "contract/types.h"

struct board;
struct errands;
struct item;
struct sale;

/* Whether the time of the other channels is over, and the sale is not. */
bool channel_return_is_due(const struct item *item, const struct sale *sale, uint64_t now_ms);
/* Moves what is free now; what comes later is moved the next time. `channels`: how many are named. */
void channel_units_return(
    struct errands *errands, const struct board *board, uint32_t channels, item_id item);

#endif
