/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/store_writers.h: several connections write orders, payments and places of the same items at
 * once; accounting and money must be exact at every moment. Each program gives a database. */
#ifndef STAMPEDE_TESTS_STORE_WRITERS_H
#define STAMPEDE_TESTS_STORE_WRITERS_H

#include "contract/order_store.h"

struct writers_database {
    const char *name;
    uint32_t connections;
    /* A new connection each time; the first one makes the tables. NULL: it says why. */
    struct order_store *(*open)(void);
};

/* What main() answers. --seconds N: how long (else 3). */
int store_writers_run(const struct writers_database *database, int argc, char **argv);

/* Rules of accounting and money, each by one statement, which sees one moment. Answers how many of them are
 * broken, and says which. */
uint32_t store_writers_check(struct order_store *store);

#endif
