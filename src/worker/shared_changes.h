/* SPDX-License-Identifier: Apache-2.0 */
/* worker/shared_changes.h: on many machines, what other processes have changed in the database: products,
 * sales and items, bans, switches. Each such change has a row in the audit trail, in its own transaction, so
 * the number of the last row tells whether there is something new; it is asked for each CHANGES_LOOK_MS. A
 * row that says which sale, item or product it is about makes that one be read again; any other one,
 * everything.
 * Thread: the worker's. A database that is away is asked again. */
#ifndef STAMPEDE_WORKER_SHARED_CHANGES_H
#define STAMPEDE_WORKER_SHARED_CHANGES_H

#include <stdbool.h>

enum { CHANGES_LOOK_MS = 250 };

struct arena;
struct ban_list;
struct catalog_updates;
struct order_store;
struct switches;
struct task;
struct shared_changes_config {
    struct order_store *store;
    struct catalog_updates *catalog;
    struct ban_list *bans;
    struct switches *switches;
    void (*switched)(void *context); /* they have changed */
    void *switched_context;
    bool on; /* there are other processes */
};

void shared_changes_open(
    struct arena *arena, const struct shared_changes_config *config, struct task *task);

#endif
