/* SPDX-License-Identifier: Apache-2.0 */
/* server/restore.h: an older database beside the present journal: found at every start, and brought
 * up by `stampede restore` (docs/operations.md, "Restore").
 * Thread: start-up only. */
#ifndef STAMPEDE_SERVER_RESTORE_H
#define STAMPEDE_SERVER_RESTORE_H

#include "config/config.h"

struct disk;
struct high_water;
struct host;
struct order_store;

/* Before the server runs. Refuses a database that is older than before, and says in what. Else: no
 * number that was given is given again, and `mark` is written with what is reserved from here on. */
MUST_CHECK enum status restore_check(struct disk *folder, struct order_store *store,
    const struct host *host, struct high_water *mark, char error[CONFIG_ERROR]);

/* stampede restore [--config FILE] …: exit 0 done, 1 not possible, 2 usage. */
int restore_main(int argc, char **argv);

#endif
