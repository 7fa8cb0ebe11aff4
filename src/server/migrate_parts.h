/* SPDX-License-Identifier: Apache-2.0 */
/* server/migrate_parts.h: what the files of `stampede migrate` share. Nobody else includes it. */
#ifndef STAMPEDE_SERVER_MIGRATE_PARTS_H
#define STAMPEDE_SERVER_MIGRATE_PARTS_H

#include "config/data_folder.h"
#include "config/seal.h"
#include "funnel/keys.h"
#include "server/host.h"
#include "store/copy.h"
#include "store/moving.h"

struct migrate {
    const char *from, *to;        /* the folder; the settings of the many machines */
    struct config target, source; /* source: that of one machine in the folder */
    struct data_folder folder;
    struct funnel_keys keys;
    struct host host;
    struct ticket_queue *queue;
    struct order_store *store;         /* of the folder */
    struct sql_connection *connection; /* of the target */
    struct seal seal;
    struct store_move found; /* what the target says of itself */
    struct store_copy copy;
    uint64_t sales, end, entries; /* the last sale; the last record of the log; its entries in the target */
    uint64_t changes, killed_at;  /* so far; after which one tests end the program, 0: none */
    uint64_t rows_found;          /* rows that were there when copying began */
    uint64_t told_ns, told_count; /* when progress was told, and of how many rows or records */
    char error[CONFIG_ERROR];
};

/* All answer false after they have put one sentence into `error`. */
bool migrate_failed(struct migrate *migrate, const char *what, enum status status);
bool migrate_refused(struct migrate *migrate, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* migrate_tell.c: what is seen on the screen. */
/* Something was changed that stays. Tests end the program here, after the first, second, third … one. */
void migrate_changed(struct migrate *migrate);
void migrate_step_tell(struct migrate *migrate, const char *what); /* a step that has changed something */
/* Rows and records, at most once a second: how many of how many, and how many a second. */
void migrate_progress_begin(struct migrate *migrate);
void migrate_copied_tell(void *context, const char *table, uint64_t rows);
void migrate_compared_tell(void *context, const char *table, uint64_t rows);
void migrate_records_tell(void *context, uint64_t records);

/* migrate_check.c: changes nothing. */
/* The target can take this shop, or has begun to: `found` tells. */
bool migrate_target_check(struct migrate *migrate);
bool migrate_source_check(struct migrate *migrate); /* opens the folder's inventory and database, too */

/* migrate_secret.c: the file that the target's cluster.secret_file names. */
bool migrate_secret_check(struct migrate *migrate); /* it is not there, or has this folder's secret */
bool migrate_secret_write(struct migrate *migrate, bool *written); /* if it is not there */

#endif
