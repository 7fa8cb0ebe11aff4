/* SPDX-License-Identifier: Apache-2.0 */
/* store/postgres/postgres.c: transactions, parts, scripts, counters; opening and closing.
 *
 * DESIGN. `is_begun` is the caller's view, the session has its own: a transaction whose session is
 * lost stays begun until the caller ends it, and everything in it is STATUS_AWAY, so that no half
 * of it is done in a new session. PostgreSQL refuses everything in a transaction after an error:
 * the driver says again what the error was, without asking. */
#include "store/postgres/postgres.h"

#include "store/postgres/parts.h"
#include "store/postgres/text.h"

#include "base/span.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char lost[] = "the connection was lost, and the transaction with it";

enum status postgres_may_run(struct postgres *postgres)
{
    if (!postgres->is_begun)
        return postgres_session_need(postgres, POSTGRES_CONNECT_STEP_MS);
    if (postgres->session == NULL)
        return postgres_fail(postgres, STATUS_AWAY, SQL_ERROR_AWAY, lost);
    return PQtransactionStatus(postgres->session) == PQTRANS_INERROR ? postgres->spoiled : STATUS_OK;
}

static enum status transaction_begin(struct sql_connection *connection, const char *sql)
{
    struct postgres *postgres = postgres_of(connection);
    invariant(!postgres->is_begun);
    enum status status = postgres_session_need(postgres, POSTGRES_CONNECT_STEP_MS);
    if (status == STATUS_OK)
        status = postgres_run(postgres, sql);
    postgres->is_begun = status == STATUS_OK;
    postgres->is_given_up = false;
    postgres->spoiled = STATUS_OK;
    return status;
}

static enum status postgres_begin(struct sql_connection *connection)
{
    return transaction_begin(connection, "BEGIN");
}

