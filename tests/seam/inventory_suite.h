/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/inventory_suite.h: the rules of the inventory seam (contract/inventory.h), run
 * unchanged against every implementation. Talks through ports only; the maker brings the inventory
 * to life and lets it work. */
#ifndef STAMPEDE_TESTS_INVENTORY_SUITE_H
#define STAMPEDE_TESTS_INVENTORY_SUITE_H

#include "contract/inventory.h"

enum { INVENTORY_SUITE_PORTS = 2 };

struct inventory_suite_maker {
    const char *name;
    /* A fresh inventory with room for items 1 … 3, sales 1 … 2 and 200 tickets. */
    void *(*open)(void);
    void (*close)(void *made);
    struct inventory_port *(*port)(void *made, uint32_t index);
    /* Server time is now_ms; returns when everything that was flushed has been answered. */
    void (*run)(void *made, uint64_t now_ms);
    /* Killed and started again; the ports are new. */
    void (*restart)(void *made);
};

int inventory_suite_run(const struct inventory_suite_maker *implementation); /* what main returns */

#endif
