/* SPDX-License-Identifier: Apache-2.0 */
/* store/query.c: a statement from its values to its rows, and reset again. */
#include "store/parts.h"

enum status sql_query(struct store *store, const char *sql, struct sql_values values, struct sql_row **row)
{
    if (store_is_lost(store))
        return STATUS_AWAY;
    return store->connection->driver->query(store->connection, sql, values, row);
}

enum status sql_next(struct sql_row *row)
{
    return row->connection->driver->next(row);
}

void sql_finish(struct sql_row *row)
{
    row->connection->driver->finish(row);
}

uint32_t sql_matched(const struct store *store)
{
    return store->connection->driver->matched(store->connection);
}

static enum status do_once(struct store *store, const char *sql, struct sql_values values)
{
    struct sql_row *row;
    enum status status = sql_query(store, sql, values, &row);
    if (status != STATUS_OK)
        return status;
    status = sql_next(row);
    invariant(status != STATUS_OK); /* it answers no rows */
    sql_finish(row);
    if (status != STATUS_NOT_FOUND)
        return status;
    store->changes += sql_matched(store);
    return STATUS_OK;
}

enum status sql_do(struct store *store, const char *sql, struct sql_values values)
{
    struct store_tries tries = { 0 };
    enum status status;
    do
        status = do_once(store, sql, values);
    while (store_is_alone(store) && store_again(store, &tries, &status));
    return status;
}

enum status sql_run(struct sql_connection *connection, const char *sql, struct sql_values values)
{
    struct sql_row *row;
    enum status status = connection->driver->query(connection, sql, values, &row);
    if (status != STATUS_OK)
        return status;
    status = sql_next(row);
    sql_finish(row);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status sql_insert(struct store *store, const char *sql, struct sql_values values, uint64_t *id)
{
    struct store_tries tries = { 0 };
    enum status status;
    do
        status = sql_number(store, sql, values, id);
    while (store_is_alone(store) && store_again(store, &tries, &status));
    store->changes += status == STATUS_OK;
    return status;
}

enum status sql_do_one(struct store *store, const char *sql, struct sql_values values, enum status none)
{
    const enum status status = sql_do(store, sql, values);
    return status == STATUS_OK && sql_matched(store) != 1 ? none : status;
}

enum status sql_one_of(struct sql_row *row, const struct sql_columns *columns, void *out)
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
    struct sql_row *row;
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

enum status sql_rows_of(struct sql_row *row, const struct sql_columns *columns, struct sql_page page)
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
    struct sql_row *row;
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

enum status sql_numbers_of(struct sql_connection *connection, const char *sql, uint64_t *numbers, int count)
{
    struct sql_row *row;
    enum status status = connection->driver->query(connection, sql, NO_VALUES, &row);
    if (status != STATUS_OK)
        return status;
    status = connection->driver->next(row);
    for (int i = 0; i < count && status == STATUS_OK; i++)
        numbers[i] = column_u64(row, i);
    connection->driver->finish(row);
    return status;
}
