/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/connection.h: SQLite's side of store/driver.h, for the files of this folder. A statement is
 * prepared at its first use and kept until close. `finish` resets it, so that no read transaction stays
 * open after an answer. */
#ifndef STAMPEDE_STORE_SQLITE_CONNECTION_H
#define STAMPEDE_STORE_SQLITE_CONNECTION_H

#include "store/driver.h"

#include <sqlite3.h>

/* Prepared statements by the addresses of their texts; about three times as many as there are. */
enum { SQLITE_STATEMENTS_MAX = 512 };
struct sqlite_statement {
    struct sql_row row; /* first: the cursor's address is the statement's */
    const char *sql;    /* NULL: free */
    sqlite3_stmt *prepared;
};

struct sqlite_connection {
    struct sql_connection connection; /* first: the driver's handle is this one's address */
    sqlite3 *database;
    char *path;
    char *vfs; /* NULL: the default */
    struct sqlite_statement kept[SQLITE_STATEMENTS_MAX];
};

static inline struct sqlite_connection *sqlite_of(struct sql_connection *connection)
{
    return (struct sqlite_connection *)connection;
}

void sqlite_library_start(void); /* before the first connection */
enum status sqlite_status(int result);
/* `flags` of sqlite3_open_v2. Anything but STATUS_OK: `error` says why. */
MUST_CHECK enum status sqlite_connect(struct sqlite_connection **, const char *path,
    const char *vfs, int flags, char *error, size_t error_bytes);
void sqlite_disconnect(struct sql_connection *);
/* Statements without what stands in braces (store/driver.h, forms 5 and 6). */
MUST_CHECK int sqlite_script_run(sqlite3 *, const char *sql);
MUST_CHECK enum status sqlite_script(struct sql_connection *, const char *sql);

/* schema.c: pragmas, tables, version. */
MUST_CHECK enum status sqlite_schema_open(struct sqlite_connection *, char *error, size_t error_bytes);

#endif
