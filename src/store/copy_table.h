/* SPDX-License-Identifier: Apache-2.0 */
/* store/copy_table.h: a table as its CREATE text says, and the statements that copy it.
 * Thread: any. Memory: the caller's. Drivers know a statement by its address: a table stays where it is. */
#ifndef STAMPEDE_STORE_COPY_TABLE_H
#define STAMPEDE_STORE_COPY_TABLE_H

#include "base/span.h"
#include "base/status.h"

enum { COPY_COLUMNS_MAX = 40, COPY_KEYS_MAX = 3, COPY_NAME_MAX = 40 };
enum { COPY_SQL_BYTES = 4096, COPY_MANY_BYTES = 64 * 1024 };
enum { COPY_MANY_ROWS = 64 }; /* of one statement, at most */

struct copy_column {
    char name[COPY_NAME_MAX + 1];
    enum { COPY_NUMBER, COPY_TEXT, COPY_BLOB } kind;
    bool may_be_null; /* then a column after all of them says whether it is */
};

struct copy_table {
    char name[COPY_NAME_MAX + 1];
    struct copy_column columns[COPY_COLUMNS_MAX];
    uint32_t column_count, null_count; /* null_count: those that may be NULL */
    uint32_t keys[COPY_KEYS_MAX];      /* columns of the primary key, in its order */
    uint32_t key_count;
    bool counts; /* its key is AUTOINCREMENT */
    /* first: a page from the beginning; last: the highest key; count: its rows.
     * next[i]: a page after a key, of rows with the same first i columns of it. So each page is a range of
     * the primary key in every database; a page after the whole key begins with the last `next`. */
    char first[COPY_SQL_BYTES], next[COPY_KEYS_MAX][COPY_SQL_BYTES];
    char last[COPY_SQL_BYTES], count[COPY_NAME_MAX + 32];
    char insert[COPY_SQL_BYTES], many[COPY_MANY_BYTES]; /* one row; many_rows of them */
    uint32_t many_rows;
};

/* The next CREATE TABLE of a script; *script moves behind it. False: there is none. `page`: how many rows
 * are copied in a transaction. */
MUST_CHECK bool copy_table_take(struct span *script, struct copy_table *table, uint32_t page);

#endif
