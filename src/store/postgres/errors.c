/* SPDX-License-Identifier: Apache-2.0 */
/* store/postgres/errors.c: kinds of errors by their SQLSTATE, of which the first two characters
 * are a class.
 *
 * A message has no details of the server's: these show the values of rows. */
#include "store/postgres/parts.h"

#include "base/log.h"

#include <stdio.h>
#include <string.h>

struct error_class {
    const char *begin; /* of the SQLSTATE */
    enum sql_error error;
};
/* The first that fits. Others: our statements are right, so the tables are not: somebody changed
 * them. */
static const struct error_class classes[] = {
    { "23505", SQL_ERROR_UNIQUE }, { "23", SQL_ERROR_CHECK }, /* integrity constraint */
    { "22", SQL_ERROR_CHECK },     /* data: too long, out of range, not UTF-8 */
    { "P0", SQL_ERROR_CHECK },     /* said by a trigger */
    { "40003", SQL_ERROR_AWAY },   /* not known whether it was done */
    { "40", SQL_ERROR_AGAIN },     /* serialization, deadlock */
    { "55P03", SQL_ERROR_LOCKED }, /* POSTGRES_LOCK_MS */
    { "0A000", SQL_ERROR_AGAIN },  /* a cached plan, after a change of tables: in a new session */
    { "26", SQL_ERROR_AGAIN },     /* no such prepared statement: in a new session */
    { "25006", SQL_ERROR_AWAY },   /* read-only: a standby */
    { "25P0", SQL_ERROR_AWAY },    /* the server has ended an idle transaction */
    { "42501", SQL_ERROR_AWAY },   /* no right to it */
    { "08", SQL_ERROR_AWAY },      /* connection */
    { "28", SQL_ERROR_AWAY },      /* who we are */
    { "3D", SQL_ERROR_AWAY },      /* no such database */
    { "53", SQL_ERROR_AWAY },      /* disk, memory, connections */
    { "54", SQL_ERROR_AWAY },      /* limits of the server */
    { "55", SQL_ERROR_AWAY },      /* in use */
    { "57", SQL_ERROR_AWAY },      /* stopped by somebody */
    { "58", SQL_ERROR_AWAY },      /* the server's system */
};

static enum sql_error error_of(const char *state)
{
    if (state == NULL)
        return SQL_ERROR_AWAY; /* of libpq, not of the server: the connection */
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strncmp(state, classes[i].begin, strlen(classes[i].begin)) == 0)
            return classes[i].error;
    return SQL_ERROR_CORRUPT;
}

/* Its prepared statements are not what we think. */
static bool is_stale(const char *state)
{
    return state != NULL && (strcmp(state, "0A000") == 0 || strncmp(state, "26", 2) == 0);
}

static enum status status_of(enum sql_error error)
{
    return error == SQL_ERROR_UNIQUE || error == SQL_ERROR_CHECK ? STATUS_REFUSED
        : error == SQL_ERROR_CORRUPT                             ? STATUS_CORRUPT
                                                                 : STATUS_AWAY;
}

enum status postgres_fail(
    struct postgres *postgres, enum status status, enum sql_error error, const char *message)
{
    postgres->error = error;
    snprintf(postgres->message, sizeof postgres->message, "%s", message);
    for (char *at = postgres->message; *at != '\0'; at++) /* libpq's are of several lines */
        if (*at == '\n' || *at == '\t')
            *at = at[1] == '\0' ? '\0' : ' ';
    return status;
}

enum status postgres_failed(struct postgres *postgres, PGresult *result)
{
    const char *state = result == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *severity =
        state == NULL ? NULL : PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    enum sql_error error = error_of(state);
    char message[POSTGRES_MESSAGE_MAX];
    if (state == NULL) {
        snprintf(message, sizeof message, "%s",
            postgres->is_silent ? "the server does not answer" : PQerrorMessage(postgres->session));
    } else {
        const char *what = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        snprintf(message, sizeof message, "%s (%s)", what == NULL ? "no message" : what, state);
    }
    const bool ended = result == NULL || PQstatus(postgres->session) != CONNECTION_OK
        || (severity != NULL && (strcmp(severity, "FATAL") == 0 || strcmp(severity, "PANIC") == 0));
    const bool stale = is_stale(state);
    PQclear(result);
    if (ended)
        error = SQL_ERROR_AWAY;
    const enum status status = postgres_fail(postgres, status_of(error), error, message);
    postgres->spoiled = status;
    postgres->is_given_up |= error == SQL_ERROR_LOCKED;
    if (ended)
        log_warn("store", "the connection to the database was lost: %s", postgres->message);
    if (ended || stale)
        postgres_session_end(postgres);
    return status;
}
