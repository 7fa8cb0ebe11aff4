/* SPDX-License-Identifier: Apache-2.0 */
/* store/postgres/postgres.h: the driver (store/driver.h) for PostgreSQL, on libpq. Transactions
 * that write are READ COMMITTED; a commit waits for the disk of the server, whatever its defaults
 * are. The database must have the encoding UTF8. Rows of a statement are fetched at once: a
 * statement says how many it wants. A connection that was lost is made again, at once and then
 * after growing pauses; STATUS_AWAY is said at once while one lasts. A statement that writes
 * outside of a transaction and gets no answer is STATUS_UNKNOWN. */
#ifndef STAMPEDE_STORE_POSTGRES_POSTGRES_H
#define STAMPEDE_STORE_POSTGRES_POSTGRES_H

#include "store/driver.h"

enum {
    POSTGRES_VERSION_MIN = 120000, /* as libpq counts them */
    POSTGRES_LOCK_MS = 5000,       /* how long a statement waits for a row of somebody else */
    POSTGRES_STATEMENT_MS = 25 * 1000,
    POSTGRES_READER_STATEMENT_MS = 600 * 1000, /* reports; `interrupt` ends them earlier */
    POSTGRES_ANSWER_MS = 5000,                 /* after these, a server that hangs is given up */
    POSTGRES_IDLE_MS = 60 * 1000, /* a transaction in which nothing is done is ended by the server */
    POSTGRES_CONNECT_MS = 5000,
    POSTGRES_CONNECT_STEP_MS = 100, /* of that, how long a caller waits who can come again */
    POSTGRES_PAUSE_MIN_MS = 100,    /* between attempts to connect; doubled up to: */
    POSTGRES_PAUSE_MAX_MS = 3200,
};

/* `url` is as libpq reads it: postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full, or several
 * hosts. NULL: no password beside what the URL has. Errors: STATUS_BAD_INPUT: not a URL.
 * STATUS_AWAY: can't be reached, or refuses us. STATUS_CONFLICT: a server or database that can't
 * be used. `error` says what is wrong, and never a secret. */
MUST_CHECK enum status postgres_connect(struct sql_connection **connection, const char *url,
    const char *password, char *error, size_t error_bytes);

#endif
