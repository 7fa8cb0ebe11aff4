/* SPDX-License-Identifier: Apache-2.0 */
/* store/copy.h: the rows of one database into another one of the same schema (`stampede migrate`). Which
 * tables and columns there are is read from the CREATE texts (store_tables), so a new one is never forgotten.
 * Left out is what belongs to a database and not to the shop: store_identity, parts, leases, members and
 * journal_entries (store/moving.h).
 *
 * Rows go in the order of their primary keys, COPY_ROWS of them in a transaction. So what is there after a
 * kill is the beginning of each table, and copying goes on after the last key.
 * Thread: that of both connections. Errors: those of the databases, and `error` says in one sentence what is
 * wrong; STATUS_CONFLICT: the copy is not what it should be. */
#ifndef STAMPEDE_STORE_COPY_H
#define STAMPEDE_STORE_COPY_H

#include "store/driver.h"

enum { COPY_ROWS = 512 };

struct copy_table;
struct store_copy {
    struct sql_connection *from, *to;
    /* After each transaction and at the end of a table, with its rows so far. */
    void (*told)(void *context, const char *table, uint64_t rows);
    void *context;
    uint64_t rows;   /* of all tables */
    uint32_t tables; /* that have rows */
    char error[240];
    struct copy_table *list; /* of store_copy_open */
    uint32_t count;
};

/* `from`, `to` and `told` are the caller's. Drivers know a statement by the address of its text: closed
 * after both connections. STATUS_AWAY: no memory. */
MUST_CHECK enum status store_copy_open(struct store_copy *copy);
void store_copy_close(struct store_copy *copy); /* accepts a zeroed one */

/* Whether `to` has no rows. */
MUST_CHECK enum status store_copy_look(struct store_copy *copy, bool *empty);
/* Copies what is not there yet, and lifts the counters of AUTOINCREMENT. */
MUST_CHECK enum status store_copy_run(struct store_copy *copy);
/* Each row of each table, byte by byte. */
MUST_CHECK enum status store_copy_compare(struct store_copy *copy);

#endif
