/* SPDX-License-Identifier: Apache-2.0 */
/* One row of stampede_schema says which version the tables have, and how many of the scripts that make them
 * are done: some databases commit each change of a table by itself. */
#include "store/schema.h"

#include "store/parts.h"
#include "store/store.h"

#include <stdio.h>

/* 0 while the tables are being made. */
static const char version_read[] = "SELECT version, scripts FROM stampede_schema WHERE id = 1";

/* STATUS_CORRUPT: there is no table that says it. STATUS_NOT_FOUND: it has no row. */
static enum status schema_read(struct sql_connection *connection, uint64_t *version, uint64_t *scripts)
{
    struct sql_row *row;
    *version = *scripts = 0;
    enum status status = connection->driver->query(connection, version_read, NO_VALUES, &row);
    if (status == STATUS_OK) {
        status = connection->driver->next(row);
        if (status == STATUS_OK) {
            *version = column_u64(row, 0);
            *scripts = column_u64(row, 1);
        }
        connection->driver->finish(row);
    }
    return status;
}

static bool is_missing(enum status status)
{
    return status == STATUS_CORRUPT || status == STATUS_NOT_FOUND;
}

static enum status failed(struct sql_connection *connection, enum status status, const char *what,
    char *error, size_t error_bytes)
{
    if (status != STATUS_OK)
        snprintf(error, error_bytes, "%s: %s", what, connection->driver->message(connection));
    return status;
}

enum status store_schema_check(struct sql_connection *connection, char *error, size_t error_bytes)
{
    uint64_t version, scripts;
    const enum status status = schema_read(connection, &version, &scripts);
    if (status != STATUS_OK && !is_missing(status))
        return failed(connection, status, "the version of the tables can't be read", error, error_bytes);
    if (version == STORE_SCHEMA_VERSION)
        return STATUS_OK;
    if (version > STORE_SCHEMA_VERSION)
        snprintf(error, error_bytes,
            "the database has schema version %llu of a newer program; this one needs version %d",
            (unsigned long long)version, STORE_SCHEMA_VERSION);
    else
        snprintf(error, error_bytes, "the database has %s: run 'stampede store migrate' first",
            is_missing(status) ? "no tables of ours"
                : version == 0 ? "tables that are not all there"
                               : "tables of an older version");
    return STATUS_CONFLICT;
}

static enum status table_begin(struct sql_connection *connection, bool there)
{
    enum status status = there
        ? STATUS_OK
        : connection->driver->script(connection,
            "CREATE TABLE stampede_schema(id INTEGER PRIMARY KEY, version INTEGER NOT NULL,"
            " scripts INTEGER NOT NULL) STRICT;");
    if (status == STATUS_OK)
        status = sql_run(connection,
            "INSERT INTO stampede_schema(id, version, scripts) VALUES(1, 0, 0)", NO_VALUES);
    return status;
}

/* `status` so far: kept, or dropped and said why. */
static enum status ended(struct sql_connection *connection, enum status status, const char *what,
    char *error, size_t error_bytes)
{
    if (status == STATUS_OK)
        status = connection->driver->commit(connection);
    (void)!failed(connection, status, what, error, error_bytes);
    if (status != STATUS_OK)
        connection->driver->rollback(connection);
    return status;
}

/* One script and the row that says so, in one transaction. */
static enum status script_run(
    struct sql_connection *connection, uint64_t number, char *error, size_t error_bytes)
{
    enum status status = connection->driver->begin(connection);
    if (status == STATUS_OK)
        status = connection->driver->script(connection, store_tables[number - 1]);
    if (status == STATUS_OK)
        status = sql_run(connection,
            "UPDATE stampede_schema SET scripts = ?1 WHERE id = 1 AND version = 0",
            VALUES(U64(number)));
    return ended(connection, status, "making the tables", error, error_bytes);
}

static enum status tables_end(struct sql_connection *connection, char *error, size_t error_bytes)
{
    enum status status = connection->driver->begin(connection);
    if (status == STATUS_OK)
        status = store_first_rows(connection);
    if (status == STATUS_OK)
        status = sql_run(connection,
            "UPDATE stampede_schema SET version = ?1 WHERE id = 1 AND version = 0",
            VALUES(U64(STORE_SCHEMA_VERSION)));
    return ended(connection, status, "the first rows", error, error_bytes);
}

enum status store_schema_migrate(
    struct sql_connection *connection, bool *made, char *error, size_t error_bytes)
{
    uint64_t version, scripts;
    enum status status = schema_read(connection, &version, &scripts);
    *made = is_missing(status) || (status == STATUS_OK && version == 0);
    if (!*made)
        return status == STATUS_OK
            ? store_schema_check(connection, error, error_bytes)
            : failed(connection, status, "reading the version", error, error_bytes);
    if (is_missing(status))
        status = table_begin(connection, status == STATUS_NOT_FOUND);
    if (status != STATUS_OK)
        return failed(connection, status, "making the first table", error, error_bytes);
    for (uint64_t i = scripts; store_tables[i] != NULL && status == STATUS_OK; i++)
        status = script_run(connection, i + 1, error, error_bytes);
    return status == STATUS_OK ? tables_end(connection, error, error_bytes) : status;
}
