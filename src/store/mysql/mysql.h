/* SPDX-License-Identifier: Apache-2.0 */
/* store/mysql/mysql.h: the driver of store/driver.h for MariaDB and MySQL, by libmariadb. MariaDB
 * (10.6 or later) is what is tested. Statements keep to what MySQL 8.0.31 and later know, too; the
 * few settings that have other names there are chosen by what the server says that it is.
 *
 * What differs from the other databases:
 *   - ON CONFLICT(a) means any unique key of the table, not only that of a
 *   - SET works from left to right: in "SET a = a + 1, b = a" b gets the new a, in UPDATE and in
 *     DO UPDATE SET
 *   - a change of tables ends the transaction (what came before it is kept) and begins another one
 *   - a number that AUTOINCREMENT gave to a row that was not kept, or to one that did nothing on a
 *     conflict, is lost
 *   - a writer's statement may take MYSQL_READ_S, a reader's MYSQL_READER_READ_S, a script as long as
 *     it likes; the network is found dead within MYSQL_DEAD_S
 *   - SQL_ERROR_AGAIN: the driver has given up the whole transaction already, as with SQL_ERROR_LOCKED
 *
 * Thread: as store/driver.h says. Errors of mysql_store_connect: STATUS_BAD_INPUT: the URL.
 * STATUS_REFUSED: the server does not let us in, or is set so that it could lose what it has
 * committed. STATUS_AWAY: it can't be reached now. `error` says what is wrong; no secret is ever
 * in it. */
#ifndef STAMPEDE_STORE_MYSQL_MYSQL_H
#define STAMPEDE_STORE_MYSQL_MYSQL_H

#include "store/driver.h"

enum {
    MYSQL_CONNECT_S = 5,
    MYSQL_CONNECT_AGAIN_S = 1, /* a caller is waiting, and may try again */
    MYSQL_READ_S = 30,         /* for an answer; then a server that hangs is given up */
    MYSQL_READER_READ_S = 600, /* reports; `interrupt` ends them earlier */
    MYSQL_WRITE_S = 30,
    MYSQL_DEAD_S = 20,
    MYSQL_LOCK_WAIT_S = 5,
    MYSQL_REST_S = 2,       /* after it a connection is tried before it is used */
    MYSQL_REST_MAX_S = 600, /* after it the server closes one, with a transaction that is open */
    MYSQL_BACKOFF_FIRST_MS = 50,
    MYSQL_BACKOFF_MAX_MS = 2000,
};

/* url: mysql://user@host:port/database (the port is 3306 unless it says another one), or
 * mysql://user@localhost/database?socket=/path. User and database may contain %XX. A password in
 * it is refused. password: NULL: none. Both are copied. */
MUST_CHECK enum status mysql_store_connect(struct sql_connection **connection, const char *url,
    const char *password, char *error, size_t error_bytes);

#endif
