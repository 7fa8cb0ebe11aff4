/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of the connection, its tables and their version.
 *
 * Turning a new file into WAL mode goes through a rollback journal, once. If the removal of that
 * journal is not durable it may come back after a power cut, empty the file, and take the WAL
 * with it. So synchronous is EXTRA (the folder is synced after the removal) until the tables are
 * there, and FULL from then on; for a WAL both mean a sync per commit. */
#include "store/sqlite/connection.h"
#include "store/sqlite/sqlite.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

/* The first column of the first row: a number, or a text. */
static enum status first_column(struct sqlite_connection *connection, const char *sql,
    uint64_t *number, char *text, size_t text_bytes)
{
    sqlite3_stmt *row = NULL;
    int result = sqlite3_prepare_v2(connection->database, sql, -1, &row, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_step(row);
    if (result == SQLITE_ROW && number != NULL)
        *number = (uint64_t)sqlite3_column_int64(row, 0);
    if (result == SQLITE_ROW && text != NULL)
        snprintf(text, text_bytes, "%s", (const char *)sqlite3_column_text(row, 0));
    (void)sqlite3_finalize(row); /* repeats the last step's error */
    return result == SQLITE_DONE ? STATUS_NOT_FOUND : sqlite_status(result);
}

static enum status schema_failed(struct sqlite_connection *connection, enum status status,
    const char *what, char *error, size_t error_bytes)
{
    if (status != STATUS_OK)
        snprintf(error, error_bytes, "%s: %s", what, sqlite3_errmsg(connection->database));
    return status;
}

static enum status schema_number(struct sqlite_connection *connection, const char *sql,
    uint64_t *value, char *error, size_t error_bytes)
{
    return schema_failed(
        connection, first_column(connection, sql, value, NULL, 0), sql, error, error_bytes);
}

static enum status schema_execute(struct sqlite_connection *connection, const char *sql,
    const char *what, char *error, size_t error_bytes)
{
    return schema_failed(
        connection, sqlite_script(&connection->connection, sql), what, error, error_bytes);
}

static enum status schema_settings(struct sqlite_connection *connection, char *error, size_t error_bytes)
{
    char pragmas[256];
    snprintf(pragmas, sizeof pragmas,
        "PRAGMA synchronous = EXTRA; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"
        "PRAGMA cache_size = -%d; PRAGMA journal_size_limit = %d; PRAGMA wal_autocheckpoint = %d",
        SQLITE_CACHE_KIB, SQLITE_CHECKPOINT_PAGES * 4096 * 2, SQLITE_CHECKPOINT_PAGES);
    int result = sqlite3_busy_timeout(connection->database, 0);
    invariant(result == SQLITE_OK);
    (void)sqlite3_db_config(connection->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(connection->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return schema_execute(connection, pragmas, "settings", error, error_bytes);
}

static enum status schema_wal(struct sqlite_connection *connection, char *error, size_t error_bytes)
{
    char mode[16];
    const enum status status =
        first_column(connection, "PRAGMA journal_mode = WAL", NULL, mode, sizeof mode);
    if (status != STATUS_OK)
        return schema_failed(connection, status, "journal_mode", error, error_bytes);
    if (strcmp(mode, "wal") == 0)
        return STATUS_OK;
    snprintf(error, error_bytes,
        "the database can't use a write-ahead log here (journal_mode is %s)", mode);
    return STATUS_AWAY;
}

static enum status schema_create(struct sqlite_connection *connection, char *error, size_t error_bytes)
{
    char stamp[96];
    snprintf(stamp, sizeof stamp, "PRAGMA application_id = %d; PRAGMA user_version = %d",
        SQLITE_APPLICATION_ID, SQLITE_SCHEMA_VERSION);
    enum status status = schema_execute(connection, "BEGIN EXCLUSIVE", "begin", error, error_bytes);
    for (const char *const *table = store_tables; *table != NULL && status == STATUS_OK; table++)
        status = schema_execute(connection, *table, "tables", error, error_bytes);
    if (status == STATUS_OK)
        status = schema_failed(
            connection, store_first_rows(&connection->connection), "rows", error, error_bytes);
    if (status == STATUS_OK)
        status = schema_execute(connection, stamp, "version", error, error_bytes);
    if (status == STATUS_OK)
        status = schema_execute(connection, "COMMIT", "commit", error, error_bytes);
    if (status != STATUS_OK)
        (void)sqlite3_exec(connection->database, "ROLLBACK", NULL, NULL, NULL); /* closing does it too */
    return status;
}

static enum status schema_refuse(char *error, size_t error_bytes, int64_t application, int64_t version)
{
    if (application != SQLITE_APPLICATION_ID)
        snprintf(error, error_bytes,
            "the database belongs to another program (application_id %lld)", (long long)application);
    else
        snprintf(error, error_bytes,
            "the database has schema version %lld, this program needs version %d%s",
            (long long)version, SQLITE_SCHEMA_VERSION,
            version >= SQLITE_SCHEMA_FIRST && version < SQLITE_SCHEMA_VERSION
                ? "; 'stampede serve' migrates it"
                : "");
    return STATUS_CONFLICT;
}

enum status sqlite_schema_open(struct sqlite_connection *connection, char *error, size_t error_bytes)
{
    uint64_t application = 0, version = 0, tables = 0;
    enum status status = schema_settings(connection, error, error_bytes);
    if (status == STATUS_OK)
        status = schema_number(connection, "PRAGMA application_id", &application, error, error_bytes);
    if (status == STATUS_OK)
        status = schema_number(connection, "PRAGMA user_version", &version, error, error_bytes);
    if (status == STATUS_OK)
        status = schema_number(
            connection, "SELECT count(*) FROM sqlite_schema", &tables, error, error_bytes);
    if (status != STATUS_OK)
        return status;
    const bool empty = tables == 0 && version == 0 && application == 0;
    if (!empty && (application != SQLITE_APPLICATION_ID || version != SQLITE_SCHEMA_VERSION))
        return schema_refuse(error, error_bytes, (int64_t)application, (int64_t)version);
    status = schema_wal(connection, error, error_bytes);
    if (status == STATUS_OK && empty)
        status = schema_create(connection, error, error_bytes);
    if (status == STATUS_OK)
        status = schema_execute(connection, "PRAGMA synchronous = FULL", "settings", error, error_bytes);
    return status;
}
