/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/query.h: a statement from its values to its rows, and reset again.
 * VALUES(U64(1), TEXT("x")) are ?1 and ?2: one for each parameter, every time. Texts and blobs belong
 * to the caller, and are not read after the statement.
 * Thread: the store's. Errors: those of the database; STATUS_NOT_FOUND where it is said. */
#ifndef STAMPEDE_STORE_SQLITE_QUERY_H
#define STAMPEDE_STORE_SQLITE_QUERY_H

#include "store/sqlite/columns.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite_store;

struct sqlite_value {
    enum { SQLITE_VALUE_NUMBER, SQLITE_VALUE_TEXT, SQLITE_VALUE_BLOB } kind;
    uint64_t number; /* or how many bytes */
    const void *data;
};
struct sqlite_values {
    const struct sqlite_value *list;
    size_t count;
};
#define U64(value) ((struct sqlite_value){ SQLITE_VALUE_NUMBER, (uint64_t)(value), NULL })
#define TEXT(value) TEXT_OF((value), -1)
#define TEXT_OF(value, bytes) \
    ((struct sqlite_value){ SQLITE_VALUE_TEXT, (uint64_t)(bytes), (value) })
#define BLOB(value, bytes) ((struct sqlite_value){ SQLITE_VALUE_BLOB, (bytes), (value) })
#define NOTHING TEXT(NULL)
#define VALUES(...) \
    ((struct sqlite_values){ (const struct sqlite_value[]){ __VA_ARGS__ }, \
        sizeof((const struct sqlite_value[]){ __VA_ARGS__ }) / sizeof(struct sqlite_value) })
#define NO_VALUES ((struct sqlite_values){ NULL, 0 })
/* A statement that answers no rows. */
MUST_CHECK enum status sqlite_do(struct sqlite_store *, const char *sql, struct sqlite_values);
/* The same, of one row; `none` if it changed none. */
MUST_CHECK enum status sqlite_do_one(
    struct sqlite_store *, const char *sql, struct sqlite_values, enum status none);
/* The first row. STATUS_NOT_FOUND: there is none. */
MUST_CHECK enum status sqlite_one(struct sqlite_store *, const char *sql, struct sqlite_values,
    const struct sqlite_columns *, void *out);
/* Its first columns, as numbers; unchanged if there is no row. */
MUST_CHECK enum status sqlite_numbers(struct sqlite_store *, const char *sql, struct sqlite_values,
    uint64_t *numbers, uint32_t count);
/* Only the first. */
MUST_CHECK enum status sqlite_number(
    struct sqlite_store *, const char *sql, struct sqlite_values, uint64_t *number);
/* Only the first, as text. */
MUST_CHECK enum status sqlite_text(
    struct sqlite_store *, const char *sql, struct sqlite_values, char *out, size_t out_bytes);
/* Whether there is a row. */
MUST_CHECK enum status sqlite_found(
    struct sqlite_store *, const char *sql, struct sqlite_values, bool *found);
/* Up to `max` rows into an array; *count: how many. */
struct sqlite_page {
    void *rows;
    size_t row_bytes;
    uint32_t max;
    uint32_t *count;
};
#define PAGE(rows, max, count) ((struct sqlite_page){ (rows), sizeof *(rows), (max), (count) })
MUST_CHECK enum status sqlite_rows(struct sqlite_store *, const char *sql, struct sqlite_values,
    const struct sqlite_columns *, struct sqlite_page);
/* Row by row: sqlite_next until there is no more, then sqlite_finish. */
MUST_CHECK enum status sqlite_query(
    struct sqlite_store *, const char *sql, struct sqlite_values, sqlite3_stmt **row);
/* STATUS_OK: on a row. STATUS_NOT_FOUND: no more rows. */
MUST_CHECK enum status sqlite_next(sqlite3_stmt *row);
void sqlite_finish(sqlite3_stmt *row);
/* For a statement of another connection: its values; its first row; a page of it. The last two finish it. */
void sqlite_bind(sqlite3_stmt *, struct sqlite_values);
MUST_CHECK enum status sqlite_one_of(sqlite3_stmt *, const struct sqlite_columns *, void *out);
MUST_CHECK enum status sqlite_rows_of(sqlite3_stmt *, const struct sqlite_columns *, struct sqlite_page);
/* Commits, or rolls back what has failed already or fails now. */
MUST_CHECK enum status sqlite_end(struct sqlite_store *, enum status);

#endif
