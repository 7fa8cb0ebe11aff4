/* SPDX-License-Identifier: Apache-2.0 */
/* tests/seam/queue_suite.h: the rules of the ticket queue (contract/ticket_queue.h), run
 * unchanged against every implementation. Positions need not be dense: they only grow. */
#ifndef STAMPEDE_TESTS_QUEUE_SUITE_H
#define STAMPEDE_TESTS_QUEUE_SUITE_H

#include "contract/ticket_queue.h"

struct queue_suite_maker {
    const char *name;
    void *(*open)(void); /* a fresh, empty queue with its producer */
    void (*close)(void *made);
    struct ticket_queue *(*queue)(void *made); /* the reading side; stands before the first record */
    void (*reopen)(void *made); /* the reading side dies and comes back, standing before the first record */
    /* The producing side: appended records are not durable before make_durable. */
    void (*append)(void *made, const struct command *command, const struct outcome *outcome);
    void (*make_durable)(void *made);
};

int queue_suite_run(const struct queue_suite_maker *maker); /* what main returns */

#endif
