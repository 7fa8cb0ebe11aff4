/* SPDX-License-Identifier: Apache-2.0 */
/* One row of stampede_schema says which version the tables have. While they are made or changed, one row of
 * stampede_step says what they become, how many statements are done, and which one was begun.
 *
 * A database that commits a change of a table by itself may be left with the change and without the word
 * that it is done. So the word that it is begun comes first: if it was begun and the database says that it is
 * made already, it is done. A statement that failed is not begun any more: a table of somebody else that has
 * the name of ours is never taken for ours. */
#include "store/schema.h"

#include "base/span.h"
#include "store/parts.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>

static const char version_read[] = "SELECT version FROM stampede_schema WHERE id = 1";
static const char step_read[] = "SELECT target, done, begun FROM stampede_step WHERE id = 1";

struct step {
    uint64_t target; /* 0: nothing is being changed */
    uint64_t done, begun;
};

struct migration {
    struct sql_connection *connection;
    const struct schema_plan *plan;
    uint64_t version; /* 0 while the tables are being made */
    struct step step;
    char *error;
    size_t error_bytes;
};

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

static enum status newer_refuse(uint64_t version, uint64_t ours, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes,
        "the database has schema version %llu of a newer program; this one needs version %llu",
        (unsigned long long)version, (unsigned long long)ours);
    return STATUS_CONFLICT;
}

enum status store_schema_check(struct sql_connection *connection, char *error, size_t error_bytes)
{
    uint64_t version = 0;
    const enum status status = sql_numbers_of(connection, version_read, &version, 1);
    if (status != STATUS_OK && !is_missing(status))
        return failed(connection, status, "the version of the tables can't be read", error, error_bytes);
    if (version == STORE_SCHEMA_VERSION)
        return STATUS_OK;
    if (version > STORE_SCHEMA_VERSION)
        return newer_refuse(version, STORE_SCHEMA_VERSION, error, error_bytes);
    snprintf(error, error_bytes, "the database has %s: run 'stampede store migrate' first",
        is_missing(status) ? "no tables of ours"
            : version == 0 ? "tables that are not all there"
                           : "tables of an older version");
    return STATUS_CONFLICT;
}

static enum status migration_failed(struct migration *migration, enum status status, const char *what)
{
    return failed(migration->connection, status, what, migration->error, migration->error_bytes);
}

/* A table of one row, with which everything begins. Killed between the two it has no row yet. */
static enum status row_make(struct migration *migration, const char *read, uint64_t *numbers,
    int count, const char *table, const char *insert)
{
    struct sql_connection *connection = migration->connection;
    enum status status = sql_numbers_of(connection, read, numbers, count);
    const bool has_table = status != STATUS_CORRUPT;
    if (!is_missing(status))
        return migration_failed(migration, status, "reading the version");
    status = has_table ? STATUS_OK : connection->driver->script(connection, table);
    if (status == STATUS_OK)
        status = sql_run(connection, insert, NO_VALUES);
    return migration_failed(migration, status, "making the first table");
}

static enum status begin(struct migration *migration)
{
    uint64_t step[3] = { 0 };
    enum status status = row_make(migration, version_read, &migration->version, 1,
        "CREATE TABLE stampede_schema(id INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT;",
        "INSERT INTO stampede_schema(id, version) VALUES(1, 0)");
    if (status != STATUS_OK || migration->version >= migration->plan->version)
        return status;
    status = row_make(migration, step_read, step, 3,
        "CREATE TABLE stampede_step(id INTEGER PRIMARY KEY, target INTEGER NOT NULL,"
        " done INTEGER NOT NULL, begun INTEGER NOT NULL) STRICT;",
        "INSERT INTO stampede_step(id, target, done, begun) VALUES(1, 0, 0, 0)");
    migration->step = (struct step){ step[0], step[1], step[2] };
    return status;
}

/* Inside of a transaction, or by itself. */
static enum status step_write(struct migration *migration, struct step step)
{
    migration->step = step;
    return sql_run(migration->connection,
        "UPDATE stampede_step SET target = ?1, done = ?2, begun = ?3 WHERE id = 1",
        VALUES(U64(step.target), U64(step.done), U64(step.begun)));
}

/* `status` so far: kept, or dropped and said why. */
static enum status ended(struct migration *migration, enum status status, const char *what)
{
    struct sql_connection *connection = migration->connection;
    if (status == STATUS_OK)
        status = connection->driver->commit(connection);
    (void)!migration_failed(migration, status, what);
    if (status != STATUS_OK)
        connection->driver->rollback(connection);
    return status;
}

/* Rows are changed in one transaction with the word that it is done: these are never made already. */
static bool is_made_already(const struct migration *migration, bool was_begun, enum status status)
{
    struct sql_connection *connection = migration->connection;
    return was_begun && status == STATUS_CORRUPT
        && connection->driver->error(connection) == SQL_ERROR_MADE;
}

