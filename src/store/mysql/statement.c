/* SPDX-License-Identifier: Apache-2.0 */
/* Prepared statements and their rows. A statement is prepared at its first use on a connection, is
 * executed by the first `next`, and its whole result then stands in the memory of this process:
 * any other statement may run while it is read. Numbers of every type that is whole come back with
 * all their bits: BIGINT as it is, also if it is UNSIGNED (bit operations are), DECIMAL (sums are)
 * by its digits. A fraction, or more than 64 bits, is an error. */
#include "store/mysql/parts.h"

#include "store/mysql/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { DECIMAL_BYTES = 96, KEPT_BYTES_MAX = 65536 };
enum column_kind { COLUMN_NUMBER, COLUMN_DECIMAL, COLUMN_BYTES, COLUMN_NULL, COLUMN_UNKNOWN };

struct mysql_column {
    enum column_kind kind;
    my_bool is_null;
    unsigned long length;
    int64_t number;
    char *bytes;
    size_t room;
};
/* Of a value that is given. */
struct mysql_given {
    int64_t number;
    unsigned long length;
};
struct mysql_statement {
    struct sql_row row; /* first: the seam's handle is this one's address */
    const char *sql;
    MYSQL_STMT *stmt; /* NULL: not prepared on this connection */
    enum { ROW_CLOSED, ROW_BEFORE, ROW_READING, ROW_ENDED } state;
    enum status end; /* what `next` says when it has ended */
    bool is_upsert, returns_id;
    uint32_t parameters, values, columns_count;
    uint16_t *order; /* of each parameter: its value */
    MYSQL_BIND *parameter_binds, *column_binds;
    struct mysql_given *given;
    struct mysql_column *columns;
    uint64_t id; /* that the row was given, for returns_id; 0: none, or told already */
};

static struct mysql_statement *statement_of(struct sql_row *row)
{
    return (struct mysql_statement *)row;
}

/* Texts are told apart by their address. */
static struct mysql_statement **kept_of(struct mysql_connection *connection, const char *sql)
{
    const uint64_t hash = (uintptr_t)sql * 0x9E3779B97F4A7C15u;
    for (uint32_t i = 0; i < MYSQL_STATEMENTS_MAX; i++) {
        struct mysql_statement **kept = &connection->kept[((hash >> 32) + i) % MYSQL_STATEMENTS_MAX];
        if (*kept == NULL || (*kept)->sql == sql)
            return kept;
    }
    invariant(!"MYSQL_STATEMENTS_MAX is below the number of texts");
}

static void columns_free(struct mysql_statement *statement)
{
    for (uint32_t i = 0; i < statement->columns_count; i++)
        free(statement->columns[i].bytes);
    free(statement->columns);
    free(statement->column_binds);
    statement->columns = NULL;
    statement->column_binds = NULL;
    statement->columns_count = 0;
}

static void values_free(struct mysql_statement *statement)
{
    free(statement->order);
    free(statement->parameter_binds);
    free(statement->given);
    statement->order = NULL;
    statement->parameter_binds = NULL;
    statement->given = NULL;
}

static void statement_free(struct mysql_statement *statement)
{
    if (statement->stmt != NULL)
        (void)mysql_stmt_close(statement->stmt);
    columns_free(statement);
    values_free(statement);
    free(statement);
}

void mysql_statements_forget(struct mysql_connection *connection)
{
    for (uint32_t i = 0; i < MYSQL_STATEMENTS_MAX; i++) {
        struct mysql_statement *statement = connection->kept[i];
        if (statement != NULL && statement->stmt != NULL) {
            (void)mysql_stmt_close(statement->stmt);
            statement->stmt = NULL;
        }
    }
}

void mysql_statements_close(struct mysql_connection *connection)
{
    for (uint32_t i = 0; i < MYSQL_STATEMENTS_MAX; i++)
        if (connection->kept[i] != NULL)
            statement_free(connection->kept[i]);
}

