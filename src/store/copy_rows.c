/* SPDX-License-Identifier: Apache-2.0 */
#include "store/copy_rows.h"

#include "store/parts.h"

#include <stdlib.h>
#include <string.h>

/* With the numbers of a statement and its text it stays below SQL_STATEMENT_BYTES_MAX. */
enum { ROWS_BYTES_MAX = 1024 * 1024 };
static_assert(ROWS_BYTES_MAX + COPY_MANY_BYTES + SQL_VALUES_MAX * 16 <= SQL_STATEMENT_BYTES_MAX,
    "gathered rows are one statement");

enum status copy_rows_open(struct copy_rows *rows)
{
    *rows = (struct copy_rows){ .values = calloc(SQL_VALUES_MAX, sizeof *rows->values),
        .bytes = malloc(ROWS_BYTES_MAX) };
    return rows->values == NULL || rows->bytes == NULL ? STATUS_AWAY : STATUS_OK;
}

void copy_rows_close(struct copy_rows *rows)
{
    free(rows->values);
    free(rows->bytes);
    *rows = (struct copy_rows){ 0 };
}

void copy_rows_drop(struct copy_rows *rows)
{
    rows->rows = rows->used = 0;
}

static uint32_t row_values(const struct copy_table *table)
{
    return table->column_count + table->null_count;
}

static enum status one_by_one(
    struct copy_rows *rows, struct sql_connection *to, const struct copy_table *table)
{
    const uint32_t each = row_values(table);
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < rows->rows && status == STATUS_OK; i++)
        status =
            sql_run(to, table->insert, (struct sql_values){ rows->values + (size_t)i * each, each });
    copy_rows_drop(rows);
    return status;
}

enum status copy_rows_end(struct copy_rows *rows, struct sql_connection *to, const struct copy_table *table)
{
    if (rows->rows < table->many_rows || table->many_rows < 2)
        return one_by_one(rows, to, table);
    const enum status status = sql_run(to, table->many,
        (struct sql_values){ rows->values, (size_t)rows->rows * row_values(table) });
    copy_rows_drop(rows);
    return status;
}

static uint64_t row_bytes(const struct copy_row *row)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < row->count; i++)
        bytes += row->list[i].kind == SQL_NUMBER ? 0 : row->list[i].number;
    return bytes;
}

static void row_keep(struct copy_rows *rows, const struct copy_row *row)
{
    struct sql_value *values = rows->values + (size_t)rows->rows * row->count;
    memcpy(values, row->list, row->count * sizeof *values);
    for (uint32_t i = 0; i < row->count; i++) {
        if (values[i].kind == SQL_NUMBER)
            continue;
        uint8_t *place = rows->bytes + rows->used;
        memcpy(place, values[i].data, values[i].number);
        values[i].data = place;
        rows->used += (uint32_t)values[i].number;
    }
    rows->rows++;
}

enum status copy_rows_add(struct copy_rows *rows, struct sql_connection *to,
    const struct copy_table *table, const struct copy_row *row)
{
    const uint64_t bytes = row_bytes(row);
    enum status status = STATUS_OK;
    invariant(row->count == row_values(table));
    if (to->driver->insert_many == NULL) /* nothing is gained there */
        return sql_run(to, table->insert, (struct sql_values){ row->list, row->count });
    if (bytes > ROWS_BYTES_MAX - rows->used)
        status = one_by_one(rows, to, table);
    if (status == STATUS_OK && bytes > ROWS_BYTES_MAX)
        return sql_run(to, table->insert, (struct sql_values){ row->list, row->count });
    if (status != STATUS_OK)
        return status;
    row_keep(rows, row);
    return rows->rows < table->many_rows ? STATUS_OK : copy_rows_end(rows, to, table);
}
