/* SPDX-License-Identifier: Apache-2.0 */
/* server/housekeeper.h: two threads for what can wait. One prepares the next journal segment, sets gauges,
 * and looks whether the wall clock has left ours. The other, `upkeep`, makes snapshots and packs segments,
 * which may take seconds, and a segment must be ready before the present one is full; and once something is
 * to be sold, it gives the tables that a crowd will look up their memory. Both give way to all others.
 * Thread: main starts and stops it. */
#ifndef STAMPEDE_SERVER_HOUSEKEEPER_H
#define STAMPEDE_SERVER_HOUSEKEEPER_H

#include "base/thread.h"
#include "contract/types.h"

struct host;
struct limits;
struct link;

struct housekeeper {
    struct host *host;
    const struct link *link;
    struct limits *limits;
    struct wake wake, upkeep_wake;
    struct thread thread, upkeep;
    _Atomic bool stop;
    /* The upkeep thread. */
    lsn_t seen; /* the log's end when it looked for sales */
    bool looked, touched;
    lsn_t round_end; /* the log's end at the last round, and when that was */
    uint64_t round_ms;
    uint64_t busy_until_ms;
};

MUST_CHECK enum status housekeeper_start(struct housekeeper *housekeeper, struct host *host,
    const struct link *link, struct limits *limits);
/* Upkeep: whether many records came since the last call, or did a moment ago. */
bool housekeeper_many_come(struct housekeeper *housekeeper, lsn_t end, uint64_t now_ms);
void housekeeper_stop(struct housekeeper *housekeeper); /* accepts one that was never started */

#endif
