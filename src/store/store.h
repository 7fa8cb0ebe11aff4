/* SPDX-License-Identifier: Apache-2.0 */
/* store/store.h: the order store (contract/order_store.h) on a connection of any driver. docs/store.md has
 * the tables.
 * Thread: the store thread only. Errors: as contract/order_store.h says. */
#ifndef STAMPEDE_STORE_STORE_H
#define STAMPEDE_STORE_STORE_H

#include "contract/order_store.h"
#include "store/driver.h"

/* The tables, in the order in which they can be made; NULL ends the list. */
extern const char *const store_tables[];
/* What leads from the tables of one version to those of the next: store/schema.h. NULL ends each, and all. */
extern const char *const *const store_steps[];

/* The rows that new tables begin with, in the transaction that makes them. */
MUST_CHECK enum status store_first_rows(struct sql_connection *);

/* Takes the connection, whose tables are there, if it answers STATUS_OK. STATUS_AWAY: no memory. */
MUST_CHECK enum status store_make(struct sql_connection *, struct order_store **);
struct sql_connection *store_connection(struct order_store *);
/* For tests: an item's orders come in lots of so many (store/lots.h) where the database keeps them so. */
void store_lots_set(struct order_store *, uint32_t orders);

#endif
