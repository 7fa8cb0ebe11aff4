/* SPDX-License-Identifier: Apache-2.0 */
/* How fast the database takes order rows when nothing else is done: the yardstick for the server's
 * order writer.
 *
 * Reads the rows of `orders` from a database that the server wrote (so that columns, values and key
 * order are the real ones), makes an empty database with the same tables and indexes, page size,
 * WAL and the given synchronous setting, and inserts the rows in transactions of --batch rows with
 * one prepared statement. Reading is not timed.
 * usage: raw_insert --from DB --to DB --batch N [--limit N] [--synchronous FULL]
 * One line of JSON goes to standard output. */
#include <getopt.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COLUMNS_MAX = 64, ROWS_MAX = 4000000, SQL_BYTES_MAX = 4096 };

struct options {
    const char *from_path;
    const char *to_path;
    const char *synchronous;
    uint32_t batch;
    uint32_t limit;
};

struct rows {
    int columns;
    uint32_t count;
    char names[SQL_BYTES_MAX / 2];
    sqlite3_value **values; /* row after row, `columns` each */
};

static void fail(const char *what)
{
    fprintf(stderr, "raw_insert: %s\n", what);
    exit(2);
}

static void must(sqlite3 *database, int result, const char *what)
{
    if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW)
        return;
    fprintf(stderr, "raw_insert: %s: %s\n", what, sqlite3_errmsg(database));
    exit(2);
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql)
{
    sqlite3_stmt *statement;
    must(database, sqlite3_prepare_v2(database, sql, -1, &statement, NULL), sql);
    return statement;
}

static void execute(sqlite3 *database, const char *sql)
{
    must(database, sqlite3_exec(database, sql, NULL, NULL, NULL), sql);
}

/* Generated columns can't be inserted, so `table_xinfo` names the stored ones. */
static void column_names_read(sqlite3 *from, struct rows *rows)
{
    sqlite3_stmt *columns = prepare(from,
        "SELECT name FROM pragma_table_xinfo('orders') "
        "WHERE hidden = 0 ORDER BY cid");
    size_t at = 0;
    while (sqlite3_step(columns) == SQLITE_ROW && rows->columns < COLUMNS_MAX) {
        int bytes = snprintf(rows->names + at, sizeof(rows->names) - at, "%s\"%s\"",
            rows->columns++ > 0 ? "," : "", sqlite3_column_text(columns, 0));
        at += (size_t)bytes;
        if (at >= sizeof(rows->names))
            fail("the names of the columns of orders are too long");
    }
    sqlite3_finalize(columns);
    if (rows->columns == 0)
        fail("the database has no table orders");
}

static void rows_read(sqlite3 *from, struct rows *rows, uint32_t limit)
{
    char sql[SQL_BYTES_MAX];
    column_names_read(from, rows);
    snprintf(sql, sizeof(sql), "SELECT %s FROM orders ORDER BY rowid LIMIT %u", rows->names, limit);
    sqlite3_stmt *without_rowid;
    if (sqlite3_prepare_v2(from, sql, -1, &without_rowid, NULL) != SQLITE_OK)
        snprintf(sql, sizeof(sql), "SELECT %s FROM orders LIMIT %u", rows->names, limit);
    sqlite3_finalize(without_rowid);
    sqlite3_stmt *select = prepare(from, sql);
    rows->values = calloc((size_t)limit * (size_t)rows->columns, sizeof(*rows->values));
    if (rows->values == NULL)
        fail("out of memory");
    while (sqlite3_step(select) == SQLITE_ROW) {
        sqlite3_value **row = rows->values + (size_t)rows->count * (size_t)rows->columns;
        for (int column = 0; column < rows->columns; column++)
            row[column] = sqlite3_value_dup(sqlite3_column_value(select, column));
        rows->count++;
    }
    sqlite3_finalize(select);
    if (rows->count == 0)
        fail("orders is empty: nothing to insert");
}

