/* SPDX-License-Identifier: Apache-2.0 */
/* store/postgres/answer.c: waits for what the server says to a statement, and not for ever: a
 * server that hangs keeps its connections open. The server's own limit (statement_timeout) comes
 * first. */
#include "store/postgres/parts.h"

#include "base/clock.h"

#include <poll.h>

/* False: nothing came before `until_ns`. */
static bool answer_wait(PGconn *session, uint64_t until_ns)
{
    while (PQisBusy(session)) {
        const uint64_t now = clock_monotonic_ns();
        if (now >= until_ns)
            return false;
        const uint64_t left_ms = (until_ns - now) / 1000000 + 1;
        struct pollfd wait = { .fd = PQsocket(session), .events = POLLIN };
        if (poll(&wait, 1, left_ms > INT32_MAX ? INT32_MAX : (int)left_ms) > 0 && !PQconsumeInput(session))
            return true; /* it is lost, and the result says so */
    }
    return true;
}

PGresult *postgres_answer(struct postgres *postgres, int sent, uint32_t patience_ms)
{
    const uint64_t until_ns =
        patience_ms == 0 ? UINT64_MAX : clock_monotonic_ns() + patience_ms * (uint64_t)1000000;
    PGresult *last = NULL;
    postgres->is_silent = false;
    while (sent) {
        postgres->is_silent = !answer_wait(postgres->session, until_ns);
        PGresult *result = postgres->is_silent ? NULL : PQgetResult(postgres->session);
        if (result == NULL)
            break;
        PQclear(last); /* of several statements the last one counts, and none follows an error */
        last = result;
    }
    if (!postgres->is_silent)
        return last;
    PQclear(last);
    return NULL;
}

enum status postgres_run_within(struct postgres *postgres, const char *sql, uint32_t patience_ms)
{
    PGresult *result = postgres_answer(postgres, PQsendQuery(postgres->session, sql), patience_ms);
    const ExecStatusType kind = PQresultStatus(result);
    if (kind != PGRES_COMMAND_OK && kind != PGRES_TUPLES_OK)
        return postgres_failed(postgres, result);
    PQclear(result);
    return STATUS_OK;
}

enum status postgres_run(struct postgres *postgres, const char *sql)
{
    return postgres_run_within(postgres, sql, postgres->answer_ms);
}
