/* SPDX-License-Identifier: Apache-2.0 */
/* store/query.c: a statement from its values to its rows, and reset again. */
#include "store/parts.h"

void sql_bind(sqlite3_stmt *statement, struct sql_values values)
{
    invariant(sqlite3_bind_parameter_count(statement) == (int)values.count);
    for (size_t i = 0; i < values.count; i++) {
        const struct sql_value *value = &values.list[i];
        const int at = (int)i + 1, bytes = (int)value->number;
        int result;
        if (value->kind == SQL_NUMBER)
            result = sqlite3_bind_int64(statement, at, (sqlite3_int64)value->number);
        else if (value->kind == SQL_TEXT)
            result = sqlite3_bind_text(statement, at, value->data, bytes, SQLITE_STATIC);
        else
            result = sqlite3_bind_blob(statement, at, value->data, bytes, SQLITE_STATIC);
        invariant(result == SQLITE_OK);
    }
}

void sql_finish(sqlite3_stmt *row)
{
    (void)sqlite3_reset(row); /* repeats the last step's error */
}

enum status sql_query(struct store *store, const char *sql, struct sql_values values, sqlite3_stmt **row)
{
    if (store_is_lost(store))
        return STATUS_AWAY;
    const enum status status = sqlite_prepare(store, sql, row);
    if (status == STATUS_OK)
        sql_bind(*row, values);
    return status;
}

enum status sql_next(sqlite3_stmt *row)
{
    const int result = sqlite3_step(row);
    return result == SQLITE_DONE ? STATUS_NOT_FOUND : sqlite_status(result);
}

enum status sql_do(struct store *store, const char *sql, struct sql_values values)
{
    sqlite3_stmt *statement;
    enum status status = sql_query(store, sql, values, &statement);
    if (status != STATUS_OK)
        return status;
    status = sql_next(statement);
    invariant(status != STATUS_OK); /* it answers no rows */
    sql_finish(statement);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status sql_do_one(struct store *store, const char *sql, struct sql_values values, enum status none)
{
    const enum status status = sql_do(store, sql, values);
    return status == STATUS_OK && store_changed_rows(store) != 1 ? none : status;
}

enum status sql_one_of(sqlite3_stmt *row, const struct sql_columns *columns, void *out)
{
    enum status status = sql_next(row);
    if (status == STATUS_OK)
        status = sql_columns_take(columns, row, out);
    sql_finish(row);
    return status;
}

enum status sql_one(struct store *store, const char *sql, struct sql_values values,
    const struct sql_columns *columns, void *out)
{
    sqlite3_stmt *row;
    const enum status status = sql_query(store, sql, values, &row);
    return status == STATUS_OK ? sql_one_of(row, columns, out) : status;
}

static enum status first_columns(struct store *store, const char *sql, struct sql_values values,
    enum sql_field_kind kind, void *out, size_t bytes)
{
    const struct sql_field field = { .kind = kind, .bytes = (uint32_t)bytes };
    return sql_one(store, sql, values, &(struct sql_columns){ &field, 1, bytes, NULL }, out);
}

enum status sql_numbers(struct store *store, const char *sql, struct sql_values values,
    uint64_t *numbers, uint32_t count)
{
    return first_columns(store, sql, values, FIELD_U64, numbers, count * sizeof *numbers);
}

enum status sql_text(
    struct store *store, const char *sql, struct sql_values values, char *out, size_t out_bytes)
{
    return first_columns(store, sql, values, FIELD_TEXT, out, out_bytes);
}

enum status sql_number(struct store *store, const char *sql, struct sql_values values, uint64_t *number)
{
    return sql_numbers(store, sql, values, number, 1);
}

enum status sql_found(struct store *store, const char *sql, struct sql_values values, bool *found)
{
    const enum status status = sql_one(store, sql, values, &(struct sql_columns){ 0 }, found);
    *found = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status sql_rows_of(sqlite3_stmt *row, const struct sql_columns *columns, struct sql_page page)
{
    enum status status = STATUS_OK;
    while (*page.count < page.max && (status = sql_next(row)) == STATUS_OK) {
        status = sql_columns_take(columns, row, (char *)page.rows + *page.count * page.row_bytes);
        if (status != STATUS_OK)
            break;
        *page.count += 1;
    }
    sql_finish(row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status sql_rows(struct store *store, const char *sql, struct sql_values values,
    const struct sql_columns *columns, struct sql_page page)
{
    sqlite3_stmt *row;
    *page.count = 0;
    const enum status status = sql_query(store, sql, values, &row);
    return status == STATUS_OK ? sql_rows_of(row, columns, page) : status;
}

enum status store_end(struct store *store, enum status status)
{
    if (status == STATUS_OK)
        status = store_commit(store);
    if (status != STATUS_OK)
        store_rollback(store);
    return status;
}
