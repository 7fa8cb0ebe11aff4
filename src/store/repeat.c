/* SPDX-License-Identifier: Apache-2.0 */
/* store/repeat.c: a transaction that another one was in the way of is made again. */
#include "base/metrics.h"
#include "base/random.h"
#include "store/parts.h"

#include <time.h>

enum { TRIES_MAX = 6, PAUSE_US = 1000 };

COUNTER(store_repeats, "stampede_store_repeats_total",
    "Transactions that were repeated because another one was in the way.");

enum status store_conflict(struct store *store)
{
    store->in_the_way = true;
    return STATUS_AWAY;
}

/* Between one millisecond and, after the fifth try, 33; by chance, so that two do not meet again. */
static void pause_make(uint32_t tries)
{
    uint64_t chance;
    random_secret(&chance, sizeof chance);
    const uint64_t us = PAUSE_US + chance % ((uint64_t)PAUSE_US << tries);
    const struct timespec pause = { .tv_nsec = (long)us * 1000 };
    (void)nanosleep(&pause, NULL);
}

bool store_again(struct store *store, struct store_tries *tries, enum status *status)
{
    const struct driver *driver = store->connection->driver;
    const bool in_the_way = *status == STATUS_AWAY
        && (store->in_the_way || driver->error(store->connection) == SQL_ERROR_AGAIN);
    store->in_the_way = false;
    if (!driver->locks_rows)
        return false;
    tries->unknown |= *status == STATUS_UNKNOWN;
    if ((in_the_way || (*status == STATUS_UNKNOWN && tries->repeatable))
        && ++tries->made < TRIES_MAX && !store_is_lost(store)) {
        metric_add(&store_repeats, 1);
        pause_make(tries->made);
        return true;
    }
    if (*status == STATUS_AWAY && tries->unknown)
        *status = STATUS_UNKNOWN;
    return false;
}

enum status store_rows_write(
    struct store *store, store_row_write *write, const void *rows, uint32_t count, uint64_t with)
{
    struct store_tries tries = { 0 };
    enum status status;
    STORE_TRIES (store, &tries, &status) {
        status = store_begin(store);
        for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
            status = write(store, rows, i, with);
        status = store_end(store, status);
    }
    return status;
}

enum status store_transact(struct store *store, bool repeatable, store_work *work, void *context)
{
    struct store_tries tries = { .repeatable = repeatable };
    enum status status;
    STORE_TRIES (store, &tries, &status) {
        status = store_begin(store);
        if (status == STATUS_OK)
            status = work(store, context);
        status = store_end(store, status);
    }
    return status;
}
