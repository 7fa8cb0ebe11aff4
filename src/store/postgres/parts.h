/* SPDX-License-Identifier: Apache-2.0 */
/* store/postgres/parts.h: what the files of the driver share. */
#ifndef STAMPEDE_STORE_POSTGRES_PARTS_H
#define STAMPEDE_STORE_POSTGRES_PARTS_H

#include "store/driver.h"

#include <libpq-fe.h>
#include <pthread.h>

enum {
    POSTGRES_STATEMENTS_MAX = 512, /* about three times as many as there are texts */
    POSTGRES_VALUES_FEW = 64,      /* of most statements: no memory is taken for them */
    POSTGRES_MESSAGE_MAX = 512,
};

/* A text, its prepared statement, and the rows that are being read from it. */
struct postgres_statement {
    struct sql_row row; /* first: the seam's cursor is this one's address */
    const char *sql;    /* NULL: free */
    uint64_t session;   /* which has it prepared, under the number of its place here; 0: none */
    Oid *types;         /* of each value; 0: only NULLs until now */
    size_t count;
    PGresult *result; /* NULL: no cursor is open */
    int at;           /* the row; -1: before the first */
};

struct postgres {
    struct sql_connection connection; /* first: the seam's handle is this one's address */
    char *url, *password;             /* NULL: none */
    uint32_t statement_ms;            /* the server ends a statement that takes longer */
    bool reads_only;
    PGconn *session;   /* NULL: there is none */
    bool is_ready;     /* connected, with our settings; else it is being connected */
    uint64_t sessions; /* how many there were; the number of the present one */
    PostgresPollingStatusType polling;
    uint64_t deadline_ns; /* of this attempt to connect */
    uint64_t next_ns;     /* no attempt before */
    uint32_t pause_ms;    /* after the next one that fails */
    uint32_t answer_ms;   /* how long a statement waits for its answer */
    bool is_silent;       /* the last one got none in time */
    bool is_begun;        /* between begin and commit or rollback, as the caller sees it */
    bool is_given_up;     /* the rest of this transaction must not wait for the same lock again */
    enum status spoiled; /* what the statement said that spoiled this transaction or part; or STATUS_OK */
    bool is_warned; /* the server warned since this was cleared */
    uint32_t matched;
    enum sql_error error;
    char message[POSTGRES_MESSAGE_MAX];
    pthread_mutex_t interrupt_lock;
    bool can_interrupt; /* under the lock: there is a session, and it does not end */
    struct postgres_statement statements[POSTGRES_STATEMENTS_MAX];
};

static inline struct postgres *postgres_of(struct sql_connection *connection)
{
    return (struct postgres *)(void *)connection;
}

/* session.c */
MUST_CHECK enum status postgres_session_parse(const char *url, char *error, size_t error_bytes);
/* There is a session that can be used. STATUS_AWAY: not now. `patience_ms` is how long the caller
 * waits for it. */
MUST_CHECK enum status postgres_session_need(struct postgres *, uint32_t patience_ms);
/* Whether the server has ended it, as far as it is known here; then it is given up. */
bool postgres_session_is_lost(struct postgres *);
void postgres_session_end(struct postgres *);

/* interrupt.c */
/* Any thread. Ends a statement that runs, if there is one; takes a few seconds at most. */
void postgres_interrupt(struct sql_connection *);
void postgres_interrupt_allow(struct postgres *, bool can_interrupt);

/* answer.c */
/* What came to a statement that was sent (`sent`: what libpq's PQsend… said). NULL: no answer, and
 * none will be taken. patience_ms 0: for ever. */
PGresult *postgres_answer(struct postgres *, int sent, uint32_t patience_ms);
/* A statement without values and rows. */
MUST_CHECK enum status postgres_run(struct postgres *, const char *sql);
MUST_CHECK enum status postgres_run_within(struct postgres *, const char *sql, uint32_t patience_ms);

/* errors.c */
/* The result is an error, or NULL, which ends the session: remembers and tells what kind of one it
 * is, and clears it. */
MUST_CHECK enum status postgres_failed(struct postgres *, PGresult *);
/* Remembers an error that no result tells. */
MUST_CHECK enum status postgres_fail(struct postgres *, enum status, enum sql_error, const char *message);

/* rows.c */
enum status postgres_query(
    struct sql_connection *, const char *sql, struct sql_values, struct sql_row **);
enum status postgres_next(struct sql_row *);
void postgres_finish(struct sql_row *);
int64_t postgres_number_at(struct sql_row *, int at);
const void *postgres_bytes_at(struct sql_row *, int at, size_t *bytes);
void postgres_statements_free(struct postgres *);

/* many.c */
enum status postgres_insert_many(struct sql_connection *, const char *head, const uint64_t *numbers,
    uint32_t columns, uint32_t rows);

/* postgres.c */
/* A statement or script may go on: STATUS_OK. In a transaction that is lost or spoiled it may not. */
MUST_CHECK enum status postgres_may_run(struct postgres *);

#endif
