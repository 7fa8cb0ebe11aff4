/* SPDX-License-Identifier: Apache-2.0 */
/* store/postgres/interrupt.c: the server is asked to end the statement that runs.
 *
 * libpq asks on a connection of its own and waits for the end of it without a bound; a server that
 * takes connections and is silent would be waited for for ever. So a thread of its own asks, and is
 * left behind after INTERRUPT_MS. Then our end of the connection is closed: who waits for the
 * statement hears that it is lost. The session can't end meanwhile, as that takes the lock. */
#include "store/postgres/parts.h"

#include "base/log.h"
#include "base/thread.h"

#include <stdlib.h>
#include <sys/socket.h>

enum { INTERRUPT_MS = 2000 };

struct asking {
    PGcancel *cancel;
    struct wake done;
    _Atomic bool is_done;
    _Atomic bool is_left; /* by one of the two: the other one frees it */
};

static void asking_leave(struct asking *asking)
{
    if (!atomic_exchange(&asking->is_left, true))
        return;
    wake_close(&asking->done);
    PQfreeCancel(asking->cancel);
    free(asking);
}

static void asking_run(void *context)
{
    struct asking *asking = context;
    char error[256];
    if (!PQcancel(asking->cancel, error, sizeof error))
        log_warn("store", "a statement can't be interrupted: %s", error);
    atomic_store(&asking->is_done, true);
    wake_signal(&asking->done);
    asking_leave(asking);
}

/* False: the server has not taken it in time, or nobody could ask. */
static bool asked(PGconn *session)
{
    struct asking *asking = calloc(1, sizeof *asking);
    struct thread thread;
    if (asking == NULL)
        return false;
    if (wake_open(&asking->done) != STATUS_OK || (asking->cancel = PQgetCancel(session)) == NULL
        || thread_start(&thread, "interrupt", asking_run, asking) != STATUS_OK) {
        atomic_store(&asking->is_left, true); /* nobody else has it */
        asking_leave(asking);
        return false;
    }
    wake_wait(&asking->done, INTERRUPT_MS);
    const bool is_done = atomic_load(&asking->is_done);
    if (is_done)
        thread_join(&thread);
    else
        (void)pthread_detach(thread.handle); /* it ends when the server says something, or with us */
    asking_leave(asking);
    return is_done;
}

void postgres_interrupt(struct sql_connection *connection)
{
    struct postgres *postgres = postgres_of(connection);
    pthread_mutex_lock(&postgres->interrupt_lock);
    if (postgres->can_interrupt && !asked(postgres->session)) {
        log_warn("store", "the database does not take an interrupt, so its connection is closed");
        (void)shutdown(PQsocket(postgres->session), SHUT_RDWR);
    }
    pthread_mutex_unlock(&postgres->interrupt_lock);
}

void postgres_interrupt_allow(struct postgres *postgres, bool can_interrupt)
{
    pthread_mutex_lock(&postgres->interrupt_lock);
    postgres->can_interrupt = can_interrupt;
    pthread_mutex_unlock(&postgres->interrupt_lock);
}
