/* SPDX-License-Identifier: Apache-2.0 */
/* store/postgres/session.c: a session of the server, from connecting to its end.
 *
 * DESIGN. Connecting goes step by step: a caller who finds no session waits
 * POSTGRES_CONNECT_STEP_MS at most and is told STATUS_AWAY; the next one goes on with the same
 * attempt. After an attempt that failed there is a pause in which nobody waits at all. A session
 * counts only after our settings are made in it. */
#include "store/postgres/parts.h"
#include "store/postgres/postgres.h"

#include "base/clock.h"
#include "base/log.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

static const uint64_t ns_per_ms = 1000000;

/* The defaults of server, database and user may be others. Only remote_apply waits for more than
 * `on`. */
static const char settings[] =
    "SET standard_conforming_strings = on;"
    "SET default_transaction_isolation = 'read committed';"
    "SET default_transaction_deferrable = off;"
    "SET transform_null_equals = off;"
    "SET jit = off;"
    "SET client_min_messages = warning;"
    "SET lock_timeout = %d;"
    "SET statement_timeout = %u;"
    "SET idle_in_transaction_session_timeout = %d;"
    "%s"
    "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
    " WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false), current_setting('fsync')";

/* Its own message would show what it can't read, which may be a password. */
enum status postgres_session_parse(const char *url, char *error, size_t error_bytes)
{
    char *message = NULL;
    PQconninfoOption *options = PQconninfoParse(url, &message);
    const bool is_url = options != NULL
        && (strncmp(url, "postgresql://", 13) == 0 || strncmp(url, "postgres://", 11) == 0);
    PQconninfoFree(options);
    PQfreemem(message);
    if (is_url)
        return STATUS_OK;
    snprintf(error, error_bytes,
        "the address of the database can't be read;"
        " one looks like postgresql://USER@HOST:PORT/DATABASE");
    return STATUS_BAD_INPUT;
}

/* What stands before `dbname` may be said otherwise by the URL, what stands after it may not. */
static PGconn *session_start(const struct postgres *postgres)
{
    const char *const keywords[] = { "application_name", "keepalives_idle", "keepalives_interval",
        "keepalives_count", "tcp_user_timeout", "target_session_attrs", "dbname", "client_encoding",
        "password", NULL };
    const char *const values[] = { "stampede", "5", "2", "3", "10000",
        postgres->reads_only ? "any" : "read-write", postgres->url, "UTF8", postgres->password, NULL };
    return PQconnectStartParams(keywords, values, 1);
}

void postgres_session_end(struct postgres *postgres)
{
    postgres_interrupt_allow(postgres, false);
    PQfinish(postgres->session);
    postgres->session = NULL;
    postgres->is_ready = false;
}

bool postgres_session_is_lost(struct postgres *postgres)
{
    /* a server that ends a session says so, and closes the socket */
    if (PQconsumeInput(postgres->session) && PQstatus(postgres->session) == CONNECTION_OK)
        return false;
    log_warn("store", "the connection to the database was lost: %s", PQerrorMessage(postgres->session));
    postgres_session_end(postgres);
    return true;
}

/* Of the attempt: there is a pause before the next. */
static enum status session_failed(struct postgres *postgres, enum status status, const char *why)
{
    const enum status said = postgres_fail(postgres, status, SQL_ERROR_AWAY, why);
    postgres_session_end(postgres);
    postgres->next_ns = clock_monotonic_ns() + postgres->pause_ms * ns_per_ms;
    if (postgres->pause_ms < POSTGRES_PAUSE_MAX_MS)
        postgres->pause_ms *= 2;
    log_warn("store", "no connection to the database: %s", postgres->message);
    return said;
}

static void notice_take(void *context, const PGresult *notice)
{
    struct postgres *postgres = context;
    const char *text = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
    postgres->is_warned = true;
    log_warn("store", "the database warns: %s", text == NULL ? "no message" : text);
}