static struct mysql_connection *connection_of(const struct mysql_statement *statement)
{
    return mysql_of(statement->row.connection);
}

static enum status no_memory(struct mysql_connection *connection)
{
    return mysql_failed_here(connection, SQL_ERROR_AWAY, "out of memory");
}

/* The stmt may be closed afterwards. */
static enum status stmt_failed(struct mysql_connection *connection, MYSQL_STMT *stmt)
{
    return mysql_failed(
        connection, mysql_stmt_errno(stmt), mysql_stmt_sqlstate(stmt), mysql_stmt_error(stmt));
}

/* Fills the parts that follow from the text. False: no memory. */
static bool text_keep(struct mysql_statement *statement, const struct mysql_text *text)
{
    statement->is_upsert = text->is_upsert;
    statement->returns_id = text->returns_id;
    statement->parameters = text->parameters;
    statement->values = text->values;
    if (statement->parameters == 0 || statement->order != NULL)
        return true;
    statement->order = calloc(text->parameters, sizeof *statement->order);
    statement->parameter_binds = calloc(text->parameters, sizeof *statement->parameter_binds);
    statement->given = calloc(text->values, sizeof *statement->given);
    if (statement->order == NULL || statement->parameter_binds == NULL || statement->given == NULL) {
        values_free(statement);
        return false;
    }
    memcpy(statement->order, text->order, text->parameters * sizeof *text->order);
    return true;
}

static enum status stmt_prepare(
    struct mysql_connection *connection, struct mysql_statement *statement, struct span sql)
{
    const my_bool yes = 1;
    MYSQL_STMT *stmt = mysql_stmt_init(connection->mysql);
    if (stmt == NULL)
        return no_memory(connection);
    (void)mysql_stmt_attr_set(stmt, STMT_ATTR_UPDATE_MAX_LENGTH, &yes);
    mysql_session_runs(connection);
    const bool failed = mysql_stmt_prepare(stmt, sql.data, sql.size) != 0;
    mysql_session_ran(connection);
    if (failed) {
        const enum status status = stmt_failed(connection, stmt);
        (void)mysql_stmt_close(stmt);
        return status;
    }
    invariant(mysql_stmt_param_count(stmt) == statement->parameters);
    statement->stmt = stmt;
    return STATUS_OK;
}

static enum status statement_prepare(struct mysql_connection *connection, struct mysql_statement *statement)
{
    const struct span sql = span_from_string(statement->sql);
    const size_t room = mysql_text_room(sql.size);
    char *buffer = malloc(room);
    uint16_t *order = calloc(MYSQL_PARAMETERS_MAX, sizeof *order);
    struct mysql_text text = { .sql = text_in(buffer, room), .order = order };
    enum status status = STATUS_OK;
    if (buffer == NULL || order == NULL) {
        status = no_memory(connection);
    } else {
        mysql_text_make(&text, sql);
        status = text_keep(statement, &text)
            ? stmt_prepare(connection, statement, text_span(&text.sql))
            : no_memory(connection);
    }
    free(buffer);
    free(order);
    return status;
}

static void values_bind(struct mysql_statement *statement, struct sql_values values)
{
    invariant(values.count == statement->values);
    invariant(values.count == 0 || statement->given != NULL);
    for (uint32_t i = 0; i < values.count; i++) {
        const struct sql_value *value = &values.list[i];
        struct mysql_given *given = &statement->given[i];
        given->number = (int64_t)value->number;
        given->length = value->kind == SQL_TEXT && value->number == UINT64_MAX && value->data != NULL
            ? strlen(value->data)
            : (unsigned long)value->number;
    }
    for (uint32_t i = 0; i < statement->parameters; i++) {
        const uint32_t at = statement->order[i];
        const struct sql_value *value = &values.list[at];
        MYSQL_BIND *bind = &statement->parameter_binds[i];
        *bind = (MYSQL_BIND){ .buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &statement->given[at].number };
        if (value->kind == SQL_NUMBER)
            continue;
        bind->buffer_type = value->kind == SQL_TEXT ? MYSQL_TYPE_STRING : MYSQL_TYPE_BLOB;
        memcpy(&bind->buffer, &value->data, sizeof bind->buffer); /* it is only read */
        bind->length = &statement->given[at].length;
        bind->buffer_length = statement->given[at].length;
        if (value->data == NULL)
            bind->buffer_type = MYSQL_TYPE_NULL;
    }
}

