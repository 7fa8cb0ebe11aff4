/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite/connection.h"

#include "base/thread.h"
#include "store/sqlite/sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status sqlite_status(int result)
{
    const int code = result & 0xff;
    invariant(code != SQLITE_MISUSE && code != SQLITE_RANGE);
    switch (code) {
    case SQLITE_OK:
    case SQLITE_DONE:
    case SQLITE_ROW:
        return STATUS_OK;
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
        return STATUS_REFUSED;
    case SQLITE_ERROR: /* our statements are right, so the tables are not: somebody changed them */
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return STATUS_CORRUPT;
    default: /* BUSY, LOCKED, FULL, IOERR, CANTOPEN, READONLY, PERM, NOMEM, …: it may come back */
        return STATUS_AWAY;
    }
}

/* ---- statements ---- */

/* Texts are told apart by their address. */
static struct sqlite_statement *statement_of(struct sqlite_connection *connection, const char *sql)
{
    const uint64_t hash = (uintptr_t)sql * 0x9E3779B97F4A7C15u;
    for (uint32_t i = 0; i < SQLITE_STATEMENTS_MAX; i++) {
        struct sqlite_statement *kept = &connection->kept[((hash >> 32) + i) % SQLITE_STATEMENTS_MAX];
        if (kept->sql == sql || kept->sql == NULL)
            return kept;
    }
    invariant(!"SQLITE_STATEMENTS_MAX is below the number of texts");
}

/* One connection writes: rows need no lock, and "FOR UPDATE" is not of SQLite's language. */
static int text_bytes(const char *sql)
{
    static const char lock[] = " FOR UPDATE";
    const size_t size = strlen(sql), last = sizeof lock - 1;
    const bool locks = size > last && memcmp(sql + size - last, lock, last) == 0;
    return (int)(locks ? size - last : size);
}

static enum status statement_prepare(
    struct sqlite_connection *connection, struct sqlite_statement *kept, const char *sql)
{
    const int result = sqlite3_prepare_v3(connection->database, sql, text_bytes(sql),
        SQLITE_PREPARE_PERSISTENT, &kept->prepared, NULL);
    if (result != SQLITE_OK)
        return sqlite_status(result);
    kept->row.connection = &connection->connection;
    kept->sql = sql;
    return STATUS_OK;
}

static void statement_bind(sqlite3_stmt *prepared, struct sql_values values)
{
    invariant(sqlite3_bind_parameter_count(prepared) == (int)values.count);
    for (size_t i = 0; i < values.count; i++) {
        const struct sql_value *value = &values.list[i];
        const int at = (int)i + 1, bytes = (int)value->number;
        int result;
        if (value->kind == SQL_NUMBER)
            result = sqlite3_bind_int64(prepared, at, (sqlite3_int64)value->number);
        else if (value->kind == SQL_TEXT)
            result = sqlite3_bind_text(prepared, at, value->data, bytes, SQLITE_STATIC);
        else
            result = sqlite3_bind_blob(prepared, at, value->data, bytes, SQLITE_STATIC);
        invariant(result == SQLITE_OK);
    }
}

static enum status sqlite_query(
    struct sql_connection *handle, const char *sql, struct sql_values values, struct sql_row **row)
{
    struct sqlite_connection *connection = sqlite_of(handle);
    struct sqlite_statement *kept = statement_of(connection, sql);
    *row = NULL;
    if (__builtin_expect(kept->prepared == NULL, 0)) {
        const enum status status = statement_prepare(connection, kept, sql);
        if (status != STATUS_OK)
            return status;
    }
    statement_bind(kept->prepared, values);
    *row = &kept->row;
    return STATUS_OK;
}

static sqlite3_stmt *prepared_of(struct sql_row *row)
{
    return ((struct sqlite_statement *)row)->prepared;
}

static enum status sqlite_next(struct sql_row *row)
{
    const int result = sqlite3_step(prepared_of(row));
    return result == SQLITE_DONE ? STATUS_NOT_FOUND : sqlite_status(result);
}

static void sqlite_finish(struct sql_row *row)
{
    (void)sqlite3_reset(prepared_of(row)); /* repeats the last step's error */
}

static int64_t sqlite_number(struct sql_row *row, int at)
{
    return sqlite3_column_int64(prepared_of(row), at);
}

