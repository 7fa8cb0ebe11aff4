/* SPDX-License-Identifier: Apache-2.0 */
/* worker/database_hold.h: one machine with its orders on a database server holds the lease "one machine" of
 * that database, so that a copy of its data folder can't sell beside it (a SQLite file is locked with its
 * folder). A second server is refused. A server that was killed leaves its lease for DATABASE_HOLD_MS: the
 * next one waits for that.
 * Thread: start-up, then the worker's. */
#ifndef STAMPEDE_WORKER_DATABASE_HOLD_H
#define STAMPEDE_WORKER_DATABASE_HOLD_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { DATABASE_HOLD_MS = 3000, DATABASE_HOLD_PROLONG_MS = 500 };

struct arena;
struct order_store;
struct task;

/* STATUS_CONFLICT: another server holds it and goes on to; other errors: the database's. `error` says it. */
MUST_CHECK enum status database_hold_take(
    struct order_store *store, uint64_t holder, char *error, size_t error_bytes);
void database_hold_give(struct order_store *store, uint64_t holder); /* at the end */

struct database_hold_config {
    struct order_store *store;
    uint64_t holder; /* 0: it is not held */
    /* Another server has got it: this one must not go on. */
    void (*lost)(void *context);
    void *context;
};
void database_hold_open(
    struct arena *arena, const struct database_hold_config *config, struct task *task);

#endif
