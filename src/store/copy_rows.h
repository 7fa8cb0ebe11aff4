/* SPDX-License-Identifier: Apache-2.0 */
/* store/copy_rows.h: rows on their way into a table, gathered so that one statement writes many of them where
 * the database gains by it. What a row points to is copied: the cursor that it came from may go on.
 * Thread: the connection's. Memory: that of copy_rows_open. Errors: those of the database. */
#ifndef STAMPEDE_STORE_COPY_ROWS_H
#define STAMPEDE_STORE_COPY_ROWS_H

#include "store/copy_table.h"
#include "store/driver.h"

enum { COPY_ROW_VALUES_MAX = 2 * COPY_COLUMNS_MAX };

struct copy_row {
    struct sql_value list[COPY_ROW_VALUES_MAX];
    uint32_t count; /* columns of the table, then what says whether those that may be NULL are */
};

struct copy_rows {
    struct sql_value *values; /* of all rows, one after the other */
    uint8_t *bytes;           /* texts and blobs of them */
    uint32_t rows, used;      /* used: of `bytes` */
};

MUST_CHECK enum status copy_rows_open(struct copy_rows *rows); /* STATUS_AWAY: no memory */
void copy_rows_close(struct copy_rows *rows);                  /* accepts a zeroed one */

/* Inside of a transaction of `to`; all rows between two copy_rows_end are of one table. */
MUST_CHECK enum status copy_rows_add(struct copy_rows *rows, struct sql_connection *to,
    const struct copy_table *table, const struct copy_row *row);
MUST_CHECK enum status copy_rows_end(
    struct copy_rows *rows, struct sql_connection *to, const struct copy_table *table);
void copy_rows_drop(struct copy_rows *rows); /* the transaction was given up */

#endif
