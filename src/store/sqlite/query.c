/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/query.c: a statement from its values to its rows, and reset again. */
#include "store/sqlite/parts.h"

static void bind(sqlite3_stmt *statement, struct sqlite_values values)
{
    for (size_t i = 0; i < values.count; i++) {
        const struct sqlite_value *value = &values.list[i];
        const int at = (int)i + 1;
        if (value->kind == SQLITE_VALUE_TEXT)
            bind_text(statement, at, value->data);
        else if (value->kind == SQLITE_VALUE_NUMBER)
            bind_u64(statement, at, value->number);
        else
            invariant(sqlite3_bind_blob(statement, at, value->data, (int)value->number, SQLITE_STATIC)
                == SQLITE_OK);
    }
}

/* Texts belong to the caller. */
static void finish(sqlite3_stmt *statement)
{
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
}

enum status sqlite_do(struct sqlite_store *store, const char *sql, struct sqlite_values values)
{
    sqlite3_stmt *statement;
    enum status status = sqlite_prepare(store, sql, &statement);
    if (status != STATUS_OK)
        return status;
    bind(statement, values);
    status = sqlite_run(statement);
    (void)sqlite3_clear_bindings(statement);
    return status;
}

enum status sqlite_do_one(
    struct sqlite_store *store, const char *sql, struct sqlite_values values, enum status none)
{
    const enum status status = sqlite_do(store, sql, values);
    return status == STATUS_OK && sqlite_changed_rows(store) != 1 ? none : status;
}

enum status sqlite_one_of(sqlite3_stmt *row, struct sqlite_values values, sqlite_take take, void *out)
{
    bind(row, values);
    enum status status = sqlite_next(row);
    if (status == STATUS_OK)
        status = take(row, out);
    finish(row);
    return status;
}

enum status sqlite_one(struct sqlite_store *store, const char *sql, struct sqlite_values values,
    sqlite_take take, void *out)
{
    sqlite3_stmt *row;
    const enum status status = sqlite_prepare(store, sql, &row);
    return status == STATUS_OK ? sqlite_one_of(row, values, take, out) : status;
}

struct numbers {
    uint64_t *list;
    int count;
};

static enum status numbers_take(sqlite3_stmt *row, void *out)
{
    const struct numbers *numbers = out;
    for (int i = 0; i < numbers->count; i++)
        numbers->list[i] = column_u64(row, i);
    return STATUS_OK;
}

enum status sqlite_numbers(struct sqlite_store *store, const char *sql, struct sqlite_values values,
    uint64_t *numbers, int count)
{
    return sqlite_one(store, sql, values, numbers_take, &(struct numbers){ numbers, count });
}

enum status sqlite_number(
    struct sqlite_store *store, const char *sql, struct sqlite_values values, uint64_t *number)
{
    return sqlite_numbers(store, sql, values, number, 1);
}

static enum status found_take(sqlite3_stmt *row, void *out)
{
    (void)row;
    *(bool *)out = true;
    return STATUS_OK;
}

enum status sqlite_found(
    struct sqlite_store *store, const char *sql, struct sqlite_values values, bool *found)
{
    *found = false;
    const enum status status = sqlite_one(store, sql, values, found_take, found);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status sqlite_rows_of(
    sqlite3_stmt *row, struct sqlite_values values, sqlite_take take, struct sqlite_page page)
{
    enum status status = STATUS_OK;
    *page.count = 0;
    bind(row, values);
    while (*page.count < page.max && (status = sqlite_next(row)) == STATUS_OK) {
        status = take(row, (char *)page.rows + *page.count * page.row_bytes);
        if (status != STATUS_OK)
            break;
        *page.count += 1;
    }
    finish(row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status sqlite_rows(struct sqlite_store *store, const char *sql, struct sqlite_values values,
    sqlite_take take, struct sqlite_page page)
{
    sqlite3_stmt *row;
    *page.count = 0;
    const enum status status = sqlite_prepare(store, sql, &row);
    return status == STATUS_OK ? sqlite_rows_of(row, values, take, page) : status;
}

enum status sqlite_end(struct sqlite_store *store, enum status status)
{
    if (status == STATUS_OK)
        status = sqlite_commit(store);
    if (status != STATUS_OK)
        sqlite_rollback(store);
    return status;
}
