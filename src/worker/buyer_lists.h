/* SPDX-License-Identifier: Apache-2.0 */
/* worker/buyer_lists.h: when a sale is over, its buyers are listed (contract/order_store.h), a few at a
 * time: the orders of a user are then found without a look at each item that was ever sold.
 * Why: docs/decisions/0030-buyers-are-listed-after-the-sale.md.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_BUYER_LISTS_H
#define STAMPEDE_WORKER_BUYER_LISTS_H

#include "worker/task.h"

struct order_store;

struct task buyer_lists_task(struct order_store *store);

#endif