static enum status postgres_begin_view(struct sql_connection *connection)
{
    return transaction_begin(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
}

/* A warning is what a server says that has given up to wait for its standby: then it is kept here,
 * and not told there. */
static enum status postgres_commit(struct sql_connection *connection)
{
    struct postgres *postgres = postgres_of(connection);
    invariant(postgres->is_begun);
    enum status status = postgres_may_run(postgres);
    if (status != STATUS_OK)
        return status;
    if (postgres_session_is_lost(postgres)) /* before anything was asked for */
        return postgres_fail(postgres, STATUS_AWAY, SQL_ERROR_AWAY, lost);
    postgres->is_warned = false;
    status = postgres_run(postgres, "COMMIT");
    postgres->is_begun = false;
    if (postgres->session == NULL)
        return STATUS_UNKNOWN;
    if (status == STATUS_OK && postgres->is_warned)
        return postgres_fail(
            postgres, STATUS_UNKNOWN, SQL_ERROR_AWAY, "the server did not wait for its standby");
    return status;
}

static void postgres_rollback(struct sql_connection *connection)
{
    struct postgres *postgres = postgres_of(connection);
    const bool open = postgres->is_begun && postgres->session != NULL;
    postgres->is_begun = false;
    if (!open || postgres_run(postgres, "ROLLBACK") == STATUS_OK || postgres->session == NULL)
        return;
    postgres_session_end(postgres); /* the server then does it */
}

enum part_step { PART_BEGIN, PART_KEEP, PART_DROP };

static enum status part_run(struct postgres *postgres, enum part_step step, const char *name)
{
    char sql[128];
    const int bytes = step == PART_BEGIN ? snprintf(sql, sizeof sql, "SAVEPOINT %s", name)
        : step == PART_KEEP
        ? snprintf(sql, sizeof sql, "RELEASE SAVEPOINT %s", name)
        : snprintf(sql, sizeof sql, "ROLLBACK TO SAVEPOINT %s; RELEASE SAVEPOINT %s", name, name);
    invariant(bytes > 0 && (size_t)bytes < sizeof sql);
    return postgres_run(postgres, sql);
}

static enum status postgres_part_begin(struct sql_connection *connection, const char *name)
{
    struct postgres *postgres = postgres_of(connection);
    invariant(postgres->is_begun);
    const enum status status = postgres_may_run(postgres);
    return status == STATUS_OK ? part_run(postgres, PART_BEGIN, name) : status;
}

static enum status postgres_part_keep(struct sql_connection *connection, const char *name)
{
    struct postgres *postgres = postgres_of(connection);
    invariant(postgres->is_begun);
    const enum status status = postgres_may_run(postgres);
    return status == STATUS_OK ? part_run(postgres, PART_KEEP, name) : status;
}

/* Where that fails, the transaction is lost or stays spoiled, and its end says so. */
static void postgres_part_drop(struct sql_connection *connection, const char *name)
{
    struct postgres *postgres = postgres_of(connection);
    if (postgres->is_begun && postgres->session != NULL && !postgres->is_given_up
        && part_run(postgres, PART_DROP, name) == STATUS_OK)
        postgres->spoiled = STATUS_OK;
}

static bool postgres_is_open(const struct sql_connection *connection)
{
    const struct postgres *postgres = (const struct postgres *)(const void *)connection;
    if (!postgres->is_begun || postgres->session == NULL || postgres->is_given_up)
        return false;
    const PGTransactionStatusType status = PQtransactionStatus(postgres->session);
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR;
}

/* One transaction, if none is open. Indexes of large tables take their time. */
static enum status postgres_script(struct sql_connection *connection, const char *sql)
{
    struct postgres *postgres = postgres_of(connection);
    enum status status = postgres_may_run(postgres);
    if (status != STATUS_OK)
        return status;
    static const char patience[] = "SET LOCAL statement_timeout = 0;";
    const size_t capacity = sizeof patience + POSTGRES_TEXT_GROWTH * strlen(sql) + 1;
    char *changed = malloc(capacity);
    if (changed == NULL)
        return postgres_fail(postgres, STATUS_AWAY, SQL_ERROR_AWAY, "out of memory");
    struct text text = text_in(changed, capacity - 1);
    text_string(&text, patience);
    postgres_text_script(&text, sql);
    invariant(!text.overflow);
    changed[text.size] = '\0';
    status = postgres_run_within(postgres, changed, 0);
    free(changed);
    return postgres->session == NULL && !postgres->is_begun ? STATUS_UNKNOWN : status;
}

static uint32_t postgres_matched(const struct sql_connection *connection)
{
    return ((const struct postgres *)(const void *)connection)->matched;
}

static enum sql_error postgres_error(const struct sql_connection *connection)
{
    return ((const struct postgres *)(const void *)connection)->error;
}

static const char *postgres_message(const struct sql_connection *connection)
{
    return ((const struct postgres *)(const void *)connection)->message;
}

#define SEQUENCE_OF(table) "pg_get_serial_sequence(" table ", 'id')"
#define LAST_OF(table) "coalesce(pg_sequence_last_value(" SEQUENCE_OF(table) "::regclass), 0)"

static enum status postgres_counter(struct sql_connection *connection, const char *table, uint64_t *last)
{
    const struct sql_value name = { SQL_TEXT, UINT64_MAX, table };
    struct sql_row *row;
    enum status status =
        postgres_query(connection, "SELECT " LAST_OF("?1"), (struct sql_values){ &name, 1 }, &row);
    if (status != STATUS_OK)
        return status;
    status = postgres_next(row);
    if (status == STATUS_OK)
        *last = (uint64_t)postgres_number_at(row, 0);
    postgres_finish(row);
    return status;
}

/* The lock holds off others who would take numbers meanwhile. A transaction that ends in a
 * rollback leaves it lifted. */
static enum status postgres_counter_lift(
    struct sql_connection *connection, const char *table, uint64_t last)
{
    struct postgres *postgres = postgres_of(connection);
    char sql[512];
    const enum status status = postgres_may_run(postgres);
    if (status != STATUS_OK)
        return status;
    invariant(last <= INT64_MAX);
    const int bytes = snprintf(sql, sizeof sql,
        "LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE;"
        "SELECT setval(" SEQUENCE_OF("'%s'") ", %llu) WHERE " LAST_OF("'%s'") " < %llu",
        table, table, (unsigned long long)last, table, (unsigned long long)last);
    invariant(bytes > 0 && (size_t)bytes < sizeof sql);
    return postgres_run(postgres, sql);
}

static void postgres_close(struct sql_connection *connection)
{
    struct postgres *postgres = postgres_of(connection);
    postgres_statements_free(postgres);
    postgres_session_end(postgres);
    pthread_mutex_destroy(&postgres->interrupt_lock);
    if (postgres->url != NULL)
        explicit_bzero(postgres->url, strlen(postgres->url)); /* it may have a password, too */
    if (postgres->password != NULL)
        explicit_bzero(postgres->password, strlen(postgres->password));
    free(postgres->url);
    free(postgres->password);
    free(postgres);
}

static void postgres_patience(struct sql_connection *connection, uint32_t ms)
{
    struct postgres *postgres = postgres_of(connection);
    char sql[64];
    snprintf(sql, sizeof sql, "SET statement_timeout = %u", (unsigned)ms);
    if (postgres->session != NULL && postgres_run(postgres, sql) != STATUS_OK)
        postgres_session_end(postgres); /* the next one begins with it */
    postgres->statement_ms = ms;
    postgres->answer_ms = ms + ms / 2; /* a server that hangs ends nothing */
}

static enum status postgres_reader_open(const struct sql_connection *, struct sql_connection **);
static enum status postgres_writer_open(const struct sql_connection *, struct sql_connection **);

static const struct driver postgres_driver = {
    .name = "postgres",
    .clock_sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
    .locks_rows = true,
    .close = postgres_close,
    .reader_open = postgres_reader_open,
    .writer_open = postgres_writer_open,
    .patience = postgres_patience,
    .interrupt = postgres_interrupt,
    .begin = postgres_begin,
    .begin_view = postgres_begin_view,
    .commit = postgres_commit,
    .rollback = postgres_rollback,
    .part_begin = postgres_part_begin,
    .part_keep = postgres_part_keep,
    .part_drop = postgres_part_drop,
    .is_open = postgres_is_open,
    .query = postgres_query,
    .next = postgres_next,
    .finish = postgres_finish,
    .number = postgres_number_at,
    .bytes = postgres_bytes_at,
    .script = postgres_script,
    .insert_many = postgres_insert_many,
    .matched = postgres_matched,
    .error = postgres_error,
    .message = postgres_message,
    .counter = postgres_counter,
    .counter_lift = postgres_counter_lift,
    .whole_check = NULL,
};

static struct postgres *postgres_make(const char *url, const char *password, bool reads_only)
{
    struct postgres *postgres = calloc(1, sizeof *postgres);
    if (postgres == NULL)
        return NULL;
    postgres->connection.driver = &postgres_driver;
    postgres->reads_only = reads_only;
    postgres->pause_ms = POSTGRES_PAUSE_MIN_MS;
    postgres->statement_ms = reads_only ? POSTGRES_READER_STATEMENT_MS : POSTGRES_STATEMENT_MS;
    postgres->answer_ms = postgres->statement_ms + POSTGRES_ANSWER_MS;
    pthread_mutex_init(&postgres->interrupt_lock, NULL);
    postgres->url = strdup(url);
    postgres->password = password == NULL ? NULL : strdup(password);
    if (postgres->url != NULL && (password == NULL || postgres->password != NULL))
        return postgres;
    postgres_close(&postgres->connection);
    return NULL;
}

static enum status postgres_open(struct sql_connection **connection, const char *url,
    const char *password, bool reads_only, char *error, size_t error_bytes)
{
    struct postgres *postgres = postgres_make(url, password, reads_only);
    if (postgres == NULL) {
        snprintf(error, error_bytes, "out of memory");
        return STATUS_AWAY;
    }
    const enum status status = postgres_session_need(postgres, POSTGRES_CONNECT_MS);
    if (status == STATUS_OK) {
        *connection = &postgres->connection;
        return STATUS_OK;
    }
    snprintf(error, error_bytes, "%s", postgres->message);
    postgres_close(&postgres->connection);
    return status;
}

enum status postgres_connect(struct sql_connection **connection, const char *url,
    const char *password, char *error, size_t error_bytes)
{
    *connection = NULL;
    const enum status status = postgres_session_parse(url, error, error_bytes);
    return status == STATUS_OK ? postgres_open(connection, url, password, false, error, error_bytes)
                               : status;
}

static enum status another_open(
    const struct sql_connection *connection, bool is_reader, struct sql_connection **out)
{
    const struct postgres *postgres = (const struct postgres *)(const void *)connection;
    char error[POSTGRES_MESSAGE_MAX];
    *out = NULL;
    return postgres_open(out, postgres->url, postgres->password, is_reader, error, sizeof error);
}

static enum status postgres_reader_open(
    const struct sql_connection *connection, struct sql_connection **reader)
{
    return another_open(connection, true, reader);
}

static enum status postgres_writer_open(
    const struct sql_connection *connection, struct sql_connection **writer)
{
    return another_open(connection, false, writer);
}
