/* SPDX-License-Identifier: Apache-2.0 */
/* server/migrate_log.h: the journal of a data folder as entries of partition 0 in a database
 * (contract/journal_entry.h). Records of one time stand in one entry, so the same journal gives the same
 * entries each time, and copying goes on after the last one that is there.
 * Thread: the caller's. Errors: STATUS_CORRUPT: the journal can't be read; those of the database. */
#ifndef STAMPEDE_SERVER_MIGRATE_LOG_H
#define STAMPEDE_SERVER_MIGRATE_LOG_H

#include "journal/journal.h"

struct sql_connection;
struct migrate_log {
    struct journal_config journal;
    uint64_t end; /* the last record */
    struct sql_connection *to;
    void (*told)(void *context, uint64_t records); /* after each transaction */
    void *context;
    uint64_t entries; /* how many there are */
    const char *what; /* what is wrong; NULL: the database tells */
};
MUST_CHECK enum status migrate_log_copy(struct migrate_log *log);

#endif
