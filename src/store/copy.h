/* SPDX-License-Identifier: Apache-2.0 */
/* store/copy.h: the rows of one database into another one of the same schema (`stampede migrate`). Which
 * tables and columns there are is read from the CREATE texts (store_tables), so a new one is never forgotten.
 * Left out is what belongs to a database and not to the shop: store_identity, parts, leases, members and
 * journal_entries (store/moving.h).
 *
 * Rows go in the order of their primary keys, a page of them in a transaction. So what is there after a kill
 * is the beginning of each table, and copying goes on after the last key.
 * Thread: that of both connections. Errors: those of the databases, and `error` says in one sentence what is
 * wrong; STATUS_CONFLICT: the copy is not what it should be. */
#ifndef STAMPEDE_STORE_COPY_H
#define STAMPEDE_STORE_COPY_H

#include "store/copy_rows.h"

enum { COPY_ROWS = 512, COPY_ROWS_MIN = 2 };

struct store_copy {
    struct sql_connection *from, *to;
    uint32_t page; /* rows in a transaction; set before store_copy_open, 0: COPY_ROWS */
    /* After each page that was copied or compared: the table that it is of, and all rows so far. NULL: nobody
     * wants to know. */
    void (*told)(void *context, const char *table, uint64_t rows);
    void *context;
    uint64_t rows;   /* of all tables, so far */
    uint64_t found;  /* of these, rows that were there already */
    uint64_t total;  /* rows that `from` has: of store_copy_count */
    uint32_t tables; /* that have rows */
    char error[240];
    struct copy_table *list; /* of store_copy_open */
    uint32_t count;
    struct copy_rows gathered;
};

/* `from`, `to` and `told` are the caller's. Drivers know a statement by the address of its text: closed
 * after both connections. STATUS_AWAY: no memory. */
MUST_CHECK enum status store_copy_open(struct store_copy *copy);
void store_copy_close(struct store_copy *copy); /* accepts a zeroed one */

/* Whether `to` has no rows. */
MUST_CHECK enum status store_copy_look(struct store_copy *copy, bool *empty);
/* How many rows `from` has. */
MUST_CHECK enum status store_copy_count(struct store_copy *copy);
/* Copies what is not there yet, and lifts the counters of AUTOINCREMENT. */
MUST_CHECK enum status store_copy_run(struct store_copy *copy);
/* Each row of each table, byte by byte. */
MUST_CHECK enum status store_copy_compare(struct store_copy *copy);

#endif