enum status mysql_statement_query(
    struct sql_connection *handle, const char *sql, struct sql_values values, struct sql_row **row)
{
    struct mysql_connection *connection = mysql_of(handle);
    *row = NULL;
    if (connection->is_given_up)
        return STATUS_AWAY; /* the error stays the one that it was given up for */
    enum status status = mysql_session_need(connection);
    if (status != STATUS_OK)
        return status;
    struct mysql_statement **kept = kept_of(connection, sql), *statement = *kept;
    if (statement == NULL) {
        *kept = statement = calloc(1, sizeof *statement);
        if (statement == NULL)
            return no_memory(connection);
        statement->row.connection = handle;
        statement->sql = sql;
    }
    invariant(statement->state == ROW_CLOSED); /* one cursor of a text at a time */
    if (statement->stmt == NULL)
        status = statement_prepare(connection, statement);
    if (status != STATUS_OK)
        return status;
    values_bind(statement, values);
    statement->state = ROW_BEFORE;
    *row = &statement->row;
    return STATUS_OK;
}

static enum column_kind column_kind_of(const MYSQL_FIELD *field)
{
    static const struct {
        enum enum_field_types type;
        enum column_kind kind;
    } kinds[] = {
        { MYSQL_TYPE_TINY, COLUMN_NUMBER },
        { MYSQL_TYPE_SHORT, COLUMN_NUMBER },
        { MYSQL_TYPE_INT24, COLUMN_NUMBER },
        { MYSQL_TYPE_LONG, COLUMN_NUMBER },
        { MYSQL_TYPE_LONGLONG, COLUMN_NUMBER },
        { MYSQL_TYPE_DECIMAL, COLUMN_DECIMAL },
        { MYSQL_TYPE_NEWDECIMAL, COLUMN_DECIMAL },
        { MYSQL_TYPE_NULL, COLUMN_NULL },
        { MYSQL_TYPE_VAR_STRING, COLUMN_BYTES },
        { MYSQL_TYPE_STRING, COLUMN_BYTES },
        { MYSQL_TYPE_VARCHAR, COLUMN_BYTES },
        { MYSQL_TYPE_BLOB, COLUMN_BYTES },
        { MYSQL_TYPE_TINY_BLOB, COLUMN_BYTES },
        { MYSQL_TYPE_MEDIUM_BLOB, COLUMN_BYTES },
        { MYSQL_TYPE_LONG_BLOB, COLUMN_BYTES },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].type == field->type)
            return kinds[i].kind;
    return COLUMN_UNKNOWN;
}

/* False: no memory. */
static bool column_bind(struct mysql_column *column, MYSQL_BIND *bind, const MYSQL_FIELD *field)
{
    column->kind = column_kind_of(field);
    *bind = (MYSQL_BIND){ .is_null = &column->is_null, .length = &column->length };
    if (column->kind == COLUMN_NUMBER) {
        bind->buffer_type = MYSQL_TYPE_LONGLONG;
        bind->buffer = &column->number;
        bind->is_unsigned = (field->flags & UNSIGNED_FLAG) != 0;
        return true;
    }
    const size_t bytes = column->kind == COLUMN_BYTES ? field->max_length + 1 : DECIMAL_BYTES;
    if (column->room < bytes) {
        free(column->bytes);
        column->room = 0;
        column->bytes = malloc(bytes);
        if (column->bytes == NULL)
            return false;
        column->room = bytes;
    }
    bind->buffer_type = column->kind == COLUMN_BYTES ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING;
    bind->buffer = column->bytes;
    bind->buffer_length = column->room;
    return true;
}

