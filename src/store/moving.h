/* SPDX-License-Identifier: Apache-2.0 */
/* store/moving.h: a database server into which a shop of one machine is moved (`stampede migrate`,
 * docs/decisions/0048-a-shop-moves-with-its-log.md). The row of store_identity says that it is being filled,
 * and by which move; no server serves it then. The log of the folder becomes the entries of partition 0.
 * Thread: the connection's. Errors: those of the database. */
#ifndef STAMPEDE_STORE_MOVING_H
#define STAMPEDE_STORE_MOVING_H

#include "contract/journal_entry.h"
#include "store/driver.h"

struct store_move {
    uint64_t data_id; /* 0: nobody has used the database */
    uint64_t secret_check;
    uint64_t move; /* a number by chance, of one move; 0: no shop was moved here */
    bool filling;  /* that move has not ended */
};
MUST_CHECK enum status store_move_read(struct sql_connection *, struct store_move *);
/* It is filled from now on. STATUS_CONFLICT: somebody has begun to use it. */
MUST_CHECK enum status store_move_begin(struct sql_connection *, const struct store_move *);
/* The first number of the last entry of partition 0; 0: it has none. */
MUST_CHECK enum status store_move_log_end(struct sql_connection *, uint64_t *first_seq);
MUST_CHECK enum status store_move_entry(struct sql_connection *, const struct journal_entry *);
/* Partition 0 is at the end of its log, and has the sales up to this number. */
MUST_CHECK enum status store_move_part(struct sql_connection *, uint64_t seq, uint64_t sales);
MUST_CHECK enum status store_move_open(struct sql_connection *, uint64_t move); /* servers may serve it */

/* The highest number of a sale; 0: none. And how many items have units in this channel. */
MUST_CHECK enum status store_move_sales(struct sql_connection *, uint64_t *last);
MUST_CHECK enum status store_move_last_channel(struct sql_connection *, uint64_t *items);

#endif
