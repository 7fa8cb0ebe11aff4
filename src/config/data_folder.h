/* SPDX-License-Identifier: Apache-2.0 */
/* config/data_folder.h: what lies in the data folder, and that nobody else uses it.
 *   lock          held while the server runs
 *   identity      data id and master secret (config/identity.h), 0600, made at the first start; version 1
 *                 had no checksum, and is rewritten when the secret is the one that the database knows
 *   moved         the shop moves away, has moved, or comes (config/seal.h)
 *   imported      the shop came from many machines: numbers of its tickets (config/imported.h)
 *   journal/      segments and snapshots
 *   stampede.db   orders
 *   media/        pictures of products (media/media_folder.h)
 * The data id ties journal and database together; the master secret is what all ids and tokens
 * follow from.
 * Thread: start-up only. Errors: each is told in `error` by name and place. */
#ifndef STAMPEDE_CONFIG_DATA_FOLDER_H
#define STAMPEDE_CONFIG_DATA_FOLDER_H

#include "base/disk.h"
#include "config/config.h"
#include "contract/types.h"

struct order_store;
struct ticket_ranges;

enum { MASTER_BYTES = 32 };

struct data_folder {
    struct disk *root;
    struct disk *journal;
    uint64_t data_id;
    uint8_t master[MASTER_BYTES];
    bool without_checksum;          /* the identity is of version 1 */
    struct ticket_ranges *imported; /* NULL: the shop did not come from many machines */
    char database[CONFIG_TEXT + 32];
};

enum data_folder_use {
    DATA_SERVE, /* makes what is missing, takes the lock */
    DATA_LOOK,  /* must exist; no lock, nothing is changed */
    DATA_MOVE,  /* must exist; takes the lock */
};
MUST_CHECK enum status data_folder_open(struct data_folder *folder, const char *path,
    enum data_folder_use use, char error[CONFIG_ERROR]);
void data_folder_close(struct data_folder *folder); /* accepts a zeroed one */

/* A checksum of the master secret, which the database keeps. Never 0. */
uint64_t data_folder_secret_check(const struct data_folder *folder);
#define NO_JOURNAL UINT64_MAX /* many machines: the logs are in the database */
/* Same data id, same secret, and oldest kept log ≤ store position ≤ durable end; a new database takes
 * id and secret. STATUS_BUSY: a shop is being moved into it or away. */
MUST_CHECK enum status data_folder_match(struct data_folder *folder, struct order_store *store,
    lsn_t journal_end, char error[CONFIG_ERROR]);

#endif