static bool columns_make(struct mysql_statement *statement, uint32_t count)
{
    if (statement->columns_count == count)
        return true;
    columns_free(statement);
    statement->columns = calloc(count, sizeof *statement->columns);
    statement->column_binds = calloc(count, sizeof *statement->column_binds);
    if (statement->columns == NULL || statement->column_binds == NULL)
        return false;
    statement->columns_count = count;
    return true;
}

/* After the result is in memory: the longest text of each column is known. */
static enum status columns_bind(struct mysql_statement *statement)
{
    struct mysql_connection *connection = connection_of(statement);
    MYSQL_RES *result = mysql_stmt_result_metadata(statement->stmt);
    if (result == NULL || !columns_make(statement, mysql_num_fields(result))) {
        mysql_free_result(result);
        return no_memory(connection);
    }
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < statement->columns_count && status == STATUS_OK; i++) {
        const MYSQL_FIELD *field = mysql_fetch_field_direct(result, i);
        if (!column_bind(&statement->columns[i], &statement->column_binds[i], field))
            status = no_memory(connection);
        else if (statement->columns[i].kind == COLUMN_UNKNOWN)
            status = mysql_failed_here(connection, SQL_ERROR_CORRUPT,
                "a column is neither a whole number nor a text or blob");
    }
    mysql_free_result(result);
    if (status == STATUS_OK && mysql_stmt_bind_result(statement->stmt, statement->column_binds) != 0)
        status = stmt_failed(connection, statement->stmt);
    return status;
}

/* "Rows matched: 3  Changed: 0  Warnings: 0", "Records: 3  Duplicates: 1  Warnings: 0", or
 * nothing. */
static bool info_number(const char *info, const char *word, uint32_t *number)
{
    struct span rest = span_from_string(info), before = span_from_string(word);
    if (!span_starts_with(rest, before))
        return false;
    rest = span_of(rest.data + before.size, rest.size - before.size);
    return span_take_u32(&rest, number);
}

static uint32_t matched_of(const struct mysql_statement *statement, const char *info)
{
    uint32_t number = 0;
    if (info_number(info, "Rows matched: ", &number))
        return number;
    if (statement->is_upsert) /* inserted 1, changed 2, equal 0: the rows count, and one row says nothing */
        return info_number(info, "Records: ", &number) ? number : 1;
    return (uint32_t)mysql_stmt_affected_rows(statement->stmt);
}

static enum status statement_execute(struct mysql_statement *statement)
{
    struct mysql_connection *connection = connection_of(statement);
    MYSQL_STMT *stmt = statement->stmt;
    bool failed =
        statement->parameters > 0 && mysql_stmt_bind_param(stmt, statement->parameter_binds) != 0;
    mysql_session_runs(connection);
    failed = failed || mysql_stmt_execute(stmt) != 0;
    const bool has_rows = !failed && mysql_stmt_field_count(stmt) > 0;
    failed = failed || (has_rows && mysql_stmt_store_result(stmt) != 0);
    if (!failed && !has_rows)
        connection->matched = matched_of(statement, mysql_info(connection->mysql));
    mysql_session_ran(connection);
    if (failed)
        return stmt_failed(connection, stmt);
    if (has_rows)
        return columns_bind(statement);
    statement->id = statement->returns_id && connection->matched > 0 ? mysql_stmt_insert_id(stmt) : 0;
    return statement->id != 0 ? STATUS_OK : STATUS_NOT_FOUND;
}

/* All digits, with zeros only after the point. False: a fraction, or more than 64 bits. */
static bool decimal_read(struct mysql_column *column)
{
    unsigned __int128 number = 0;
    size_t i = 0;
    const bool is_negative = column->length > 0 && column->bytes[0] == '-';
    for (i = is_negative; i < column->length && column->bytes[i] != '.'; i++) {
        number = number * 10 + (unsigned)(column->bytes[i] - '0');
        if (number > (uint64_t)INT64_MAX + is_negative)
            return false;
    }
    for (i++; i < column->length; i++)
        if (column->bytes[i] != '0')
            return false;
    column->number = (int64_t)(is_negative ? 0 - (uint64_t)number : (uint64_t)number);
    return true;
}

