/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/store/place.h: a database in a folder of its own, with one item to sell, and a
 * way around the store to look at and damage what is in the file. */
#ifndef STAMPEDE_TESTS_SQLITE_PLACE_H
#define STAMPEDE_TESTS_SQLITE_PLACE_H

#include "contract/cluster_store.h"

#include <stddef.h>

enum { PLACE_UNITS = 64 * ORDER_BATCH_MAX };

struct place {
    char folder[64], path[96], error[200];
    struct order_store *store;
    item_id item; /* limit 1 */
    lsn_t lsn;    /* of the last record made; its ticket has the same number */
    struct refusal refusal;
};

void place_make(struct place *place); /* folder and path only */
/* Opens; with vfs NULL the default. On a new database the item is made. */
enum status place_open(struct place *place, const char *vfs);
/* Operations of its store that a test may replace, as long as it is open. `real`: what they were. */
struct place_ops {
    struct order_store_ops ops;
    struct cluster_store_ops cluster;
    const struct cluster_store_ops *real;
};
void place_ops_lend(struct place *place, struct place_ops *own);
/* One of them: the database is away. */
enum status place_lease_away(
    struct order_store *store, const char *name, uint64_t holder, uint32_t ms, struct lease *lease);
/* Another one of the same sale; place->item says which is sold. */
item_id place_item_add(struct place *place);
void place_close(struct place *place);
void place_remove(struct place *place); /* closes too */
/* The next record of the log: user buys one unit. */
struct queue_record place_win(struct place *place, user_id user);
enum status place_apply(struct place *place, const struct queue_record *records, uint32_t count);
enum status place_sell(struct place *place, user_id user); /* win + apply */
/* Through a connection of its own; fails the test on an error. place_number answers the first
 * column. */
void place_execute(const struct place *place, const char *sql);
int place_try(const struct place *place, const char *sql); /* the result code */
int64_t place_number(const struct place *place, const char *sql);
/* Whether a row of EXPLAIN QUERY PLAN … says this. */
bool place_plan_has(const struct place *place, const char *sql, const char *words);

#endif
