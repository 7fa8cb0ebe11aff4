/* SPDX-License-Identifier: Apache-2.0 */
/* store/mysql/parts.h: what the parts of the driver share. Nobody else includes it. */
#ifndef STAMPEDE_STORE_MYSQL_PARTS_H
#define STAMPEDE_STORE_MYSQL_PARTS_H

#include "base/random.h"
#include "store/driver.h"
#include "store/mysql/text.h"
#include "store/mysql/where.h"

#include <mysql.h>
#include <pthread.h>

enum { MYSQL_STATEMENTS_MAX = 512, MYSQL_MESSAGE_MAX = 256 };

struct mysql_statement;
struct mysql_connection {
    struct sql_connection connection; /* first: the seam's handle is this one's address */
    struct mysql_where where;
    MYSQL *mysql;                 /* NULL: no connection */
    int socket;                   /* a second handle of its socket, for `interrupt`; -1: none */
    struct mysql_dialect dialect; /* of this server */
    bool is_reader;
    unsigned read_s;     /* how long a statement waits for its answer */
    bool is_begun;       /* by the caller, who has not ended it */
    bool is_given_up;    /* the transaction that is begun: the database or the network gave it up */
    enum status spoiled; /* STATUS_OK, or what a statement of the transaction failed with */
    uint32_t matched;
    enum sql_error error;
    char message[MYSQL_MESSAGE_MAX];
    struct mysql_statement *kept[MYSQL_STATEMENTS_MAX]; /* by the addresses of their texts */
    /* making the connection again */
    uint64_t retry_ns; /* not before */
    uint64_t used_ns;  /* when a statement was begun last */
    uint32_t backoff_ms;
    struct random random;
    /* interrupt */
    pthread_mutex_t lock;
    /* Both under `lock`: the server's number of this connection while a statement runs, else 0; and
     * whether it was interrupted. */
    unsigned long running;
    bool is_interrupted;
};

static inline struct mysql_connection *mysql_of(struct sql_connection *connection)
{
    return (struct mysql_connection *)connection;
}

/* faults.c: which kind of error a number of the server or the library is, and what the caller is
 * told. */
enum sql_error mysql_error_of(unsigned number, const char *sqlstate);
enum status mysql_status_of(enum sql_error error);
bool mysql_is_lost(unsigned number); /* the connection is of no use any more */
/* Keeps it and acts on it: closes a connection that is lost, gives up a transaction that is to be
 * repeated. */
MUST_CHECK enum status mysql_failed(
    struct mysql_connection *, unsigned number, const char *sqlstate, const char *message);
MUST_CHECK enum status mysql_failed_here(struct mysql_connection *, enum sql_error, const char *message);

/* session.c: the connection to the server. */
/* For the first time. `error` as mysql.h says. */
MUST_CHECK enum status mysql_session_first(struct mysql_connection *, char *error, size_t error_bytes);
/* Makes it again if it is lost and the time has come. */
MUST_CHECK enum status mysql_session_need(struct mysql_connection *);
void mysql_session_close(struct mysql_connection *);
/* A statement without values and rows. */
MUST_CHECK enum status mysql_session_do(struct mysql_connection *, const char *sql, size_t bytes);
/* The same, and its answer may take as long as it likes. */
MUST_CHECK enum status mysql_session_do_long(struct mysql_connection *, const char *sql, size_t bytes);
#define mysql_do(connection, literal) mysql_session_do((connection), (literal), sizeof(literal) - 1)
/* Around a statement that others may interrupt. */
void mysql_session_runs(struct mysql_connection *);
void mysql_session_ran(struct mysql_connection *);
void mysql_session_interrupt(struct sql_connection *);

/* statement.c: prepared statements and their rows. */
enum status mysql_statement_query(
    struct sql_connection *, const char *sql, struct sql_values, struct sql_row **);
enum status mysql_statement_next(struct sql_row *);
void mysql_statement_finish(struct sql_row *);
int64_t mysql_statement_number(struct sql_row *, int at);
const void *mysql_statement_bytes(struct sql_row *, int at, size_t *bytes);
void mysql_statements_forget(struct mysql_connection *); /* those of a connection that is closed */
void mysql_statements_close(struct mysql_connection *);

/* many.c */
enum status mysql_insert_many(struct sql_connection *, const char *head, const uint64_t *numbers,
    uint32_t columns, uint32_t rows);

#endif
