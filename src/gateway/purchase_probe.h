/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/purchase_probe.h: how long the inventory takes to answer a purchase, its sync to the disk included:
 * from the door to the answer at this edge. One purchase is timed at a time, the next when its answer is
 * here; the others cost a comparison.
 * Thread: the edge's. */
#ifndef STAMPEDE_GATEWAY_PURCHASE_PROBE_H
#define STAMPEDE_GATEWAY_PURCHASE_PROBE_H

#include <stdint.h>

struct purchase_probe {
    uint64_t tag;
    uint64_t since_ns; /* 0: none is timed */
};

void purchase_probe_begin(struct purchase_probe *probe, uint64_t tag);
void purchase_probe_end(struct purchase_probe *probe, uint64_t tag);

#endif
