/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/broker_suite.h: the rules of a broker (queue/broker.h), run unchanged against every one. */
#ifndef STAMPEDE_TESTS_SEAM_BROKER_SUITE_H
#define STAMPEDE_TESTS_SEAM_BROKER_SUITE_H

#include "queue/broker.h"

struct broker_suite_maker {
    const char *name;
    struct broker *(*open)(void);    /* an empty one, in which partitions 3 and 5 share a place */
    void (*refuse)(struct broker *); /* what is not acknowledged is refused */
};

int broker_suite_run(const struct broker_suite_maker *maker); /* what main returns */
/* Turns until all that was sent is acknowledged; a failed test after a minute. */
void broker_acked(struct broker *broker, const struct broker_line *line);
void broker_ready(struct broker *broker); /* turns until nothing is wrong */

#endif
