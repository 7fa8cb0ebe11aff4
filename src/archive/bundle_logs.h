/* SPDX-License-Identifier: Apache-2.0 */
/* archive/bundle_logs.h: many machines: the logs of a sale's partitions in its bundle, each replayed by an
 * engine of its own as the database's logs are (inventory/redis/confirm.h).
 * Thread: one. Memory: its own until bundle_logs_close. */
#ifndef STAMPEDE_ARCHIVE_BUNDLE_LOGS_H
#define STAMPEDE_ARCHIVE_BUNDLE_LOGS_H

#include "base/status.h"
#include "contract/types.h"
#include "inventory/engine_config.h"

#include <stddef.h>

struct confirm;
struct engine;
struct ticket_row;
struct bundle_logs {
    struct confirm *logs[SHARDS_MAX]; /* by shard; NULL: not in the bundle */
    uint64_t last[SHARDS_MAX];        /* record that each has to end with */
    uint32_t count;
    uint32_t part; /* in hand */
};

/* The next log; its entries follow. STATUS_CORRUPT: it is not one of the sale, or was there before. */
MUST_CHECK enum status bundle_logs_part(struct bundle_logs *logs, sale_id sale, uint64_t data_id,
    const struct engine_config *engine, uint64_t part, uint64_t last);
/* STATUS_CORRUPT: `what` says why. */
MUST_CHECK enum status bundle_logs_entry(struct bundle_logs *logs, uint64_t epoch, uint64_t first,
    const void *bytes, size_t size, char *what, size_t what_bytes);
/* All are whole and add up; NULL: fine. */
const char *bundle_logs_check(const struct bundle_logs *logs);
/* NULL: no log has it. */
const struct ticket_row *bundle_logs_ticket(const struct bundle_logs *logs, sale_id sale,
    ticket_number ticket, const struct engine **engine);
uint64_t bundle_logs_tickets(const struct bundle_logs *logs); /* how many there are */
void bundle_logs_close(struct bundle_logs *logs);

#endif
