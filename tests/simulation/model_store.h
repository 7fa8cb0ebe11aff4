/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/model_store.h: the order store as a few arrays: what every order store must do,
 * said once more in the simplest way, and fast enough for thousands of sales a second. Passes the
 * same suite as SQLite (tests/seam/store_model_test.c). Nothing is written to disk: what apply has
 * answered with STATUS_OK is "committed". Thread: one at a time. Memory: malloc, freed by
 * ops->close. */
#ifndef STAMPEDE_TESTS_MODEL_STORE_H
#define STAMPEDE_TESTS_MODEL_STORE_H

#include "contract/order_store.h"

struct model_store_config {
    uint32_t orders; /* room for so many at first; grows by itself */
};

MUST_CHECK enum status model_store_open(
    struct order_store **store, const struct model_store_config *config);

/* The process that used the store is gone, and a new one opens it: everything committed is still
 * there, and nothing of a group that had not ended. */
void model_store_crash(struct order_store *store);

/* The next `times` calls of apply fail, or ends of groups (MODEL_FAULT_AWAY). */
enum model_fault {
    MODEL_FAULT_NONE,
    MODEL_FAULT_AWAY,        /* STATUS_AWAY, nothing was written */
    MODEL_FAULT_ANSWER_LOST, /* STATUS_AWAY, although everything was written */
    MODEL_FAULT_REFUSED,     /* STATUS_REFUSED without saying which record, nothing was written */
};
void model_store_fail(struct order_store *store, enum model_fault fault, uint32_t times);

#endif
