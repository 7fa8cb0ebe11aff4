/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions, scripts and counters; opening and closing.
 *
 * A transaction that is begun and whose connection is lost, or that must be repeated, is "given
 * up": nothing more is done in it, and nothing outside of it, until the caller rolls back. A
 * commit that is not answered may have been kept: STATUS_UNKNOWN, and the connection is closed. */
#include "store/mysql/mysql.h"

#include "base/log.h"
#include "store/mysql/parts.h"
#include "store/mysql/text.h"

#include <stdio.h>
#include <stdlib.h>

static void mysql_driver_close(struct sql_connection *handle)
{
    if (handle == NULL)
        return;
    struct mysql_connection *connection = mysql_of(handle);
    connection->is_begun = false;
    mysql_session_close(connection); /* what is open is given up by the server */
    mysql_statements_close(connection);
    (void)pthread_mutex_destroy(&connection->lock);
    explicit_bzero(&connection->where, sizeof connection->where);
    free(connection);
}

/* On a connection that was lost while nobody looked: once more at once. */
static enum status transaction_begin(
    struct mysql_connection *connection, const char *before, const char *sql)
{
    invariant(!connection->is_begun);
    enum status status = STATUS_AWAY;
    for (int tries = 0; tries < 2; tries++) {
        status = mysql_session_need(connection);
        if (status != STATUS_OK)
            return status;
        if (before != NULL)
            status = mysql_session_do(connection, before, strlen(before));
        if (status == STATUS_OK)
            status = mysql_session_do(connection, sql, strlen(sql));
        if (connection->mysql != NULL)
            break;
    }
    connection->is_begun = status == STATUS_OK;
    return status;
}

static enum status driver_begin(struct sql_connection *handle)
{
    return transaction_begin(mysql_of(handle), NULL, "START TRANSACTION");
}

/* READ COMMITTED would show a new moment to each statement. The setting is for one transaction. */
static enum status driver_begin_view(struct sql_connection *handle)
{
    return transaction_begin(mysql_of(handle), "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION READ ONLY");
}

static enum status driver_commit(struct sql_connection *handle)
{
    struct mysql_connection *connection = mysql_of(handle);
    invariant(connection->is_begun);
    if (connection->is_given_up)
        return STATUS_AWAY;
    if (connection->spoiled != STATUS_OK)
        return connection->spoiled; /* PostgreSQL would not keep it either */
    const enum status status = mysql_do(connection, "COMMIT");
    if (status == STATUS_OK) {
        connection->is_begun = false;
        return STATUS_OK;
    }
    if (connection->error == SQL_ERROR_AGAIN)
        return status; /* the server says that it was rolled back */
    mysql_session_close(connection);
    return STATUS_UNKNOWN;
}

static void driver_rollback(struct sql_connection *handle)
{
    struct mysql_connection *connection = mysql_of(handle);
    if (connection->is_begun && !connection->is_given_up
        && mysql_real_query(connection->mysql, "ROLLBACK", 8) != 0)
        mysql_session_close(connection); /* which does it too */
    connection->is_begun = connection->is_given_up = false;
    connection->spoiled = STATUS_OK;
}

static bool driver_is_open(const struct sql_connection *handle)
{
    const struct mysql_connection *connection = (const struct mysql_connection *)handle;
    return connection->is_begun && !connection->is_given_up;
}

static enum status part_do(struct sql_connection *handle, const char *verb, const char *name)
{
    struct mysql_connection *connection = mysql_of(handle);
    char sql[128];
    invariant(connection->is_begun);
    if (connection->is_given_up)
        return STATUS_AWAY;
    const int bytes = snprintf(sql, sizeof sql, "%s %s", verb, name);
    invariant(bytes > 0 && (size_t)bytes < sizeof sql);
    return mysql_session_do(connection, sql, (size_t)bytes);
}

static enum status driver_part_begin(struct sql_connection *handle, const char *name)
{
    return part_do(handle, "SAVEPOINT", name);
}

static enum status driver_part_keep(struct sql_connection *handle, const char *name)
{
    const enum status spoiled = mysql_of(handle)->spoiled;
    return spoiled != STATUS_OK ? spoiled : part_do(handle, "RELEASE SAVEPOINT", name);
}

