/* SPDX-License-Identifier: Apache-2.0 */
/* server/migrate_state.h: what the logs of all partitions in a database come to: the engine of one machine,
 * and the numbers of its tickets. Nothing is changed.
 * Thread: the caller's. Errors: anything but STATUS_OK, and `what` says in one sentence what is wrong. */
#ifndef STAMPEDE_SERVER_MIGRATE_STATE_H
#define STAMPEDE_SERVER_MIGRATE_STATE_H

#include "contract/ticket_ranges.h"
#include "inventory/merge.h"
#include "journal/journal.h"

struct order_store;
struct migrate_state {
    struct order_store *store; /* of the many machines */
    uint64_t data_id;
    struct engine_config bounds; /* of each partition */
    struct engine engine;        /* all of them */
    struct ticket_ranges *ranges;
    struct journal_position position; /* the journal of one machine goes on after it */
    uint32_t partitions;
    uint64_t records, keys_dropped;
    char what[240];
};
MUST_CHECK enum status migrate_state_read(struct migrate_state *state);
void migrate_state_close(struct migrate_state *state); /* accepts a zeroed one */

#endif
