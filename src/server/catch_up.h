/* SPDX-License-Identifier: Apache-2.0 */
/* server/catch_up.h: the orders of a folder that nobody serves, written up to the end of its log.
 * Thread: the caller's. Errors: those of the order writer; `trouble` says more, if it is not NULL. */
#ifndef STAMPEDE_SERVER_CATCH_UP_H
#define STAMPEDE_SERVER_CATCH_UP_H

#include "base/status.h"

#include <stdint.h>

struct order_store;
struct ticket_queue;

struct catch_up {
    uint64_t records, dead; /* that were read; that became dead letters */
    const char *trouble;
};
MUST_CHECK enum status catch_up_run(
    struct catch_up *progress, struct ticket_queue *queue, struct order_store *store);

#endif