/* An empty blob is NULL to SQLite's functions, and NULL to us. */
static const void *sqlite_bytes(struct sql_row *row, int at, size_t *bytes)
{
    const void *data = sqlite3_column_blob(prepared_of(row), at);
    *bytes = (size_t)sqlite3_column_bytes(prepared_of(row), at);
    return data;
}

static enum status run(struct sqlite_connection *connection, const char *sql)
{
    struct sql_row *row;
    enum status status =
        sqlite_query(&connection->connection, sql, (struct sql_values){ NULL, 0 }, &row);
    if (status != STATUS_OK)
        return status;
    status = sqlite_next(row);
    sqlite_finish(row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

int sqlite_script_run(sqlite3 *database, const char *sql)
{
    char *text = strdup(sql), *to = text;
    if (text == NULL)
        return SQLITE_NOMEM;
    for (bool inside = false; *sql != '\0'; sql++) {
        inside = inside || *sql == '{';
        if (!inside && *sql != '[' && *sql != ']') /* what stands in these is for us */
            *to++ = *sql;
        inside = inside && *sql != '}';
    }
    *to = '\0';
    const int result = sqlite3_exec(database, text, NULL, NULL, NULL);
    free(text);
    return result;
}

enum status sqlite_script(struct sql_connection *handle, const char *sql)
{
    return sqlite_status(sqlite_script_run(sqlite_of(handle)->database, sql));
}

/* ---- transactions ---- */

static bool sqlite_is_open(const struct sql_connection *handle)
{
    return !sqlite3_get_autocommit(((const struct sqlite_connection *)(const void *)handle)->database);
}

static enum status sqlite_begin(struct sql_connection *handle)
{
    return run(sqlite_of(handle), "BEGIN IMMEDIATE");
}

static enum status sqlite_begin_view(struct sql_connection *handle)
{
    return run(sqlite_of(handle), "BEGIN");
}

/* A commit whose write or sync failed is rolled back, but its bytes may be in the file, and a crash
 * before the next commit could bring them back. */
static enum status sqlite_commit(struct sql_connection *handle)
{
    const enum status status = run(sqlite_of(handle), "COMMIT");
    const bool io = (sqlite3_errcode(sqlite_of(handle)->database) & 0xff) == SQLITE_IOERR;
    return status == STATUS_AWAY && io ? STATUS_UNKNOWN : status;
}

static void sqlite_rollback(struct sql_connection *handle)
{
    if (!sqlite_is_open(handle))
        return; /* SQLite has rolled back by itself (FULL, IOERR, NOMEM may) */
    /* A rollback only forgets what is in memory; what it answers changes nothing. */
    (void)!run(sqlite_of(handle), "ROLLBACK");
    invariant(!sqlite_is_open(handle));
}

/* Texts that stay, so that their statements do. */
enum part_step { PART_BEGIN, PART_KEEP, PART_BACK, PART_STEPS };
#define PART_TEXTS(name) \
    { \
        "SAVEPOINT " name, "RELEASE " name, "ROLLBACK TO " name \
    }
static const char *const part_texts[][PART_STEPS] = { PART_TEXTS("part"), PART_TEXTS("request") };

static enum status part_run(struct sql_connection *handle, enum part_step step, const char *name)
{
    for (size_t i = 0; i < sizeof part_texts / sizeof *part_texts; i++)
        if (strcmp(part_texts[i][PART_KEEP] + strlen("RELEASE "), name) == 0)
            return run(sqlite_of(handle), part_texts[i][step]);
    invariant(!"a part of this name has texts");
}

static enum status sqlite_part_begin(struct sql_connection *handle, const char *name)
{
    return part_run(handle, PART_BEGIN, name);
}

static enum status sqlite_part_keep(struct sql_connection *handle, const char *name)
{
    return part_run(handle, PART_KEEP, name);
}

static void sqlite_part_drop(struct sql_connection *handle, const char *name)
{
    if (sqlite_is_open(handle) && part_run(handle, PART_BACK, name) == STATUS_OK)
        (void)!part_run(handle, PART_KEEP, name);
}

/* ---- what is known of the last statement ---- */

static uint32_t sqlite_matched(const struct sql_connection *handle)
{
    return (uint32_t)sqlite3_changes(((const struct sqlite_connection *)(const void *)handle)->database);
}

static enum sql_error sqlite_error(const struct sql_connection *handle)
{
    const int code =
        sqlite3_extended_errcode(((const struct sqlite_connection *)(const void *)handle)->database);
    if (code == SQLITE_CONSTRAINT_PRIMARYKEY || code == SQLITE_CONSTRAINT_ROWID
        || code == SQLITE_CONSTRAINT_UNIQUE)
        return SQL_ERROR_UNIQUE;
    const enum status status = sqlite_status(code);
    return status == STATUS_OK     ? SQL_ERROR_NONE
        : status == STATUS_REFUSED ? SQL_ERROR_CHECK
        : status == STATUS_CORRUPT ? SQL_ERROR_CORRUPT
                                   : SQL_ERROR_AWAY;
}

static const char *sqlite_message(const struct sql_connection *handle)
{
    return sqlite3_errmsg(((const struct sqlite_connection *)(const void *)handle)->database);
}

/* ---- counters: SQLite keeps the last number of a table in sqlite_sequence, from its first row on ---- */

static enum status counter_run(
    struct sql_connection *handle, const char *sql, struct sql_values values, uint64_t *answer)
{
    struct sql_row *row;
    enum status status = sqlite_query(handle, sql, values, &row);
    if (status != STATUS_OK)
        return status;
    status = sqlite_next(row);
    if (status == STATUS_OK)
        *answer = (uint64_t)sqlite_number(row, 0);
    sqlite_finish(row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static struct sql_value text_value(const char *text)
{
    return (struct sql_value){ SQL_TEXT, (uint64_t)-1, text };
}

static enum status sqlite_counter(struct sql_connection *handle, const char *table, uint64_t *last)
{
    const struct sql_value name = text_value(table);
    *last = 0;
    return counter_run(handle, "SELECT seq FROM sqlite_sequence WHERE name = ?1",
        (struct sql_values){ &name, 1 }, last);
}

static enum status sqlite_counter_lift(struct sql_connection *handle, const char *table, uint64_t last)
{
    const struct sql_value values[] = { text_value(table), { SQL_NUMBER, last, NULL } };
    uint64_t unused;
    enum status status =
        counter_run(handle, "UPDATE sqlite_sequence SET seq = max(seq, ?2) WHERE name = ?1",
            (struct sql_values){ values, 2 }, &unused);
    if (status != STATUS_OK || sqlite_matched(handle) == 1)
        return status;
    return counter_run(handle, "INSERT INTO sqlite_sequence(name, seq) VALUES(?1, ?2)",
        (struct sql_values){ values, 2 }, &unused);
}

/* ---- the connection ---- */

/* Pages, their lists, rows against their indexes and the tables' rules; only the first trouble. */
static enum status sqlite_whole_check(struct sql_connection *handle, char *what, size_t what_bytes)
{
    struct sql_row *row;
    size_t bytes = 0;
    enum status status =
        sqlite_query(handle, "PRAGMA integrity_check(1)", (struct sql_values){ NULL, 0 }, &row);
    if (status == STATUS_OK) {
        status = sqlite_next(row);
        const char *text = status == STATUS_OK ? sqlite_bytes(row, 0, &bytes) : NULL;
        snprintf(what, what_bytes, "%.*s", (int)bytes, text == NULL ? "" : text);
        sqlite_finish(row);
    }
    if (status == STATUS_OK)
        return strcmp(what, "ok") == 0 ? STATUS_OK : STATUS_CORRUPT;
    snprintf(what, what_bytes, "%s", sqlite_message(handle));
    return status == STATUS_NOT_FOUND ? STATUS_CORRUPT : status;
}

static void sqlite_interrupt(struct sql_connection *handle)
{
    sqlite3_interrupt(sqlite_of(handle)->database);
}

void sqlite_disconnect(struct sql_connection *handle)
{
    struct sqlite_connection *connection = sqlite_of(handle);
    for (uint32_t i = 0; i < SQLITE_STATEMENTS_MAX; i++)
        (void)sqlite3_finalize(connection->kept[i].prepared); /* repeats the last step's error */
    const int result = sqlite3_close(connection->database);
    invariant(result == SQLITE_OK);
    free(connection->path);
    free(connection->vfs);
    free(connection);
}

static enum status sqlite_reader_open(const struct sql_connection *handle, struct sql_connection **reader)
{
    const struct sqlite_connection *writer = (const struct sqlite_connection *)(const void *)handle;
    struct sqlite_connection *connection;
    char error[256], settings[96];
    *reader = NULL;
    enum status status = sqlite_connect(
        &connection, writer->path, writer->vfs, SQLITE_OPEN_READONLY, error, sizeof error);
    if (status != STATUS_OK)
        return status;
    /* A temporary table is about 25 bytes an order of one sale. In a file it made the core wait for the
     * disk, and with it all threads that sell. */
    snprintf(settings, sizeof settings, "PRAGMA cache_size = -%d; PRAGMA temp_store = MEMORY",
        SQLITE_READER_CACHE_KIB);
    status = sqlite_script(&connection->connection, settings);
    if (status != STATUS_OK) {
        sqlite_disconnect(&connection->connection);
        return status;
    }
    (void)sqlite3_busy_timeout(connection->database, SQLITE_READER_BUSY_MS);
    *reader = &connection->connection;
    return STATUS_OK;
}

static const struct driver sqlite_driver = {
    .name = "sqlite",
    .keys_by_lot = true,
    .clock_sql = "SELECT CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    .close = sqlite_disconnect,
    .reader_open = sqlite_reader_open,
    .interrupt = sqlite_interrupt,
    .begin = sqlite_begin,
    .begin_view = sqlite_begin_view,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .part_begin = sqlite_part_begin,
    .part_keep = sqlite_part_keep,
    .part_drop = sqlite_part_drop,
    .is_open = sqlite_is_open,
    .query = sqlite_query,
    .next = sqlite_next,
    .finish = sqlite_finish,
    .number = sqlite_number,
    .bytes = sqlite_bytes,
    .script = sqlite_script,
    .matched = sqlite_matched,
    .error = sqlite_error,
    .message = sqlite_message,
    .counter = sqlite_counter,
    .counter_lift = sqlite_counter_lift,
    .whole_check = sqlite_whole_check,
};

/* Counting what is allocated costs a lock for each piece. Too late once the library runs: no harm. */
void sqlite_library_start(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* A statement may take seconds: while it runs, those that sell get the core (base/thread.h). */
static int others_let(void *unused)
{
    (void)unused;
    thread_give_way();
    return 0; /* go on */
}

static void lot_may_have(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct sqlite_connection *connection = sqlite3_user_data(context);
    struct lot_filter *lots = connection->connection.lots;
    (void)count;
    sqlite3_result_int(context,
        lots == NULL
            || lots->may_have(lots, (uint64_t)sqlite3_value_int64(values[0]),
                (uint64_t)sqlite3_value_int64(values[1]), (uint64_t)sqlite3_value_int64(values[2])));
}

enum status sqlite_connect(struct sqlite_connection **out, const char *path, const char *vfs,
    int flags, char *error, size_t error_bytes)
{
    *out = NULL;
    snprintf(error, error_bytes, "out of memory");
    sqlite_library_start();
    struct sqlite_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL)
        return STATUS_AWAY;
    connection->connection.driver = &sqlite_driver;
    connection->path = strdup(path);
    connection->vfs = vfs == NULL ? NULL : strdup(vfs);
    int result = SQLITE_NOMEM;
    if (connection->path != NULL && (vfs == NULL || connection->vfs != NULL)) {
        result = sqlite3_open_v2(
            path, &connection->database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs);
        if (result != SQLITE_OK)
            snprintf(error, error_bytes, "%s: %s", path, sqlite3_errmsg(connection->database));
    }
    if (result == SQLITE_OK)
        result = sqlite3_create_function_v2(connection->database, "lot_may_have", 3,
            SQLITE_UTF8 | SQLITE_DIRECTONLY, connection, lot_may_have, NULL, NULL, NULL);
    if (result != SQLITE_OK) {
        sqlite_disconnect(&connection->connection);
        return result == SQLITE_ERROR ? STATUS_BAD_INPUT : sqlite_status(result); /* no such VFS */
    }
    sqlite3_progress_handler(connection->database, SQLITE_STEPS_AT_A_TIME, others_let, NULL);
    *out = connection;
    return STATUS_OK;
}
