/* SPDX-License-Identifier: Apache-2.0 */
/* store/driver.h: a connection to a database, as the store's logic sees it. SQLite, PostgreSQL and
 * MySQL/MariaDB have a driver each; the logic above stands once and does not know which one it is.
 *
 * The SQL of the store is plain; a driver changes these forms to its own (SQLite: 2, braces and brackets):
 *   1. ?1, ?2 … are values; one may be used twice
 *   2. "… FOR UPDATE" at the end of a SELECT: its rows are locked until the transaction ends
 *   3. "… RETURNING id" at the end of an INSERT: answers one row with the number that it was given
 *   4. "ON CONFLICT(a, b) DO NOTHING" and "ON CONFLICT(a, b) DO UPDATE SET c = table.c + excluded.c" at the
 *      end of an INSERT; the columns are those of a unique key. "ON CONFLICT DO NOTHING" means any key
 *   5. tables: INTEGER (64 bits, signed), TEXT, TEXT{255} (at most so many characters; in keys), BLOB,
 *      "INTEGER PRIMARY KEY AUTOINCREMENT", STRICT, WITHOUT ROWID
 *   6. "CREATE [UNIQUE] INDEX name ON table(a, b){c, a, b} WHERE condition": a database with partial
 *      indexes leaves out what stands in braces; others make an index of the columns in braces. A UNIQUE
 *      one holds there only where the condition does (by a generated column)
 *   7. tables: a database that keeps orders by lot (keys_by_lot) takes what stands in square brackets,
 *      others leave it out. Its statements may call lot_may_have(item, lot, user), which asks the
 *      connection's `lots`
 *   8. "ALTER TABLE table CHECK 3 column(condition)", in a step of a migration: takes the place of the
 *      CHECK of this column. 3: its place among all CHECKs of the table, those of no column first
 * No statement relies on going on after an error: a failed one spoils its transaction, or its part if there
 * is one, which the caller then drops.
 *
 * A text (`sql`) is a literal or a constant, never one that is put together: its statement is prepared once
 * and found again by its address. One row cursor may be open for a text; cursors of several texts may be open
 * at once. Texts and blobs of values belong to the caller and stay as they are until `finish`.
 *
 * Thread: a connection belongs to one thread at a time; `interrupt` is for any.
 * Errors: STATUS_REFUSED: a row broke a rule (`error` tells which kind). STATUS_AWAY: the database can't be
 * reached, is full or busy, a lock was waited for too long, or the transaction is to be repeated; nothing was
 * kept. STATUS_CORRUPT: the tables are not ours or are damaged. STATUS_NOT_FOUND: no more rows. */
#ifndef STAMPEDE_STORE_DRIVER_H
#define STAMPEDE_STORE_DRIVER_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One statement with its values, and how many these are. A server that takes less at a time is refused. */
enum { SQL_STATEMENT_BYTES_MAX = 2 * 1024 * 1024, SQL_VALUES_MAX = 2048 };

struct sql_value {
    enum { SQL_NUMBER, SQL_TEXT, SQL_BLOB } kind;
    uint64_t number;  /* bits of a signed one; or how many bytes; -1: a text up to its 0 */
    const void *data; /* NULL in a text: NULL */
};
struct sql_values {
    const struct sql_value *list;
    size_t count; /* of each parameter one, every time */
};

enum sql_error {
    SQL_ERROR_NONE,
    SQL_ERROR_UNIQUE, /* a unique or primary key is taken */
    SQL_ERROR_CHECK, /* another rule of the tables: CHECK, NOT NULL, a foreign key, a value too long */
    SQL_ERROR_AGAIN, /* deadlock or serialization: the whole transaction may be repeated at once */
    SQL_ERROR_LOCKED, /* somebody else's lock was waited for too long. The whole transaction was given up, and
                       * to repeat it at once would be to wait as long again */
    SQL_ERROR_AWAY,
    SQL_ERROR_CORRUPT,
    SQL_ERROR_MADE, /* STATUS_CORRUPT: a table, column or index to make is there, or one to drop is not; said
                     * only by a database that commits changes of tables by themselves */
};

/* Whether a lot of an item may have orders of a user (store/lots.h). False: it has none. Any thread. */
struct lot_filter {
    bool (*may_have)(struct lot_filter *, uint64_t item, uint64_t lot, uint64_t user);
};

