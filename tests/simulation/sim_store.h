/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/sim_store.h: an order store with bad days: away for a while, refusing some
 * records for a while and some tickets for good. Stands before the model store or SQLite; passes
 * everything else through. */
#ifndef STAMPEDE_TESTS_SIMULATION_SIM_STORE_H
#define STAMPEDE_TESTS_SIMULATION_SIM_STORE_H

#include "base/random.h"
#include "contract/order_store.h"

enum { SIM_STORE_RECORDS = 2048 };
enum sim_verdict {
    SIM_TAKE,
    SIM_REFUSE_SOME_TIMES, /* fewer than ORDER_TRIES_MAX times */
    SIM_REFUSE_LIMIT,      /* for good, as a guard: the order is rejected, its units go back */
    SIM_REFUSE_UNKNOWN,    /* for good, for no reason we know: a dead letter */
};

struct sim_store {
    struct order_store store; /* first: a store is this */
    struct order_store *inner;
    struct random *random;
    bool away;
    uint32_t refusing; /* one in so many records has a bad day; 0: none */
    uint64_t salt;
    uint8_t refused[SIM_STORE_RECORDS]; /* times, by LSN */
};

void sim_store_start(struct sim_store *store, struct order_store *inner, struct random *random,
    uint64_t salt, uint32_t refusing);
/* What the database thinks of this record, the same every time it is asked. */
enum sim_verdict sim_store_verdict(const struct sim_store *store, const struct queue_record *record);

#endif
