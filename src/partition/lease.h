/* SPDX-License-Identifier: Apache-2.0 */
/* partition/lease.h: which worker cares for a partition: the lease "part <n>" of the database
 * (contract/cluster_store.h). A lease spares work that would be done twice; the epoch of the partition is
 * what keeps two workers from writing.
 *
 * The holder believes in its lease only until `lease_ms` after it last asked, by its own monotonic clock. If
 * the database can't be asked in time, it stops, and asks on. If it then still has the same token, nobody
 * else had the lease in between, and it goes on where it was.
 *
 * Thread: that of the store. Memory: none. Time: monotonic, ms. */
#ifndef STAMPEDE_PARTITION_LEASE_H
#define STAMPEDE_PARTITION_LEASE_H

#include "contract/cluster_store.h"

enum { LEASE_AGAIN_MS = 200 }; /* after the database could not be asked */

/* Who asks, and for how long. */
struct lease_asker {
    struct order_store *store;
    uint64_t holder; /* the number of this process, not 0 */
    uint32_t lease_ms;
};

struct part_lease {
    char name[LEASE_NAME_MAX + 1];
    uint64_t token;    /* 0: it is not ours */
    uint64_t until_ms; /* it is ours until then */
    uint64_t due_ms;   /* when to ask next */
};

enum lease_news {
    LEASE_KEPT,     /* ours, as before */
    LEASE_GOT,      /* ours now; before, somebody else may have had it */
    LEASE_LOST,     /* somebody else has it */
    LEASE_NOT_KNOWN /* the database can't be asked */
};

void part_lease_init(struct part_lease *lease, uint32_t part);
/* Takes it or makes it longer. Then it is due again after a third of its time, or after half of it where
 * somebody else has it. */
enum lease_news part_lease_ask(struct part_lease *lease, const struct lease_asker *asker, uint64_t now_ms);
bool part_lease_is_held(const struct part_lease *lease, uint64_t now_ms);
/* So that others need not wait. If the database can't be asked, they do. */
void part_lease_give(struct part_lease *lease, const struct lease_asker *asker);

#endif
