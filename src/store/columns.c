/* SPDX-License-Identifier: Apache-2.0 */
#include "store/columns.h"

#include <string.h>

const struct sql_columns sql_number_column = {
    .fields = &(const struct sql_field){ .kind = FIELD_U64, .bytes = sizeof(uint64_t) },
    .count = 1,
};

void column_text(struct sql_row *row, int at, char *out, size_t out_bytes)
{
    size_t bytes;
    const void *text = row->connection->driver->bytes(row, at, &bytes);
    out[0] = '\0';
    if (text == NULL)
        return;
    if (bytes >= out_bytes)
        bytes = out_bytes - 1;
    memcpy(out, text, bytes);
    out[bytes] = '\0';
}

size_t column_bytes(struct sql_row *row, int at)
{
    size_t bytes;
    return row->connection->driver->bytes(row, at, &bytes) == NULL ? 0 : bytes;
}

size_t column_blob(struct sql_row *row, int at, void *out, size_t out_bytes)
{
    size_t bytes;
    const void *blob = row->connection->driver->bytes(row, at, &bytes);
    if (blob == NULL || bytes > out_bytes)
        return 0;
    memcpy(out, blob, bytes);
    return bytes;
}

/* How many bytes of memory it fills. */
static size_t number_take(enum sql_field_kind kind, struct sql_row *row, int at, void *out)
{
    switch (kind) {
    case FIELD_BOOL:
        *(bool *)out = column_u64(row, at) != 0;
        return sizeof(bool);
    case FIELD_U8:
        *(uint8_t *)out = (uint8_t)column_u64(row, at);
        return sizeof(uint8_t);
    case FIELD_INT:
        *(int *)out = (int)row->connection->driver->number(row, at);
        return sizeof(int);
    case FIELD_U32:
        *(uint32_t *)out = column_u32(row, at);
        return sizeof(uint32_t);
    case FIELD_U64:
    case FIELD_TEXT:
    case FIELD_SUM:
    case FIELD_PART:
    default:
        *(uint64_t *)out = column_u64(row, at);
        return sizeof(uint64_t);
    }
}

/* The column after the last one that was read. */
static int fields_take(const struct sql_columns *columns, struct sql_row *row, int at, char *out)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct sql_field *field = &columns->fields[i];
        char *into = out + field->offset;
        if (field->kind == FIELD_PART) {
            at = fields_take(field->part, row, at, into);
        } else if (field->kind == FIELD_TEXT) {
            column_text(row, at++, into, field->bytes);
        } else if (field->kind == FIELD_SUM) {
            *(uint64_t *)(void *)into = (column_u64(row, at) << 32) + column_u64(row, at + 1);
            at += 2;
        } else {
            for (size_t done = 0; done < field->bytes; at++)
                done += number_take(field->kind, row, at, into + done);
        }
    }
    return at;
}

enum status sql_columns_take(const struct sql_columns *columns, struct sql_row *row, void *out)
{
    memset(out, 0, columns->bytes);
    (void)fields_take(columns, row, 0, out);
    return columns->also == NULL ? STATUS_OK : columns->also(row, out);
}
