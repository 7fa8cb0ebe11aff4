/* SPDX-License-Identifier: Apache-2.0 */
/* store/moving.h: a database server into which a shop of one machine is moved (`stampede migrate`,
 * docs/decisions/0048-a-shop-moves-with-its-log.md). The row of store_identity says that it is being filled,
 * and by which move; no server serves it then. The log of the folder becomes the entries of partition 0.
 * And back (0053-a-shop-moves-back-as-its-state.md): then the same row says that it is sealed, and in the end
 * which folder has the shop. `filling` is set for both; numbers of moves to this database are odd, those of
 * folders are even.
 * Thread: the connection's. Errors: those of the database. */
#ifndef STAMPEDE_STORE_MOVING_H
#define STAMPEDE_STORE_MOVING_H

#include "contract/cluster_store.h"
#include "contract/journal_entry.h"
#include "store/driver.h"

enum { STORE_SEALED = 2 }; /* in `move`: it leaves, and no folder has it yet */

struct store_move {
    uint64_t data_id; /* 0: nobody has used the database */
    uint64_t secret_check;
    uint64_t move; /* a number by chance, of one move; 0: no shop was moved here */
    bool filling;  /* that move has not ended; or the shop leaves, or has left */
};
enum shop_moving store_move_state(const struct store_move *);
MUST_CHECK enum status store_move_read(struct sql_connection *, struct store_move *);
/* It is filled from now on. STATUS_CONFLICT: somebody has begun to use it. */
MUST_CHECK enum status store_move_begin(struct sql_connection *, const struct store_move *);
/* The first number of the last entry of partition 0; 0: it has none. */
MUST_CHECK enum status store_move_log_end(struct sql_connection *, uint64_t *first_seq);
MUST_CHECK enum status store_move_entry(struct sql_connection *, const struct journal_entry *);
/* Partition 0 is at the end of its log, and has the sales up to this number. */
MUST_CHECK enum status store_move_part(struct sql_connection *, uint64_t seq, uint64_t sales);
MUST_CHECK enum status store_move_open(struct sql_connection *, uint64_t move); /* servers may serve it */

/* The way back. Nobody serves the shop from now on. STATUS_CONFLICT: it moves already. */
MUST_CHECK enum status store_move_seal(struct sql_connection *);
/* A folder has the shop, once and for good: `move` is its number. STATUS_CONFLICT: another one has it. */
MUST_CHECK enum status store_move_leave(struct sql_connection *, uint64_t move);
MUST_CHECK enum status store_move_position(struct sql_connection *, uint64_t seq); /* of partition 0 */
MUST_CHECK enum status store_move_dead(struct sql_connection *, uint64_t *open); /* dead letters */

/* The highest number of a sale; 0: none. And how many items have units in this channel. */
MUST_CHECK enum status store_move_sales(struct sql_connection *, uint64_t *last);
MUST_CHECK enum status store_move_last_channel(struct sql_connection *, uint64_t *items);

#endif
