/* SPDX-License-Identifier: Apache-2.0 */
/* contract/report.h: what the final report of a sale is made of, as the order store keeps it. Counts
 * of the funnel are added to as the sale goes on, so that a restart loses seconds at most; the rest
 * is read from the orders.
 * Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_REPORT_H
#define STAMPEDE_CONTRACT_REPORT_H

#include "contract/order_store.h"

enum { LAYER_NAME_MAX = 48, LAYERS_MAX = 128, CURRENCIES_MAX = 8 };
/* Seconds beside another open sale: written by earlier versions, which could not tell them apart. */
static const char LAYER_OVERLAP[] = "overlap";
static const char LAYER_OPENED[] = "opened";     /* when it was opened by hand, ms; set once */
static const char LAYER_SOLD_OUT[] = "sold-out"; /* the time when no unit was left, ms; set once */

struct sale_count {
    char layer[LAYER_NAME_MAX + 1];
    uint64_t count;
};
struct sale_money {
    char currency[4];
    uint64_t paid, refunded; /* Σ amount of orders that are */
};
struct sale_figures {
    uint64_t winners; /* users */
    uint64_t orders[ORDER_STATES], units[ORDER_STATES];
    uint64_t closed[ORDER_REASONS]; /* orders, by reason */
    uint32_t currencies;
    struct sale_money money[CURRENCIES_MAX];
    uint64_t payments, median_ms, p95_ms; /* from order to payment */
};

struct report_store_ops {
    /* One transaction. LAYER_SOLD_OUT and LAYER_OPENED are kept as they were first set. */
    enum status (*counts_add)(struct order_store *, sale_id, const struct sale_count *, uint32_t count);
    enum status (*counts)(
        struct order_store *, sale_id, struct sale_count *, uint32_t max, uint32_t *count);
    enum status (*figures)(struct order_store *, sale_id, struct sale_figures *);
};

#endif
