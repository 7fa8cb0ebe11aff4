/* SPDX-License-Identifier: Apache-2.0 */
/* store/postgres/rows.c: a text becomes a prepared statement, values go in, rows come out. Both in
 * binary, so that no number and no byte is written as a text and read again.
 *
 * A value's type is that of the first one that is not NULL; until then NULL stands in the prepared
 * text. */
#include "store/postgres/number.h"
#include "store/postgres/parts.h"
#include "store/postgres/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct value {
    uint8_t number[8];
    const char *data; /* NULL: NULL */
    int bytes, format;
};
/* As libpq wants them: `few` is their place if they are not many. */
struct values {
    const char **data;
    uint8_t (*numbers)[8];
    int *bytes, *formats;
    void *memory; /* NULL: it is `few` */
    struct value few[POSTGRES_VALUES_FEW];
};

static struct postgres_statement *statement_of(struct sql_row *row)
{
    return (struct postgres_statement *)(void *)row;
}

/* Texts are told apart by their address. */
static struct postgres_statement *statement_find(struct postgres *postgres, const char *sql)
{
    const uint64_t hash = (uintptr_t)sql * 0x9E3779B97F4A7C15u;
    for (uint32_t i = 0; i < POSTGRES_STATEMENTS_MAX; i++) {
        struct postgres_statement *statement =
            &postgres->statements[((hash >> 32) + i) % POSTGRES_STATEMENTS_MAX];
        if (statement->sql == sql || statement->sql == NULL)
            return statement;
    }
    invariant(!"POSTGRES_STATEMENTS_MAX is below the number of texts");
}

static bool is_null(const struct sql_value *value)
{
    return value->kind != SQL_NUMBER && value->data == NULL;
}

static Oid type_of(const struct sql_value *value)
{
    return value->kind == SQL_NUMBER ? POSTGRES_INT8
        : value->kind == SQL_TEXT    ? POSTGRES_TEXT
                                     : POSTGRES_BYTEA;
}

/* STATUS_BUSY: they were others, or not known; it is to be prepared anew. */
static enum status types_learn(struct postgres_statement *statement, struct sql_values values)
{
    enum status status = STATUS_OK;
    invariant(statement->count == values.count);
    for (size_t i = 0; i < values.count; i++) {
        if (is_null(&values.list[i]) || statement->types[i] == type_of(&values.list[i]))
            continue;
        statement->types[i] = type_of(&values.list[i]);
        status = STATUS_BUSY;
    }
    return status;
}

static void name_of(
    const struct postgres *postgres, const struct postgres_statement *statement, char name[24])
{
    snprintf(name, 24, "s%td", statement - postgres->statements);
}

static enum status statement_forget(struct postgres *postgres, const struct postgres_statement *statement)
{
    char name[24], sql[48];
    name_of(postgres, statement, name);
    snprintf(sql, sizeof sql, "DEALLOCATE %s", name);
    return postgres_run(postgres, sql);
}

static enum status statement_make(struct postgres *postgres, struct postgres_statement *statement)
{
    char name[24];
    const size_t capacity = POSTGRES_TEXT_GROWTH * strlen(statement->sql) + 1;
    Oid *types = malloc((statement->count + 1) * sizeof *types);
    bool *unknown = malloc(statement->count + 1);
    char *sql = malloc(capacity);
    enum status status = STATUS_OK;
    if (types == NULL || unknown == NULL || sql == NULL) {
        status = postgres_fail(postgres, STATUS_AWAY, SQL_ERROR_AWAY, "out of memory");
        goto done;
    }
    for (size_t i = 0; i < statement->count; i++) {
        unknown[i] = statement->types[i] == 0;
        types[i] = unknown[i] ? POSTGRES_TEXT : statement->types[i];
    }
    struct text text = text_in(sql, capacity - 1);
    postgres_text_statement(&text, statement->sql, unknown, statement->count);
    invariant(!text.overflow);
    sql[text.size] = '\0';
    name_of(postgres, statement, name);
    const int sent = PQsendPrepare(postgres->session, name, sql, (int)statement->count, types);
    PGresult *result = postgres_answer(postgres, sent, postgres->answer_ms);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
        status = postgres_failed(postgres, result);
        goto done;
    }
    PQclear(result);
    statement->session = postgres->sessions;
done:
    free(sql);
    free(unknown);
    free(types);
    return status;
}

static enum status statement_prepare(struct postgres *postgres, const char *sql,
    struct sql_values values, struct postgres_statement **found)
{
    struct postgres_statement *statement = *found = statement_find(postgres, sql);
    invariant(values.count <= SQL_VALUES_MAX);
    if (statement->sql == NULL) {
        statement->types = calloc(values.count + 1, sizeof *statement->types);
        if (statement->types == NULL)
            return postgres_fail(postgres, STATUS_AWAY, SQL_ERROR_AWAY, "out of memory");
        statement->row.connection = &postgres->connection;
        statement->count = values.count;
        statement->sql = sql;
    }
    invariant(statement->result == NULL); /* one cursor of a text at a time */
    enum status status = types_learn(statement, values);
    const bool known = statement->session == postgres->sessions;
    if (status == STATUS_OK && known)
        return STATUS_OK;
    status = known ? statement_forget(postgres, statement) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    statement->session = 0;
    return statement_make(postgres, statement);
}

/* False: no memory. */
static bool values_room(struct values *to, size_t count)
{
    to->memory = count > POSTGRES_VALUES_FEW ? malloc(count * sizeof *to->few) : NULL;
    uint8_t *room = to->memory != NULL ? to->memory : (uint8_t *)to->few;
    to->data = (const char **)(void *)room;
    to->numbers = (uint8_t(*)[8])(void *)(room + count * sizeof *to->data);
    to->bytes = (int *)(void *)(room + count * (sizeof *to->data + sizeof *to->numbers));
    to->formats = to->bytes + count;
    return count <= POSTGRES_VALUES_FEW || to->memory != NULL;
}

