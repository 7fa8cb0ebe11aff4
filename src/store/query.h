/* SPDX-License-Identifier: Apache-2.0 */
/* store/query.h: a statement from its values to its rows, and reset again.
 * VALUES(U64(1), TEXT("x")) are ?1 and ?2: one for each parameter, every time. Texts and blobs belong
 * to the caller, and are not read after the statement.
 * Thread: the store's. Errors: those of the database; STATUS_NOT_FOUND where it is said. */
#ifndef STAMPEDE_STORE_QUERY_H
#define STAMPEDE_STORE_QUERY_H

#include "store/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

#define U64(value) ((struct sql_value){ SQL_NUMBER, (uint64_t)(value), NULL })
#define TEXT(value) TEXT_OF((value), -1)
#define TEXT_OF(value, bytes) ((struct sql_value){ SQL_TEXT, (uint64_t)(bytes), (value) })
#define BLOB(value, bytes) ((struct sql_value){ SQL_BLOB, (bytes), (value) })
#define NOTHING TEXT(NULL)
#define VALUES(...) \
    ((struct sql_values){ (const struct sql_value[]){ __VA_ARGS__ }, \
        sizeof((const struct sql_value[]){ __VA_ARGS__ }) / sizeof(struct sql_value) })
#define NO_VALUES ((struct sql_values){ NULL, 0 })
/* A statement that answers no rows. */
MUST_CHECK enum status sql_do(struct store *, const char *sql, struct sql_values);
/* The same, of one row; `none` if it changed none. */
MUST_CHECK enum status sql_do_one(struct store *, const char *sql, struct sql_values, enum status none);
/* The same on a connection that has no store yet. */
MUST_CHECK enum status sql_run(struct sql_connection *, const char *sql, struct sql_values);
/* Numbers in the first row. STATUS_NOT_FOUND: there is none. STATUS_CORRUPT: there is no such table. */
MUST_CHECK enum status sql_numbers_of(
    struct sql_connection *, const char *sql, uint64_t *numbers, int count);
/* An INSERT that ends with RETURNING id. */
MUST_CHECK enum status sql_insert(struct store *, const char *sql, struct sql_values, uint64_t *id);
/* Rows that the last of these has matched. */
uint32_t sql_matched(const struct store *);
/* The first row. STATUS_NOT_FOUND: there is none. */
MUST_CHECK enum status sql_one(
    struct store *, const char *sql, struct sql_values, const struct sql_columns *, void *out);
/* Its first columns, as numbers; unchanged if there is no row. */
MUST_CHECK enum status sql_numbers(
    struct store *, const char *sql, struct sql_values, uint64_t *numbers, uint32_t count);
/* Only the first. */
MUST_CHECK enum status sql_number(struct store *, const char *sql, struct sql_values, uint64_t *number);
/* Only the first, as text. */
MUST_CHECK enum status sql_text(
    struct store *, const char *sql, struct sql_values, char *out, size_t out_bytes);
/* Whether there is a row. */
MUST_CHECK enum status sql_found(struct store *, const char *sql, struct sql_values, bool *found);
/* Up to `max` rows into an array; *count: how many. */
struct sql_page {
    void *rows;
    size_t row_bytes;
    uint32_t max;
    uint32_t *count;
};
#define PAGE(rows, max, count) ((struct sql_page){ (rows), sizeof *(rows), (max), (count) })
MUST_CHECK enum status sql_rows(struct store *, const char *sql, struct sql_values,
    const struct sql_columns *, struct sql_page);
/* Row by row: sql_next until there is no more, then sql_finish. */
MUST_CHECK enum status sql_query(
    struct store *, const char *sql, struct sql_values, struct sql_row **row);
/* STATUS_OK: on a row. STATUS_NOT_FOUND: no more rows. */
MUST_CHECK enum status sql_next(struct sql_row *row);
void sql_finish(struct sql_row *row);
/* Of a statement of another connection: its first row; a page of it. They finish it. */
MUST_CHECK enum status sql_one_of(struct sql_row *, const struct sql_columns *, void *out);
MUST_CHECK enum status sql_rows_of(struct sql_row *, const struct sql_columns *, struct sql_page);
/* Commits, or rolls back what has failed already or fails now. */
MUST_CHECK enum status store_end(struct store *, enum status);

#endif
