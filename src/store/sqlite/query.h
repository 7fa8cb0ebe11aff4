/* SPDX-License-Identifier: Apache-2.0 */
/* store/sqlite/query.h: a statement from its values to its rows, and reset again.
 * VALUES(U64(1), TEXT("x")) are ?1 and ?2; texts and blobs belong to the caller and are forgotten
 * afterwards.
 * Thread: the store's. Errors: those of the database; STATUS_NOT_FOUND where it is said. */
#ifndef STAMPEDE_STORE_SQLITE_QUERY_H
#define STAMPEDE_STORE_SQLITE_QUERY_H

#include "base/status.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite_store;

struct sqlite_value {
    enum { SQLITE_VALUE_NUMBER, SQLITE_VALUE_TEXT, SQLITE_VALUE_BLOB } kind;
    uint64_t number; /* or bytes of the blob */
    const void *data;
};
struct sqlite_values {
    const struct sqlite_value *list;
    size_t count;
};
#define U64(value) \
    { \
        SQLITE_VALUE_NUMBER, (uint64_t)(value), NULL \
    }
#define TEXT(value) \
    { \
        SQLITE_VALUE_TEXT, 0, (value) \
    }
#define BLOB(value, bytes) \
    { \
        SQLITE_VALUE_BLOB, (bytes), (value) \
    }
#define VALUES(...) \
    ((struct sqlite_values){ (const struct sqlite_value[]){ __VA_ARGS__ }, \
        sizeof((const struct sqlite_value[]){ __VA_ARGS__ }) / sizeof(struct sqlite_value) })
#define NO_VALUES ((struct sqlite_values){ NULL, 0 })
/* Fills *out from the row that the statement is on. */
typedef enum status (*sqlite_take)(sqlite3_stmt *row, void *out);
/* A statement that answers no rows. */
MUST_CHECK enum status sqlite_do(struct sqlite_store *, const char *sql, struct sqlite_values);
/* The same, of one row; `none` if it changed none. */
MUST_CHECK enum status sqlite_do_one(
    struct sqlite_store *, const char *sql, struct sqlite_values, enum status none);
/* The first row. STATUS_NOT_FOUND: there is none. */
MUST_CHECK enum status sqlite_one(
    struct sqlite_store *, const char *sql, struct sqlite_values, sqlite_take, void *out);
/* Its first columns, as numbers; unchanged if there is no row. */
MUST_CHECK enum status sqlite_numbers(
    struct sqlite_store *, const char *sql, struct sqlite_values, uint64_t *numbers, int count);
/* Only the first. */
MUST_CHECK enum status sqlite_number(
    struct sqlite_store *, const char *sql, struct sqlite_values, uint64_t *number);
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
MUST_CHECK enum status sqlite_rows(
    struct sqlite_store *, const char *sql, struct sqlite_values, sqlite_take, struct sqlite_page);
/* Both, of a statement that is prepared. */
MUST_CHECK enum status sqlite_one_of(sqlite3_stmt *, struct sqlite_values, sqlite_take, void *out);
MUST_CHECK enum status sqlite_rows_of(
    sqlite3_stmt *, struct sqlite_values, sqlite_take, struct sqlite_page);
/* Commits, or rolls back what has failed already or fails now. */
MUST_CHECK enum status sqlite_end(struct sqlite_store *, enum status);

#endif