/* The name stays, and a new part of this name takes its place. */
static void driver_part_drop(struct sql_connection *handle, const char *name)
{
    struct mysql_connection *connection = mysql_of(handle);
    const enum sql_error error = connection->error;
    if (connection->is_given_up)
        return;
    if (part_do(handle, "ROLLBACK TO SAVEPOINT", name) == STATUS_OK) {
        connection->spoiled = STATUS_OK;
        return;
    }
    connection->error = error; /* why it is dropped */
    mysql_session_close(connection);
    connection->is_given_up = true;
}

/* A change of tables has ended the transaction: what follows belongs to a new one. */
static enum status transaction_go_on(struct mysql_connection *connection)
{
    unsigned state = 0;
    if (!connection->is_begun)
        return STATUS_OK;
    (void)mariadb_get_infov(connection->mysql, MARIADB_CONNECTION_SERVER_STATUS, &state);
    return (state & SERVER_STATUS_IN_TRANS) != 0 ? STATUS_OK : mysql_do(connection, "START TRANSACTION");
}

static enum status script_statement(struct mysql_connection *connection, struct span statement)
{
    const size_t room = mysql_text_room(statement.size);
    char *buffer = malloc(room);
    if (buffer == NULL)
        return mysql_failed_here(connection, SQL_ERROR_AWAY, "out of memory");
    struct text text = text_in(buffer, room);
    mysql_script_text(&text, statement, &connection->dialect);
    enum status status = mysql_session_do_long(connection, text.data, text.size);
    if (status == STATUS_OK)
        status = transaction_go_on(connection);
    free(buffer);
    return status;
}

static enum status driver_script(struct sql_connection *handle, const char *sql)
{
    struct mysql_connection *connection = mysql_of(handle);
    struct span script = span_from_string(sql), statement;
    if (connection->is_given_up)
        return STATUS_AWAY;
    enum status status = mysql_session_need(connection);
    while (status == STATUS_OK && mysql_script_take(&script, &statement))
        status = script_statement(connection, statement);
    return status;
}

static uint32_t driver_matched(const struct sql_connection *handle)
{
    return ((const struct mysql_connection *)handle)->matched;
}

static enum sql_error driver_error(const struct sql_connection *handle)
{
    return ((const struct mysql_connection *)handle)->error;
}

static const char *driver_message(const struct sql_connection *handle)
{
    return ((const struct mysql_connection *)handle)->message;
}

/* The only number of the only row; 0 if it is NULL. STATUS_NOT_FOUND: no row. */
static enum status number_ask(struct mysql_connection *connection, const char *sql, uint64_t *number)
{
    const enum status status = mysql_session_do(connection, sql, strlen(sql));
    if (status != STATUS_OK)
        return status;
    MYSQL *mysql = connection->mysql;
    MYSQL_RES *rows = mysql_store_result(mysql);
    if (rows == NULL)
        return mysql_failed(connection, mysql_errno(mysql), mysql_sqlstate(mysql), mysql_error(mysql));
    MYSQL_ROW row = mysql_fetch_row(rows);
    *number = 0;
    const bool is_bad =
        row != NULL && row[0] != NULL && span_to_u64(span_from_string(row[0]), number) != STATUS_OK;
    mysql_free_result(rows);
    if (is_bad)
        return mysql_failed_here(connection, SQL_ERROR_CORRUPT, "the server's answer is not a number");
    return row == NULL ? STATUS_NOT_FOUND : STATUS_OK;
}

static enum status driver_counter(struct sql_connection *handle, const char *table, uint64_t *last)
{
    struct mysql_connection *connection = mysql_of(handle);
    char sql[256];
    uint64_t next = 0;
    if (connection->is_given_up)
        return STATUS_AWAY;
    enum status status = mysql_session_need(connection);
    const int bytes = snprintf(sql, sizeof sql,
        "SELECT auto_increment FROM information_schema.tables"
        " WHERE table_schema = database() AND table_name = '%s'",
        table);
    invariant(bytes > 0 && (size_t)bytes < sizeof sql);
    if (status == STATUS_OK)
        status = number_ask(connection, sql, &next);
    if (status == STATUS_NOT_FOUND)
        status = mysql_failed_here(connection, SQL_ERROR_CORRUPT, "the table is not there");
    if (status == STATUS_OK)
        *last = next == 0 ? 0 : next - 1;
    return status;
}

