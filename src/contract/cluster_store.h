/* SPDX-License-Identifier: Apache-2.0 */
/* contract/cluster_store.h: what the processes of several machines share through the order store: who does
 * what only one may do (leases), which opening of a partition counts (its epoch), and the log of each
 * partition (its journal). One machine needs none of it: partition 0 has epoch 0 and a journal of files.
 *
 * Leases. A process holds a lease until a time of the database's own clock, and prolongs it before. A
 * process that was stopped for longer may believe that it still holds it. So a lease only spares work that
 * is done twice; what must not happen twice is fenced.
 * The fence. A partition's records are kept only under its present epoch, and only behind the last one that
 * is kept. Whoever comes with an older epoch is told so, and nothing is written.
 *
 * Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_CLUSTER_STORE_H
#define STAMPEDE_CONTRACT_CLUSTER_STORE_H

#include "contract/journal_entry.h"
#include "contract/order_store.h"

enum { LEASE_NAME_MAX = 40 };

struct lease {
    uint64_t holder;   /* the number of a process; 0: nobody */
    uint64_t token;    /* grows whenever somebody else gets it */
    uint64_t until_ms; /* by the database's clock */
    uint64_t now_ms;   /* which says this now */
};

struct part_state {
    uint32_t epoch; /* 0: it was never opened */
    uint64_t seq;   /* the last record that is kept */
};

/* A part of the order store's operations; NULL where a store has none of it. */
struct cluster_store_ops {
    /* The database's clock, ms since 1970. */
    enum status (*now)(struct order_store *, uint64_t *now_ms);

    /* Takes the lease if nobody holds it or its time is over; prolongs it if `holder` does. `ms`: for how
     * long from now. STATUS_CONFLICT: somebody else has it, and *lease tells who and until when. */
    enum status (*lease_take)(
        struct order_store *, const char *name, uint64_t holder, uint32_t ms, struct lease *);
    /* Gives it back, so that others need not wait; nothing if `holder` does not have it. */
    enum status (*lease_give)(struct order_store *, const char *name, uint64_t holder);

    enum status (*part)(struct order_store *, uint32_t part, struct part_state *);
    /* The partition is opened anew: its epoch becomes from + 1. STATUS_CONFLICT: it is not `from` (any more).
     * STATUS_BAD_INPUT: partition 0, or no epoch is left. */
    enum status (*epoch_raise)(struct order_store *, uint32_t part, uint32_t from);

    /* What `apply` does, and keeps the entry of these records in the same transaction. STATUS_CONFLICT: the
     * partition has another epoch, and nothing is written. If all records are in already, nothing is
     * changed; an entry that is in only by a part is STATUS_CORRUPT, as a gap is. */
    enum status (*apply)(struct order_store *, const struct journal_entry *,
        const struct queue_record *, const uint8_t *dispositions, uint32_t count, struct refusal *);
    /* The entry with the lowest number above `after`. Its bytes are copied to `buffer` of
     * JOURNAL_ENTRY_BYTES_MAX bytes. STATUS_NOT_FOUND: there is none. */
    enum status (*journal_next)(struct order_store *, uint32_t part, uint64_t after,
        struct journal_entry *, uint8_t *buffer);
};

#endif