static void values_fill(struct values *to, struct sql_values values)
{
    for (size_t i = 0; i < values.count; i++) {
        const struct sql_value *value = &values.list[i];
        to->formats[i] = 1;
        to->data[i] = value->data;
        to->bytes[i] = (int)value->number;
        if (value->kind == SQL_NUMBER) {
            postgres_number_put(to->numbers[i], value->number);
            to->data[i] = (const char *)to->numbers[i];
            to->bytes[i] = 8;
        } else if (value->kind == SQL_TEXT && value->number == UINT64_MAX) {
            to->bytes[i] = value->data == NULL ? 0 : (int)strlen(value->data);
        }
    }
}

static void matched_take(struct postgres *postgres, PGresult *result)
{
    const char *tag = PQcmdStatus(result);
    uint32_t matched;
    if (strncmp(tag, "INSERT", 6) != 0 && strncmp(tag, "UPDATE", 6) != 0 && strncmp(tag, "DELETE", 6) != 0)
        return;
    const enum status status = span_to_u32(span_from_string(PQcmdTuples(result)), &matched);
    invariant(status == STATUS_OK);
    postgres->matched = matched;
}

/* Not in a transaction, so it may have been kept. */
static enum status unanswered(const struct postgres *postgres, const char *sql, enum status status)
{
    const bool reads = strncmp(sql, "SELECT", 6) == 0 || strncmp(sql, "WITH", 4) == 0;
    return postgres->session == NULL && !postgres->is_begun && !reads ? STATUS_UNKNOWN : status;
}

enum status postgres_query(struct sql_connection *connection, const char *sql,
    struct sql_values values, struct sql_row **row)
{
    struct postgres *postgres = postgres_of(connection);
    struct postgres_statement *statement;
    struct values given;
    char name[24];
    *row = NULL;
    enum status status = postgres_may_run(postgres);
    if (status == STATUS_OK)
        status = statement_prepare(postgres, sql, values, &statement);
    if (status != STATUS_OK)
        return status;
    if (!values_room(&given, values.count))
        return postgres_fail(postgres, STATUS_AWAY, SQL_ERROR_AWAY, "out of memory");
    values_fill(&given, values);
    name_of(postgres, statement, name);
    const int sent = PQsendQueryPrepared(
        postgres->session, name, (int)values.count, given.data, given.bytes, given.formats, 1);
    PGresult *result = postgres_answer(postgres, sent, postgres->answer_ms);
    free(given.memory);
    const ExecStatusType kind = PQresultStatus(result);
    if (kind != PGRES_TUPLES_OK && kind != PGRES_COMMAND_OK)
        return unanswered(postgres, sql, postgres_failed(postgres, result));
    matched_take(postgres, result);
    statement->result = result;
    statement->at = -1;
    *row = &statement->row;
    return STATUS_OK;
}

static const uint8_t *cell(const struct postgres_statement *statement, int at)
{
    return (const uint8_t *)PQgetvalue(statement->result, statement->at, at);
}

/* A sum may be more than 64 bits have room for; and a table may have been changed by somebody. */
static bool row_is_ours(const struct postgres_statement *statement)
{
    const int columns = PQnfields(statement->result);
    for (int i = 0; i < columns; i++) {
        const Oid type = PQftype(statement->result, i);
        int64_t number;
        if (type == POSTGRES_TEXT || type == POSTGRES_BYTEA || type == POSTGRES_VARCHAR
            || type == POSTGRES_INT8 || PQgetisnull(statement->result, statement->at, i))
            continue;
        if (!postgres_number(type, cell(statement, i),
                (size_t)PQgetlength(statement->result, statement->at, i), &number))
            return false;
    }
    return true;
}

enum status postgres_next(struct sql_row *row)
{
    struct postgres_statement *statement = statement_of(row);
    if (statement->at + 1 >= PQntuples(statement->result))
        return STATUS_NOT_FOUND;
    statement->at++;
    return row_is_ours(statement)
        ? STATUS_OK
        : postgres_fail(postgres_of(row->connection), STATUS_CORRUPT, SQL_ERROR_CORRUPT,
            "a column is not a whole number of 64 bits, nor a text or blob");
}

void postgres_finish(struct sql_row *row)
{
    struct postgres_statement *statement = statement_of(row);
    PQclear(statement->result);
    statement->result = NULL;
}

int64_t postgres_number_at(struct sql_row *row, int at)
{
    const struct postgres_statement *statement = statement_of(row);
    int64_t number = 0;
    if (PQgetisnull(statement->result, statement->at, at))
        return 0;
    const bool is_number = postgres_number(PQftype(statement->result, at), cell(statement, at),
        (size_t)PQgetlength(statement->result, statement->at, at), &number);
    invariant(is_number);
    return number;
}

const void *postgres_bytes_at(struct sql_row *row, int at, size_t *bytes)
{
    const struct postgres_statement *statement = statement_of(row);
    const Oid type = PQftype(statement->result, at);
    invariant(type == POSTGRES_TEXT || type == POSTGRES_VARCHAR || type == POSTGRES_BYTEA);
    *bytes = (size_t)PQgetlength(statement->result, statement->at, at);
    return cell(statement, at);
}

void postgres_statements_free(struct postgres *postgres)
{
    for (size_t i = 0; i < POSTGRES_STATEMENTS_MAX; i++) {
        PQclear(postgres->statements[i].result);
        free(postgres->statements[i].types);
    }
}
