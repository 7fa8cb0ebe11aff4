/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/query.c: a statement from its values to its rows, and reset again. */
#include "store/sqlite/parts.h"

void sqlite_bind(sqlite3_stmt *statement, struct sqlite_values values)
{
    invariant(sqlite3_bind_parameter_count(statement) == (int)values.count);
    for (size_t i = 0; i < values.count; i++) {
        const struct sqlite_value *value = &values.list[i];
        const int at = (int)i + 1, bytes = (int)value->number;
        int result;
        if (value->kind == SQLITE_VALUE_NUMBER)
            result = sqlite3_bind_int64(statement, at, (sqlite3_int64)value->number);
        else if (value->kind == SQLITE_VALUE_TEXT)
            result = sqlite3_bind_text(statement, at, value->data, bytes, SQLITE_STATIC);
        else
            result = sqlite3_bind_blob(statement, at, value->data, bytes, SQLITE_STATIC);
        invariant(result == SQLITE_OK);
    }
}

void sqlite_finish(sqlite3_stmt *row)
{
    (void)sqlite3_reset(row); /* repeats the last step's error */
}

enum status sqlite_query(
    struct sqlite_store *store, const char *sql, struct sqlite_values values, sqlite3_stmt **row)
{
    if (sqlite_is_lost(store))
        return STATUS_AWAY;
    const enum status status = sqlite_prepare(store, sql, row);
    if (status == STATUS_OK)
        sqlite_bind(*row, values);
    return status;
}

enum status sqlite_next(sqlite3_stmt *row)
{
    const int result = sqlite3_step(row);
    return result == SQLITE_DONE ? STATUS_NOT_FOUND : sqlite_status(result);
}

enum status sqlite_do(struct sqlite_store *store, const char *sql, struct sqlite_values values)
{
    sqlite3_stmt *statement;
    enum status status = sqlite_query(store, sql, values, &statement);
    if (status != STATUS_OK)
        return status;
    status = sqlite_next(statement);
    invariant(status != STATUS_OK); /* it answers no rows */
    sqlite_finish(statement);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status sqlite_do_one(
    struct sqlite_store *store, const char *sql, struct sqlite_values values, enum status none)
{
    const enum status status = sqlite_do(store, sql, values);
    return status == STATUS_OK && sqlite_changed_rows(store) != 1 ? none : status;
}

enum status sqlite_one_of(sqlite3_stmt *row, const struct sqlite_columns *columns, void *out)
{
    enum status status = sqlite_next(row);
    if (status == STATUS_OK)
        status = sqlite_columns_take(columns, row, out);
    sqlite_finish(row);
    return status;
}

enum status sqlite_one(struct sqlite_store *store, const char *sql, struct sqlite_values values,
    const struct sqlite_columns *columns, void *out)
{
    sqlite3_stmt *row;
    const enum status status = sqlite_query(store, sql, values, &row);
    return status == STATUS_OK ? sqlite_one_of(row, columns, out) : status;
}

static enum status first_columns(struct sqlite_store *store, const char *sql,
    struct sqlite_values values, enum sqlite_field_kind kind, void *out, size_t bytes)
{
    const struct sqlite_field field = { .kind = kind, .bytes = (uint32_t)bytes };
    return sqlite_one(store, sql, values, &(struct sqlite_columns){ &field, 1, bytes, NULL }, out);
}

enum status sqlite_numbers(struct sqlite_store *store, const char *sql, struct sqlite_values values,
    uint64_t *numbers, uint32_t count)
{
    return first_columns(store, sql, values, FIELD_U64, numbers, count * sizeof *numbers);
}

enum status sqlite_text(struct sqlite_store *store, const char *sql, struct sqlite_values values,
    char *out, size_t out_bytes)
{
    return first_columns(store, sql, values, FIELD_TEXT, out, out_bytes);
}

enum status sqlite_number(
    struct sqlite_store *store, const char *sql, struct sqlite_values values, uint64_t *number)
{
    return sqlite_numbers(store, sql, values, number, 1);
}

enum status sqlite_found(
    struct sqlite_store *store, const char *sql, struct sqlite_values values, bool *found)
{
    const enum status status = sqlite_one(store, sql, values, &(struct sqlite_columns){ 0 }, found);
    *found = status == STATUS_OK;
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status sqlite_rows_of(sqlite3_stmt *row, const struct sqlite_columns *columns, struct sqlite_page page)
{
    enum status status = STATUS_OK;
    while (*page.count < page.max && (status = sqlite_next(row)) == STATUS_OK) {
        status = sqlite_columns_take(columns, row, (char *)page.rows + *page.count * page.row_bytes);
        if (status != STATUS_OK)
            break;
        *page.count += 1;
    }
    sqlite_finish(row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status sqlite_rows(struct sqlite_store *store, const char *sql, struct sqlite_values values,
    const struct sqlite_columns *columns, struct sqlite_page page)
{
    sqlite3_stmt *row;
    *page.count = 0;
    const enum status status = sqlite_query(store, sql, values, &row);
    return status == STATUS_OK ? sqlite_rows_of(row, columns, page) : status;
}

enum status sqlite_end(struct sqlite_store *store, enum status status)
{
    if (status == STATUS_OK)
        status = sqlite_commit(store);
    if (status != STATUS_OK)
        sqlite_rollback(store);
    return status;
}
