/* SPDX-License-Identifier: Apache-2.0 */
/* worker/archiving.h: sales that are over leave for bundles (docs/archive.md): those that somebody asked for,
 * and by themselves those that ended archive.after_days ago. One at a time:
 *   1, 2   a thread beside makes the bundle and verifies it (archive/archiver.h)
 *   3      the sale is marked, if the bundle has what the database has
 *   4, 5   store and inventory forget it, in small parts; after a crash where the row of the sale says
 *   6      the thread removes segments of the log that nobody needs
 * `stampede archive` and the console only ask. What fails raises an alarm and is tried again, a few times.
 * It also erases what names customers after privacy.keep_days.
 * Thread: the worker's; archiving_shown is for any. */
#ifndef STAMPEDE_WORKER_ARCHIVING_H
#define STAMPEDE_WORKER_ARCHIVING_H

#include "contract/types.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct board;
struct catalog_updates;
struct config;
struct errands;
struct order_store;
struct task;
struct wake;

enum { ARCHIVE_TRIES_MAX = 5 }; /* then it waits for somebody to ask again */

struct archiving;
struct archiving_config {
    struct errands *errands;
    struct order_store *store;
    const struct config *config;
    const struct board *board;
    struct catalog_updates *catalog;
    struct wake *wake; /* the worker's */
    uint64_t data_id;
    bool one_machine; /* its log is in the data folder */
};
struct archiving *archiving_open(
    struct arena *arena, const struct archiving_config *config, struct task *task);
/* Where bundles go; false: nowhere, archiving is off. */
enum { ARCHIVE_PATH_MAX = 300 };
bool archiving_folder(const struct config *config, bool one_machine, char path[ARCHIVE_PATH_MAX]);
/* What it does in this process now: "writing", "verifying"; NULL: nothing for this sale. */
const char *archiving_shown(const struct archiving *archiving, sale_id sale);
void archiving_wake(struct archiving *archiving);          /* somebody has asked */
sale_id archiving_sale(const struct archiving *archiving); /* the one under way; 0: none */

#endif