struct driver;
struct sql_connection {
    const struct driver *driver;
    struct lot_filter *lots; /* NULL: each lot may have each user */
};
/* A statement whose rows are being read. */
struct sql_row {
    struct sql_connection *connection;
};

struct driver {
    const char *name;
    const char *clock_sql; /* a SELECT of the database's own time, ms since 1970; not that of a transaction */
    bool locks_rows; /* other connections write at the same time; false: form 2 has nothing to do */
    bool keys_by_lot; /* form 7, and store/lots.h */
    void (*close)(struct sql_connection *);
    /* Another connection to the same database that only reads. */
    enum status (*reader_open)(const struct sql_connection *, struct sql_connection **reader);
    /* Another connection to the same database that writes, too. NULL: one connection writes. */
    enum status (*writer_open)(const struct sql_connection *, struct sql_connection **writer);
    /* Of a reader, before its first statement: one that takes longer than about this ends with STATUS_AWAY.
     * NULL: there is nothing to wait for. */
    void (*patience)(struct sql_connection *reader, uint32_t ms);
    /* Any thread: a statement that runs on this connection ends soon, with STATUS_AWAY. */
    void (*interrupt)(struct sql_connection *);

    /* A transaction that writes. A lost connection is made again here, and for a statement outside of a
     * transaction. */
    enum status (*begin)(struct sql_connection *);
    /* One that only reads, and sees one moment, that of its first read. Ended by rollback. */
    enum status (*begin_view)(struct sql_connection *);
    /* STATUS_UNKNOWN: it was asked for and no answer came: it may have been kept. Then, and on any other
     * failure, the caller rolls back. */
    enum status (*commit)(struct sql_connection *);
    void (*rollback)(struct sql_connection *); /* harmless outside of a transaction */
    /* A part of the open transaction; parts may stand inside of parts with other names (literals). */
    enum status (*part_begin)(struct sql_connection *, const char *name);
    enum status (*part_keep)(struct sql_connection *, const char *name);
    void (*part_drop)(struct sql_connection *, const char *name);
    /* Whether a transaction is open. False though one was begun: the database or the network gave it up. */
    bool (*is_open)(const struct sql_connection *);

    /* The row cursor stands before the first row. A statement that answers no rows is done with the first
     * `next`, which says STATUS_NOT_FOUND. */
    enum status (*query)(struct sql_connection *, const char *sql, struct sql_values, struct sql_row **);
    enum status (*next)(struct sql_row *);
    void (*finish)(struct sql_row *); /* also before the last row */
    /* Columns from 0, of the row that the cursor is on. NULL is 0 and no bytes. A sum or count may be of
     * any type of the database that is a whole number of 64 bits. */
    int64_t (*number)(struct sql_row *, int at);
    const void *(*bytes)(struct sql_row *, int at, size_t *bytes); /* of a text or blob; until the next row */

    /* Statements without values and rows, each ended by ";": tables and their changes. Forms 5 and 6 are
     * for these only. Not kept as prepared ones. */
    enum status (*script)(struct sql_connection *, const char *sql);

    /* Many rows by one statement. `head` is "INSERT INTO table(a, b)"; `numbers` has the columns of the
     * first row, of the second, and so on. Rows whose unique key is taken are left out: `matched` counts the
     * others. NULL: there is nothing to gain by it. */
    enum status (*insert_many)(struct sql_connection *, const char *head, const uint64_t *numbers,
        uint32_t columns, uint32_t rows);

    /* Rows that the last INSERT, UPDATE or DELETE has matched: an update to the same values counts, an insert
     * that did nothing on a conflict does not. */
    uint32_t (*matched)(const struct sql_connection *);
    /* Of the last statement that failed. */
    enum sql_error (*error)(const struct sql_connection *);
    const char *(*message)(const struct sql_connection *);

    /* The last number that "INTEGER PRIMARY KEY AUTOINCREMENT" of this table has given, and: the next one is
     * above `last`. */
    enum status (*counter)(struct sql_connection *, const char *table, uint64_t *last);
    enum status (*counter_lift)(struct sql_connection *, const char *table, uint64_t last);
    /* Looks at everything, slowly. STATUS_CORRUPT: damaged, and `what` says how. NULL: the server does it. */
    enum status (*whole_check)(struct sql_connection *, char *what, size_t what_bytes);
};

#endif
