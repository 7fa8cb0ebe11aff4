/* SPDX-License-Identifier: Apache-2.0 */
/* store/schema.h: the tables of a database server, which version they have, and the steps from one version to
 * the next. (SQLite keeps its version in the file, and makes the same steps: store/sqlite/migrate.c.)
 *
 * A new version, say 9:
 *   1. change the CREATE texts (store/tables.c and the files it names): they make new databases
 *   2. add `step_9` to store/tables.c: a list of statements in the forms of store/driver.h that lead from
 *      8 to 9, for all three databases, and end it with NULL; put it at the end of store_steps
 *   3. STORE_SCHEMA_VERSION = 9
 * A step may CREATE TABLE, CREATE INDEX, ALTER TABLE … ADD COLUMN (at the end of the table) or … CHECK
 * (form 8), DROP TABLE, and change rows (INSERT, UPDATE, DELETE). It renames nothing. Its texts never
 * change afterwards. Tests compare what the steps make with what the CREATE texts make
 * (tests/unit/store/sqlite/migrate_test.c, tests/seam/schema_suite.c).
 *
 * Thread: the connection's. Errors: STATUS_CONFLICT: no tables, or tables of another version; STATUS_AWAY:
 * the database can't be reached. `error` says what is wrong, and what helps. */
#ifndef STAMPEDE_STORE_SCHEMA_H
#define STAMPEDE_STORE_SCHEMA_H

#include "store/driver.h"

enum {
    STORE_SCHEMA_FIRST = 8,    /* of servers; the steps up to it are SQLite's own */
    STORE_SCHEMA_VERSION = 20, /* also that of a SQLite file */
};

/* Where a migration leads, and by which steps: steps[0] from STORE_SCHEMA_FIRST to the next version. */
struct schema_plan {
    uint64_t version;
    const char *const *const *steps;
};

/* What a server does before it serves: changes nothing. */
MUST_CHECK enum status store_schema_check(struct sql_connection *, char *error, size_t error_bytes);
/* What `stampede store migrate` does. *before: the version that the tables had, 0: there were none, or not
 * all. Killed at any moment it goes on with the statement that was not finished when it is called again,
 * also on a database that commits each change of a table by itself (MariaDB). */
MUST_CHECK enum status store_schema_migrate(
    struct sql_connection *, uint64_t *before, char *error, size_t error_bytes);
/* The same to another version, for tests. */
MUST_CHECK enum status store_schema_follow(struct sql_connection *, const struct schema_plan *,
    uint64_t *before, char *error, size_t error_bytes);

#endif