/* Tables and indexes of the source, without its triggers. */
static void schema_copy(sqlite3 *from, sqlite3 *to, const char *synchronous)
{
    char sql[SQL_BYTES_MAX];
    sqlite3_stmt *page = prepare(from, "PRAGMA page_size");
    sqlite3_step(page);
    snprintf(sql, sizeof(sql), "PRAGMA page_size=%d; PRAGMA journal_mode=WAL; PRAGMA synchronous=%s",
        sqlite3_column_int(page, 0), synchronous);
    sqlite3_finalize(page);
    execute(to, sql);
    sqlite3_stmt *parts = prepare(from,
        "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL "
        "AND type IN ('table', 'index') AND name NOT LIKE 'sqlite_%' "
        "ORDER BY type = 'index'");
    while (sqlite3_step(parts) == SQLITE_ROW)
        execute(to, (const char *)sqlite3_column_text(parts, 0));
    sqlite3_finalize(parts);
}

static double rows_insert(sqlite3 *to, const struct rows *rows, uint32_t batch)
{
    char sql[SQL_BYTES_MAX];
    char marks[COLUMNS_MAX * 2] = "?";
    for (int column = 1; column < rows->columns; column++)
        memcpy(marks + 2 * column - 1, ",?", 3);
    snprintf(sql, sizeof(sql), "INSERT INTO orders(%s) VALUES(%s)", rows->names, marks);
    sqlite3_stmt *insert = prepare(to, sql);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint32_t row = 0; row < rows->count;) {
        execute(to, "BEGIN IMMEDIATE");
        for (uint32_t last = row + batch; row < last && row < rows->count; row++) {
            for (int column = 0; column < rows->columns; column++)
                sqlite3_bind_value(insert, column + 1,
                    rows->values[(size_t)row * (size_t)rows->columns + (size_t)column]);
            must(to, sqlite3_step(insert), "insert");
            sqlite3_reset(insert);
        }
        execute(to, "COMMIT");
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    sqlite3_finalize(insert);
    return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}

static uint32_t option_count(const char *text, uint32_t max)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 1 && value <= max))
        fail("a count is not a positive number, or too large");
    return (uint32_t)value;
}

static void options_read(struct options *options, int argc, char **argv)
{
    static const struct option names[] = { { "from", 1, NULL, 'f' }, { "to", 1, NULL, 't' },
        { "batch", 1, NULL, 'b' }, { "limit", 1, NULL, 'l' }, { "synchronous", 1, NULL, 's' },
        { NULL, 0, NULL, 0 } };
    *options = (struct options){ .synchronous = "FULL", .batch = 256, .limit = 200000 };
    int name;
    while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (name) {
        case 'f':
            options->from_path = optarg;
            break;
        case 't':
            options->to_path = optarg;
            break;
        case 'b':
            options->batch = option_count(optarg, ROWS_MAX);
            break;
        case 'l':
            options->limit = option_count(optarg, ROWS_MAX);
            break;
        case 's':
            options->synchronous = optarg;
            break;
        default:
            fail("unknown option");
        }
    }
    if (options->from_path == NULL || options->to_path == NULL)
        fail("usage: raw_insert --from DB --to DB --batch N [--limit N] [--synchronous FULL]");
    if (access(options->to_path, F_OK) == 0)
        fail("the database to fill exists already");
}

int main(int argc, char **argv)
{
    struct options options;
    static struct rows rows;
    sqlite3 *from, *to;
    options_read(&options, argc, argv);
    must(NULL, sqlite3_open_v2(options.from_path, &from, SQLITE_OPEN_READONLY, NULL), options.from_path);
    rows_read(from, &rows, options.limit);
    must(NULL, sqlite3_open(options.to_path, &to), options.to_path);
    schema_copy(from, to, options.synchronous);
    double seconds = rows_insert(to, &rows, options.batch);
    printf("{\"rows\":%u,\"batch\":%u,\"seconds\":%.6f,\"rate\":%.1f}\n", rows.count, options.batch,
        seconds, (double)rows.count / seconds);
    sqlite3_close(from);
    sqlite3_close(to);
    return 0;
}
