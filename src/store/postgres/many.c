/* SPDX-License-Identifier: Apache-2.0 */
/* store/postgres/many.c: rows of numbers, a column an array, by one statement. */
#include "store/postgres/number.h"
#include "store/postgres/parts.h"

#include "base/span.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* An array of one dimension in binary: dimensions, NULLs, type, length, first index; then the elements, each
 * with its size. */
enum { ARRAY_HEAD = 20, ARRAY_ELEMENT = 12, SQL_BYTES = 2048 };

static uint8_t *word_put(uint8_t *at, uint32_t word)
{
    at[0] = (uint8_t)(word >> 24);
    at[1] = (uint8_t)(word >> 16);
    at[2] = (uint8_t)(word >> 8);
    at[3] = (uint8_t)word;
    return at + 4;
}

static void array_put(uint8_t *at, const uint64_t *numbers, uint32_t columns, uint32_t rows, uint32_t column)
{
    at = word_put(at, 1);
    at = word_put(at, 0);
    at = word_put(at, POSTGRES_INT8);
    at = word_put(at, rows);
    at = word_put(at, 1);
    for (uint32_t row = 0; row < rows; row++) {
        at = word_put(at, sizeof *numbers);
        postgres_number_put(at, numbers[row * columns + column]);
        at += sizeof *numbers;
    }
}

static void text_make(char sql[SQL_BYTES], const char *head, uint32_t columns)
{
    struct text text = text_in(sql, SQL_BYTES - 1);
    text_string(&text, head);
    text_literal(&text, " SELECT * FROM unnest(");
    for (uint32_t i = 0; i < columns; i++)
        text_format(&text, "%s$%u", i == 0 ? "" : ", ", i + 1);
    text_literal(&text, ") ON CONFLICT DO NOTHING");
    invariant(!text.overflow);
    sql[text.size] = '\0';
}

static enum status rows_send(struct postgres *postgres, const char *sql, const uint8_t *arrays,
    uint32_t columns, size_t bytes)
{
    const char *data[POSTGRES_VALUES_FEW];
    int sizes[POSTGRES_VALUES_FEW], formats[POSTGRES_VALUES_FEW];
    Oid types[POSTGRES_VALUES_FEW];
    for (uint32_t i = 0; i < columns; i++) {
        data[i] = (const char *)arrays + i * bytes;
        sizes[i] = (int)bytes;
        formats[i] = 1;
        types[i] = POSTGRES_INT8_ARRAY;
    }
    PGresult *result = postgres_answer(postgres,
        PQsendQueryParams(postgres->session, sql, (int)columns, types, data, sizes, formats, 1),
        postgres->answer_ms);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        return postgres_failed(postgres, result);
    const enum status status = span_to_u32(span_from_string(PQcmdTuples(result)), &postgres->matched);
    invariant(status == STATUS_OK);
    PQclear(result);
    return STATUS_OK;
}

enum status postgres_insert_many(struct sql_connection *connection, const char *head,
    const uint64_t *numbers, uint32_t columns, uint32_t rows)
{
    struct postgres *postgres = postgres_of(connection);
    const size_t bytes = ARRAY_HEAD + rows * (size_t)ARRAY_ELEMENT;
    char sql[SQL_BYTES];
    invariant(columns > 0 && columns <= POSTGRES_VALUES_FEW && postgres->is_begun);
    enum status status = postgres_may_run(postgres);
    if (status != STATUS_OK)
        return status;
    uint8_t *arrays = malloc(columns * bytes);
    if (arrays == NULL)
        return postgres_fail(postgres, STATUS_AWAY, SQL_ERROR_AWAY, "out of memory");
    for (uint32_t i = 0; i < columns; i++)
        array_put(arrays + i * bytes, numbers, columns, rows, i);
    text_make(sql, head, columns);
    status = rows_send(postgres, sql, arrays, columns, bytes);
    free(arrays);
    return status;
}
