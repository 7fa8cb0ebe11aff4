/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/sim_queue.h: the ticket queue as a bad network would be: late, and some records
 * more than once. Serves what the model has read from the real queue. */
#ifndef STAMPEDE_TESTS_SIMULATION_SIM_QUEUE_H
#define STAMPEDE_TESTS_SIMULATION_SIM_QUEUE_H

#include "base/random.h"
#include "contract/ticket_queue.h"
#include "tests/simulation/model.h"

struct sim_queue {
    struct ticket_queue queue; /* first: a queue is this */
    const struct model *model;
    struct random *random;
    lsn_t given; /* last one polled */
    lsn_t most;  /* the furthest ever given since the seek */
    bool late;   /* nothing comes for now */
    bool away;   /* can't be read for now */
};

void sim_queue_start(struct sim_queue *queue, const struct model *model, struct random *random);

#endif
