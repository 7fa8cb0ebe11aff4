/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/purchase_probe.h: how long the inventory takes to answer a purchase, its sync to the disk included:
 * from the door to the answer at this edge. One purchase is timed at a time, the next when its answer is
 * here; the others cost a comparison.
 * Thread: the edge's. */
#ifndef STAMPEDE_GATEWAY_PURCHASE_PROBE_H
#define STAMPEDE_GATEWAY_PURCHASE_PROBE_H

#include "base/clock.h"
#include "base/histogram.h"

extern struct histogram purchase_times;

struct purchase_probe {
    uint64_t tag;
    uint64_t since_ns; /* 0: none is timed */
};

static inline void purchase_probe_begin(struct purchase_probe *probe, uint64_t tag)
{
    if (probe->since_ns == 0)
        *probe = (struct purchase_probe){ tag, clock_monotonic_ns() };
}

static inline void purchase_probe_end(struct purchase_probe *probe, uint64_t tag)
{
    if (probe->tag != tag || probe->since_ns == 0)
        return;
    histogram_note(&purchase_times, (clock_monotonic_ns() - probe->since_ns) / 1000);
    probe->since_ns = 0;
}

#endif
