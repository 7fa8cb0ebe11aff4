/* SPDX-License-Identifier: Apache-2.0 */
/* worker/sale_commands.h: bringing sales and items from the database to the inventory, with the
 * answer waited for (worker/errands.h).
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_SALE_COMMANDS_H
#define STAMPEDE_WORKER_SALE_COMMANDS_H

#include "base/status.h"

#include <stdbool.h>

struct errands;
struct command;
struct item;
struct order_store;
struct outcome;
struct sale;

enum preheat_result {
    PREHEAT_DONE,
    PREHEAT_UNCHANGED,
    PREHEAT_REFUSED,
    PREHEAT_AWAY,    /* it was not changed */
    PREHEAT_UNKNOWN, /* no answer: it may be */
};
struct command preheat_command(const struct item *item);
/* First its units are taken from the product's stock, if that has one: *item is as it is then. */
enum preheat_result item_preheat(struct order_store *store, struct errands *errands,
    const struct sale *sale, struct item *item, struct outcome *outcome);
/* The terms of a sale that the inventory knows are the inventory's. A row may be behind it. */
MUST_CHECK enum status sale_terms(struct errands *errands, struct sale *sale, bool *known);
/* Makes these its terms. */
MUST_CHECK enum status sale_define(
    struct errands *errands, const struct sale *sale, struct outcome *outcome);
/* Defines it with the terms of the row, if the inventory does not know it yet. */
MUST_CHECK enum status sale_ensure(
    struct errands *errands, const struct sale *sale, struct outcome *outcome);

#endif
