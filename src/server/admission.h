/* SPDX-License-Identifier: Apache-2.0 */
/* server/admission.h: may this process join the shop's others? What is told by an alarm when it differs
 * (worker/members.h) is not asked here; only what would make orders wrong: the channels, whose numbers stand
 * in the log and in the orders.
 * Its own row is written before the others are read, so of two who start at once at least one sees the other.
 * Thread: start-up. Errors: `error` says what is wrong and what to do. */
#ifndef STAMPEDE_SERVER_ADMISSION_H
#define STAMPEDE_SERVER_ADMISSION_H

#include "contract/cluster_store.h"

/* STATUS_BAD_INPUT: a live member has other channels, and no row of this process is left. A member that was
 * killed a moment ago is waited for, until it does not count any more. */
MUST_CHECK enum status admission_ask(
    struct order_store *store, const struct member *self, char *error, size_t error_bytes);

#endif
