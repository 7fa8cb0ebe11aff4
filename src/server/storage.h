/* SPDX-License-Identifier: Apache-2.0 */
/* server/storage.h: the inventory and the database of this process, opened in the order in which they need
 * each other. One machine: the journal is recovered first, and the database must fit it. Many machines: the
 * database is first, and the inventory follows the log in it.
 * Thread: main, start-up. Errors: `error` says in one sentence what is wrong; what was opened is closed by
 * storage_close. */
#ifndef STAMPEDE_SERVER_STORAGE_H
#define STAMPEDE_SERVER_STORAGE_H

#include "config/config.h"
#include "config/data_folder.h"
#include "config/high_water.h"
#include "funnel/keys.h"
#include "server/follow_host.h"
#include "server/host.h"

struct order_store;
struct ticket_queue;

struct storage {
    struct data_folder folder; /* open before the rest */
    struct funnel_keys keys;
    struct host host;
    struct order_store *store;
    uint64_t holder;            /* of the database (worker/database_hold.h); 0: it is not held */
    struct ticket_queue *queue; /* NULL: other processes write orders */
    struct high_water high_water;
    struct follow_host follow;
};

/* `seed` writes the first rows; NULL: none. */
MUST_CHECK enum status storage_open(struct storage *storage, const struct config *config, uint32_t ports,
    enum status (*seed)(struct order_store *store, uint64_t now_ms), char error[CONFIG_ERROR]);
void storage_close(struct storage *storage); /* when nothing runs any more; accepts a zeroed one */

#endif
