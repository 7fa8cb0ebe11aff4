/* SPDX-License-Identifier: Apache-2.0 */
/* worker/catalog_updates.h: reads again from the database what has changed in the public catalog, and
 * hands the catalog to the edges.
 * Thread: the worker's. Errors: while it can't be read, the previous catalog stays in use. */
#ifndef STAMPEDE_WORKER_CATALOG_UPDATES_H
#define STAMPEDE_WORKER_CATALOG_UPDATES_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct board;
struct catalog_change;
struct handover;
struct item_rules;
struct order_store;
struct page_export;
struct reader_turns;
struct task;

struct catalog_updates;
struct catalog_updates_config {
    struct order_store *store;
    struct handover *shown; /* struct catalog */
    struct reader_turns *turns;
    struct page_export *pages; /* told of each new catalog */
    struct item_rules *rules;  /* written with the catalog */
    const struct board *board; /* told the limit groups of items */
    uint32_t items_max;
};
struct catalog_updates *catalog_updates_open(
    struct arena *arena, const struct catalog_updates_config *config, struct task *task);
/* The database has something new for it. */
void catalog_updates_part(struct catalog_updates *updates, const struct catalog_change *change);
void catalog_updates_all(struct catalog_updates *updates); /* it is not known what: all is read */
bool catalog_updates_are_due(const struct catalog_updates *updates); /* the edges do not have it yet */
/* What has changed is shown when it returns, if the database can be read. */
void catalog_updates_show(struct catalog_updates *updates);

#endif
