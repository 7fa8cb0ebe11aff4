/* SPDX-License-Identifier: Apache-2.0 */
/* worker/top_refused.h: who was refused most of late, for being too fast or for bad tokens: addresses, and
 * users where they are known. A small table; who was refused least gives way. Counts halve every minute
 * without a refusal, so that yesterday's attack does not hide today's.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_TOP_REFUSED_H
#define STAMPEDE_WORKER_TOP_REFUSED_H

#include "base/text.h"
#include "funnel/anomaly/watch.h"

enum { TOP_REFUSED_ROWS = 256, TOP_REFUSED_SHOWN = 20 };

struct refused_row {
    struct address address;
    user_id user;    /* 0: an address */
    uint64_t weight; /* what it is ranked by; 0: a free place */
    uint64_t too_fast, failed;
    uint64_t last_ms;
};
struct top_refused {
    uint64_t minute_ms;
    struct refused_row rows[TOP_REFUSED_ROWS];
};

void top_refused_fold(struct top_refused *top, const struct watch_table *table, uint64_t now_ms);
/* The member "refused": a list of whom, too_fast, failed and last_ms, the most refused first. */
void top_refused_json(const struct top_refused *top, struct text *out);

#endif
