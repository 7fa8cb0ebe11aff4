/* SPDX-License-Identifier: Apache-2.0 */
/* store/columns.h: the columns of a row become the fields of a struct. A list of fields stands
 * beside the statement's list of columns, in the same order; how a column is read follows from the
 * type of its field.
 * Thread: the store's. Errors: only those of `also`. */
#ifndef STAMPEDE_STORE_COLUMNS_H
#define STAMPEDE_STORE_COLUMNS_H

#include "store/driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_columns;

enum sql_field_kind {
    FIELD_BOOL,
    FIELD_U8,
    FIELD_INT,
    FIELD_U32,
    FIELD_U64,
    FIELD_TEXT,
    FIELD_SUM,  /* two columns: SUM_HALVES */
    FIELD_PART, /* a struct inside, with fields of its own */
};
struct sql_field {
    enum sql_field_kind kind;
    uint32_t offset, bytes; /* of an array of numbers: a column for each */
    const struct sql_columns *part;
};
/* Fills *out from the row that the statement is on. */
typedef enum status (*store_take)(struct sql_row *row, void *out);
struct sql_columns {
    const struct sql_field *fields;
    size_t count;
    size_t bytes;    /* of the struct, which is cleared first */
    store_take also; /* takes what is not a field; NULL: nothing */
};

#define MEMBER(type, member) (((struct type *)0)->member)
#define FIELD_KIND(value) \
    _Generic((value), bool: FIELD_BOOL, uint8_t: FIELD_U8, int: FIELD_INT, uint32_t: FIELD_U32, \
        uint32_t *: FIELD_U32, uint64_t: FIELD_U64, uint64_t *: FIELD_U64, int64_t: FIELD_U64, \
        int64_t *: FIELD_U64, char *: FIELD_TEXT)
#define FIELD_OF(kind, type, member, part) \
    { \
        kind, offsetof(struct type, member), sizeof MEMBER(type, member), part \
    }
#define FIELD(type, member) FIELD_OF(FIELD_KIND(MEMBER(type, member)), type, member, NULL)
#define SUM(type, member) FIELD_OF(FIELD_SUM, type, member, NULL)
#define PART(type, member, columns) FIELD_OF(FIELD_PART, type, member, columns)
#define COLUMNS_ALSO(type, also, ...) \
    { \
        (const struct sql_field[]){ __VA_ARGS__ }, \
            sizeof((const struct sql_field[]){ __VA_ARGS__ }) / sizeof(struct sql_field), \
            sizeof(struct type), also \
    }
#define COLUMNS(type, ...) COLUMNS_ALSO(type, NULL, __VA_ARGS__)

extern const struct sql_columns sql_number_column; /* an uint64_t */

MUST_CHECK enum status sql_columns_take(const struct sql_columns *, struct sql_row *row, void *out);

/* 64-bit numbers of ours are unsigned, the database's are signed: the same bits. */
static inline uint64_t column_u64(struct sql_row *row, int at)
{
    return (uint64_t)row->connection->driver->number(row, at);
}
static inline uint32_t column_u32(struct sql_row *row, int at)
{
    const int64_t value = row->connection->driver->number(row, at);
    return value < 0 ? 0 : value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}
/* Cut to fit; the insert refused what does not. */
void column_text(struct sql_row *row, int at, char *out, size_t out_bytes);
/* How many bytes a text or blob has. */
size_t column_bytes(struct sql_row *row, int at);
/* The bytes of a blob that has at most so many; 0: it is empty or has more. */
size_t column_blob(struct sql_row *row, int at, void *out, size_t out_bytes);
/* Σ of what may be more than 63 bits: the database's sum() of the whole would be an error. Two columns. */
#define SUM_HALVES(what) \
    " coalesce(sum((" what ") >> 32), 0), coalesce(sum((" what ") & 4294967295), 0) "

#endif
