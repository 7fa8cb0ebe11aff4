/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/inventory_suite.h: the rules of the inventory seam (contract/inventory.h), run
 * unchanged against every implementation. Knows the seam only; the maker brings the inventory to
 * life and lets it work. */
#ifndef STAMPEDE_TESTS_INVENTORY_SUITE_H
#define STAMPEDE_TESTS_INVENTORY_SUITE_H

#include "contract/inventory.h"

enum { INVENTORY_SUITE_PORTS = 2 };

struct inventory_suite_maker {
    const char *name;
    /* Rules that it can't have, each with the reason; NULL: it has them. */
    const char *no_reclaim; /* COMMAND_RECLAIM */
    const char *no_hold;    /* wins_until */
    const char *no_failing; /* it fails for good */
    /* A fresh inventory with INVENTORY_SUITE_PORTS ports and room for items 1 … 3, sales 1 … 2, 200 tickets
     * and 100 arrivals. */
    void *(*open)(void);
    void (*close)(void *made);
    struct inventory *(*inventory)(void *made); /* until the next restart */
    /* Server time is now_ms; returns when everything that was flushed has been answered, and the board shows
     * it. */
    void (*run)(void *made, uint64_t now_ms);
    /* Takes its medium away, for good; NULL with no_failing. */
    void (*break_medium)(void *made);
    /* Killed and started again; the ports are new. */
    void (*restart)(void *made);
};

int inventory_suite_run(const struct inventory_suite_maker *implementation); /* what main returns */

#endif