static enum status settings_make(struct postgres *postgres)
{
    char sql[sizeof settings + 128], why[256];
    const char *encoding = PQparameterStatus(postgres->session, "server_encoding");
    if (PQserverVersion(postgres->session) < POSTGRES_VERSION_MIN) {
        snprintf(why, sizeof why, "the server is PostgreSQL %d, needed is %d or later",
            PQserverVersion(postgres->session) / 10000, POSTGRES_VERSION_MIN / 10000);
        return session_failed(postgres, STATUS_CONFLICT, why);
    }
    if (encoding == NULL || strcmp(encoding, "UTF8") != 0) {
        snprintf(why, sizeof why,
            "the database has the encoding %s;"
            " make one with CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0",
            encoding == NULL ? "?" : encoding);
        return session_failed(postgres, STATUS_CONFLICT, why);
    }
    snprintf(sql, sizeof sql, settings, POSTGRES_LOCK_MS, postgres->statement_ms, POSTGRES_IDLE_MS,
        postgres->reads_only ? "SET default_transaction_read_only = on;" : "");
    PGresult *result =
        postgres_answer(postgres, PQsendQuery(postgres->session, sql), POSTGRES_CONNECT_MS);
    if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1) {
        snprintf(why, sizeof why, "settings: %s",
            result == NULL ? "the server does not answer" : PQresultErrorMessage(result));
        PQclear(result);
        return session_failed(postgres, STATUS_AWAY, why);
    }
    if (strcmp(PQgetvalue(result, 0, 1), "on") != 0 && postgres->sessions == 1 && !postgres->reads_only)
        log_warn("store", "the database server has fsync = off: a power cut there may lose orders");
    PQclear(result);
    return STATUS_OK;
}

static enum status session_finish(struct postgres *postgres)
{
    PQsetNoticeReceiver(postgres->session, notice_take, postgres);
    const enum status status = settings_make(postgres);
    if (status != STATUS_OK)
        return status;
    postgres_interrupt_allow(postgres, true);
    postgres->is_ready = true;
    postgres->pause_ms = POSTGRES_PAUSE_MIN_MS;
    if (postgres->sessions > 1)
        log_info("store", "the database is connected again");
    return STATUS_OK;
}

/* STATUS_BUSY: the socket is not ready before `until_ns`. */
static enum status socket_wait(const struct postgres *postgres, uint64_t until_ns)
{
    const uint64_t now = clock_monotonic_ns();
    struct pollfd wait = { .fd = PQsocket(postgres->session),
        .events = postgres->polling == PGRES_POLLING_READING ? POLLIN : POLLOUT };
    if (now >= until_ns)
        return STATUS_BUSY;
    return poll(&wait, 1, (int)((until_ns - now) / ns_per_ms) + 1) > 0 ? STATUS_OK : STATUS_BUSY;
}

static enum status session_go_on(struct postgres *postgres, uint32_t patience_ms)
{
    const uint64_t until_ns = clock_monotonic_ns() + patience_ms * ns_per_ms;
    for (;;) {
        if (postgres->polling == PGRES_POLLING_OK)
            return session_finish(postgres);
        if (postgres->polling == PGRES_POLLING_FAILED)
            return session_failed(postgres, STATUS_AWAY, PQerrorMessage(postgres->session));
        if (clock_monotonic_ns() >= postgres->deadline_ns)
            return session_failed(postgres, STATUS_AWAY, "the server does not answer");
        const uint64_t wait_ns = until_ns < postgres->deadline_ns ? until_ns : postgres->deadline_ns;
        if (socket_wait(postgres, wait_ns) == STATUS_OK)
            postgres->polling = PQconnectPoll(postgres->session);
        else if (clock_monotonic_ns() >= until_ns && until_ns < postgres->deadline_ns)
            return postgres_fail(postgres, STATUS_AWAY, SQL_ERROR_AWAY, "the database is being connected");
    }
}

enum status postgres_session_need(struct postgres *postgres, uint32_t patience_ms)
{
    if (postgres->is_ready && !postgres_session_is_lost(postgres))
        return STATUS_OK;
    if (postgres->session == NULL) {
        const uint64_t now = clock_monotonic_ns();
        if (now < postgres->next_ns) /* the message still says why the last attempt failed */
            return postgres->error = SQL_ERROR_AWAY, STATUS_AWAY;
        postgres->session = session_start(postgres);
        postgres->sessions++;
        postgres->polling = PQstatus(postgres->session) == CONNECTION_BAD ? PGRES_POLLING_FAILED
                                                                          : PGRES_POLLING_WRITING;
        postgres->deadline_ns = now + POSTGRES_CONNECT_MS * ns_per_ms;
    }
    return session_go_on(postgres, patience_ms);
}