/* ALTER TABLE would end a transaction. It could also lower the counter. */
static enum status driver_counter_lift(struct sql_connection *handle, const char *table, uint64_t last)
{
    struct mysql_connection *connection = mysql_of(handle);
    char sql[256];
    uint64_t now = 0;
    invariant(!connection->is_begun);
    const enum status status = driver_counter(handle, table, &now);
    if (status != STATUS_OK || now >= last)
        return status;
    const int bytes = snprintf(sql, sizeof sql, "ALTER TABLE %s AUTO_INCREMENT = %llu", table,
        (unsigned long long)last + 1);
    invariant(bytes > 0 && (size_t)bytes < sizeof sql);
    return mysql_session_do(connection, sql, (size_t)bytes);
}

/* The library takes it when it connects. Where that fails, the next statement tries again. */
static void driver_patience(struct sql_connection *handle, uint32_t ms)
{
    struct mysql_connection *connection = mysql_of(handle);
    char error[MYSQL_MESSAGE_MAX];
    connection->read_s = (ms + 999) / 1000;
    mysql_session_close(connection);
    if (mysql_session_first(connection, error, sizeof error) != STATUS_OK)
        log_warn("store", "the database is unavailable: %s", error);
}

static enum status driver_reader_open(const struct sql_connection *handle, struct sql_connection **reader);
static enum status driver_writer_open(const struct sql_connection *handle, struct sql_connection **writer);

static const struct driver mysql_driver = {
    .name = "mysql",
    .clock_sql = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000",
    .locks_rows = true,
    .close = mysql_driver_close,
    .reader_open = driver_reader_open,
    .writer_open = driver_writer_open,
    .patience = driver_patience,
    .interrupt = mysql_session_interrupt,
    .begin = driver_begin,
    .begin_view = driver_begin_view,
    .commit = driver_commit,
    .rollback = driver_rollback,
    .part_begin = driver_part_begin,
    .part_keep = driver_part_keep,
    .part_drop = driver_part_drop,
    .is_open = driver_is_open,
    .query = mysql_statement_query,
    .next = mysql_statement_next,
    .finish = mysql_statement_finish,
    .number = mysql_statement_number,
    .bytes = mysql_statement_bytes,
    .script = driver_script,
    .insert_many = mysql_insert_many,
    .matched = driver_matched,
    .error = driver_error,
    .message = driver_message,
    .counter = driver_counter,
    .counter_lift = driver_counter_lift,
};

static enum status connection_open(struct sql_connection **out, const struct mysql_where *where,
    bool is_reader, char *error, size_t error_bytes)
{
    *out = NULL;
    struct mysql_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) {
        snprintf(error, error_bytes, "out of memory");
        return STATUS_AWAY;
    }
    connection->connection.driver = &mysql_driver;
    connection->where = *where;
    connection->is_reader = is_reader;
    connection->read_s = is_reader ? MYSQL_READER_READ_S : MYSQL_READ_S;
    connection->socket = -1;
    random_start(&connection->random);
    (void)pthread_mutex_init(&connection->lock, NULL);
    const enum status status = mysql_session_first(connection, error, error_bytes);
    if (status != STATUS_OK) {
        mysql_driver_close(&connection->connection);
        return status;
    }
    *out = &connection->connection;
    return STATUS_OK;
}

static enum status driver_reader_open(const struct sql_connection *handle, struct sql_connection **reader)
{
    char error[MYSQL_MESSAGE_MAX];
    const struct mysql_connection *writer = (const struct mysql_connection *)handle;
    return connection_open(reader, &writer->where, true, error, sizeof error);
}

static enum status driver_writer_open(const struct sql_connection *handle, struct sql_connection **writer)
{
    char error[MYSQL_MESSAGE_MAX];
    const struct mysql_connection *beside = (const struct mysql_connection *)handle;
    return connection_open(writer, &beside->where, false, error, sizeof error);
}

enum status mysql_store_connect(struct sql_connection **connection, const char *url,
    const char *password, char *error, size_t error_bytes)
{
    struct mysql_where where;
    *connection = NULL;
    enum status status = mysql_where_read(&where, url, password, error, error_bytes);
    if (status == STATUS_OK)
        status = connection_open(connection, &where, false, error, error_bytes);
    explicit_bzero(&where, sizeof where);
    return status;
}
