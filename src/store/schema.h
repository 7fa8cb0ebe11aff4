/* SPDX-License-Identifier: Apache-2.0 */
/* store/schema.h: the tables of a database server, and which version they have. (SQLite keeps its version
 * in the file, store/sqlite/schema.c.)
 * Thread: the connection's. Errors: STATUS_CONFLICT: no tables, or tables of another version; STATUS_AWAY:
 * the database can't be reached. `error` says what is wrong, and what helps. */
#ifndef STAMPEDE_STORE_SCHEMA_H
#define STAMPEDE_STORE_SCHEMA_H

#include "store/driver.h"

/* Also that of a SQLite file. Each version has a step that leads to it from the one before. */
enum { STORE_SCHEMA_VERSION = 8 };

/* What a server does before it serves: changes nothing. */
MUST_CHECK enum status store_schema_check(struct sql_connection *, char *error, size_t error_bytes);
/* What `stampede store migrate` does. *made: there were no tables. Killed in between it goes on
 * with the script that was not finished when it is called again; a database that commits each table by
 * itself (MariaDB) then says which one is there already. */
MUST_CHECK enum status store_schema_migrate(
    struct sql_connection *, bool *made, char *error, size_t error_bytes);

#endif
