/* SPDX-License-Identifier: Apache-2.0 */
/* worker/selling_rest.h: when tasks that sync the disk rest. The journal waits for the same disk.
 * So while wins come in, these tasks have one turn at a time with a pause after it, longer when the
 * last transaction of orders was well filled and wins come fast; when selling rests, or the orders fall
 * behind, as many turns as they want. Few wins after a peak do not keep its backlog waiting.
 * Thread: one owner. Memory: plain data. */
#ifndef STAMPEDE_WORKER_SELLING_REST_H
#define STAMPEDE_WORKER_SELLING_REST_H

#include "contract/types.h"

#include <stdbool.h>

enum {
    SELLING_MS = 50,             /* wins came in within this time: selling goes on */
    SELLING_FULL_PAUSE_MS = 250, /* between transactions while selling, when they are well filled */
    SELLING_FAST_PER_S = 1000,   /* wins that make the longer pause worth it */
};

struct selling_rest {
    lsn_t durable_seen; /* to notice that wins come in */
    uint64_t selling_until_ms;
    uint64_t turn_ms;   /* not before this */
    lsn_t turn_durable; /* of the last turn, and when it was */
    uint64_t turned_ms;
};

/* Until when they rest; now_ms: they have a turn now. `behind`: orders wait; `filled`: the last
 * transaction was well filled. */
uint64_t selling_rest_until(
    struct selling_rest *rest, uint64_t now_ms, lsn_t durable, bool behind, bool filled);

#endif