static enum status columns_read(struct mysql_statement *statement)
{
    for (uint32_t i = 0; i < statement->columns_count; i++) {
        struct mysql_column *column = &statement->columns[i];
        if (column->is_null)
            column->number = 0;
        else if (column->kind == COLUMN_DECIMAL && !decimal_read(column))
            return mysql_failed_here(connection_of(statement), SQL_ERROR_CORRUPT,
                "a number is not whole or has more than 64 bits");
    }
    return STATUS_OK;
}

static enum status row_fetch(struct mysql_statement *statement)
{
    if (statement->returns_id)
        return STATUS_NOT_FOUND; /* its only row was told with the execution */
    const int result = mysql_stmt_fetch(statement->stmt);
    if (result == MYSQL_NO_DATA)
        return STATUS_NOT_FOUND;
    if (result == MYSQL_DATA_TRUNCATED)
        return mysql_failed_here(connection_of(statement), SQL_ERROR_CORRUPT,
            "a column was longer than the server said");
    if (result != 0)
        return stmt_failed(connection_of(statement), statement->stmt);
    return columns_read(statement);
}

enum status mysql_statement_next(struct sql_row *row)
{
    struct mysql_statement *statement = statement_of(row);
    enum status status = STATUS_OK;
    invariant(statement->state != ROW_CLOSED);
    if (statement->state == ROW_ENDED)
        return statement->end;
    if (statement->stmt == NULL) /* the connection was lost meanwhile */
        status = STATUS_AWAY;
    if (status == STATUS_OK && statement->state == ROW_BEFORE) {
        status = statement_execute(statement);
        if (status == STATUS_OK && !statement->returns_id)
            status = row_fetch(statement);
    } else if (status == STATUS_OK) {
        status = row_fetch(statement);
    }
    statement->state = status == STATUS_OK ? ROW_READING : ROW_ENDED;
    statement->end = status;
    return status;
}

void mysql_statement_finish(struct sql_row *row)
{
    struct mysql_statement *statement = statement_of(row);
    invariant(statement->state != ROW_CLOSED);
    if (statement->stmt != NULL && statement->state != ROW_BEFORE)
        (void)mysql_stmt_free_result(statement->stmt); /* all of it is in this process: nothing can fail */
    for (uint32_t i = 0; i < statement->columns_count; i++)
        if (statement->columns[i].room > KEPT_BYTES_MAX) {
            free(statement->columns[i].bytes);
            statement->columns[i].bytes = NULL;
            statement->columns[i].room = 0;
        }
    statement->state = ROW_CLOSED;
}

int64_t mysql_statement_number(struct sql_row *row, int at)
{
    const struct mysql_statement *statement = statement_of(row);
    invariant(statement->state == ROW_READING);
    if (statement->returns_id) {
        invariant(at == 0);
        return (int64_t)statement->id;
    }
    invariant(at >= 0 && (uint32_t)at < statement->columns_count);
    const struct mysql_column *column = &statement->columns[at];
    invariant(column->is_null || column->kind != COLUMN_BYTES);
    return column->number;
}

const void *mysql_statement_bytes(struct sql_row *row, int at, size_t *bytes)
{
    const struct mysql_statement *statement = statement_of(row);
    invariant(statement->state == ROW_READING && !statement->returns_id);
    invariant(at >= 0 && (uint32_t)at < statement->columns_count);
    const struct mysql_column *column = &statement->columns[at];
    invariant(column->is_null || column->kind == COLUMN_BYTES);
    *bytes = column->is_null ? 0 : column->length;
    return column->is_null ? NULL : column->bytes;
}
