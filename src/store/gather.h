/* SPDX-License-Identifier: Apache-2.0 */
/* store/gather.h: the new orders and counters of a batch, which a database server takes by one statement
 * instead of one each. They are written before anything of the batch reads them. */
#ifndef STAMPEDE_STORE_GATHER_H
#define STAMPEDE_STORE_GATHER_H

#include "store/parts.h"

enum { GATHER_MIN = 2 }; /* records of a batch, from which on it pays */

/* Whether this batch gathers; a batch that can't be written so is applied again, row by row. */
bool store_gathers(const struct store_batch *);
/* STATUS_AWAY: no memory. Both write what was gathered when there is no more room. */
MUST_CHECK enum status store_gather_order(
    struct store_batch *, const struct store_ticket *, uint64_t slot);
MUST_CHECK enum status store_gather_counter(
    struct store_batch *, uint64_t scope, user_id, uint32_t quantity);
/* STATUS_REFUSED: a row was there already, or broke a rule; which one is not known. */
MUST_CHECK enum status store_gather_flush(struct store_batch *);
void store_gather_clear(struct store *);
void store_gather_free(struct store *);

#endif
