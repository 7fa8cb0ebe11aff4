/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/store_suite.h: the rules of contract/order_store.h, for any order store.
 * A test program gives a maker and calls store_suite_run. */
#ifndef STAMPEDE_TESTS_STORE_SUITE_H
#define STAMPEDE_TESTS_STORE_SUITE_H

#include "contract/order_store.h"

struct store_maker {
    const char *name;
    struct order_store *(*fresh)(void *context);                       /* a new, empty store */
    struct order_store *(*again)(void *context, struct order_store *); /* the same store, after a restart */
    void (*done)(void *context, struct order_store *);                 /* closed and removed */
    void *context;
};

/* Answers the number of failed rules. */
int store_suite_run(const struct store_maker *chosen);

#endif