/* The statement and the word that it is done, in one transaction where the database can. */
static enum status statement_run(struct migration *migration, const char *sql)
{
    struct sql_connection *connection = migration->connection;
    const uint64_t target = migration->step.target, number = migration->step.done + 1;
    const bool was_begun = migration->step.begun == number;
    enum status status =
        was_begun ? STATUS_OK : step_write(migration, (struct step){ target, number - 1, number });
    if (status == STATUS_OK)
        status = connection->driver->begin(connection);
    if (status != STATUS_OK)
        return migration_failed(migration, status, "changing the tables");
    status = connection->driver->script(connection, sql);
    if (is_made_already(migration, was_begun, status)) {
        connection->driver->rollback(connection);
        status = connection->driver->begin(connection);
    }
    const bool is_answered = status != STATUS_AWAY && status != STATUS_UNKNOWN;
    if (status == STATUS_OK)
        status = step_write(migration, (struct step){ target, number, number });
    status = ended(migration, status, "changing the tables");
    if (status != STATUS_OK && is_answered) /* if even this fails: the next call runs it again */
        (void)!step_write(migration, (struct step){ target, number - 1, number - 1 });
    return status;
}

/* The next statement of a script, up to its ";" or the end. */
static struct span statement_take(struct span *script)
{
    size_t bytes = 0;
    bool is_quoted = false;
    *script = span_trim(*script, SPAN(" \n\t"));
    for (; bytes < script->size && (is_quoted || script->data[bytes] != ';'); bytes++)
        is_quoted ^= script->data[bytes] == '\'';
    const struct span statement = span_of(script->data, bytes);
    bytes += bytes < script->size;
    *script = span_of(script->data + bytes, script->size - bytes);
    return statement;
}

/* Those that are done already are left out. */
static enum status script_run(struct migration *migration, const char *text, uint64_t *number)
{
    struct span script = span_from_string(text);
    enum status status = STATUS_OK;
    for (struct span next; status == STATUS_OK && (next = statement_take(&script)).size > 0;) {
        if ((*number)++ < migration->step.done)
            continue;
        char *sql;
        if (asprintf(&sql, "%.*s;", (int)next.size, next.data) < 0) {
            snprintf(migration->error, migration->error_bytes, "out of memory");
            return STATUS_AWAY;
        }
        status = statement_run(migration, sql);
        free(sql);
    }
    return status;
}

static enum status version_end(struct migration *migration)
{
    struct sql_connection *connection = migration->connection;
    const uint64_t version = migration->step.target;
    enum status status = connection->driver->begin(connection);
    if (status == STATUS_OK && migration->version == 0)
        status = store_first_rows(connection);
    if (status == STATUS_OK)
        status = sql_run(connection, "UPDATE stampede_schema SET version = ?1 WHERE id = 1",
            VALUES(U64(version)));
    if (status == STATUS_OK)
        status = step_write(migration, (struct step){ 0 });
    status = ended(migration, status, "the version of the tables");
    if (status == STATUS_OK)
        migration->version = version;
    return status;
}

/* From no tables to all, or from one version to the next. */
static enum status version_make(struct migration *migration)
{
    const struct schema_plan *plan = migration->plan;
    const bool is_new = migration->version == 0;
    const uint64_t target = is_new ? plan->version : migration->version + 1;
    const char *const *scripts =
        is_new ? store_tables : plan->steps[migration->version - STORE_SCHEMA_FIRST];
    uint64_t number = 0;
    enum status status = STATUS_OK;
    if (migration->step.target == 0) {
        status = step_write(migration, (struct step){ target, 0, 0 });
        (void)!migration_failed(migration, status, "beginning");
    } else if (migration->step.target != target) {
        snprintf(migration->error, migration->error_bytes,
            "another version of this program began to make the tables of version %llu:"
            " let that one end it, or begin with an empty database",
            (unsigned long long)migration->step.target);
        return STATUS_CONFLICT;
    }
    for (; *scripts != NULL && status == STATUS_OK; scripts++)
        status = script_run(migration, *scripts, &number);
    return status == STATUS_OK ? version_end(migration) : status;
}

enum status store_schema_follow(struct sql_connection *connection, const struct schema_plan *plan,
    uint64_t *before, char *error, size_t error_bytes)
{
    struct migration migration = {
        .connection = connection, .plan = plan, .error = error, .error_bytes = error_bytes
    };
    enum status status = begin(&migration);
    *before = migration.version;
    if (status == STATUS_OK && migration.version > plan->version)
        return newer_refuse(migration.version, plan->version, error, error_bytes);
    if (status == STATUS_OK && migration.version > 0 && migration.version < STORE_SCHEMA_FIRST) {
        snprintf(error, error_bytes, "there never was a schema version %llu on a database server",
            (unsigned long long)migration.version);
        return STATUS_CONFLICT;
    }
    while (status == STATUS_OK && migration.version < plan->version)
        status = version_make(&migration);
    return status;
}

enum status store_schema_migrate(
    struct sql_connection *connection, uint64_t *before, char *error, size_t error_bytes)
{
    const struct schema_plan plan = { STORE_SCHEMA_VERSION, store_steps };
    return store_schema_follow(connection, &plan, before, error, error_bytes);
}
