/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/purchase_probe.h"

#include "base/clock.h"
#include "base/histogram.h"

static HISTOGRAM(purchase_times, "stampede_purchase_seconds",
    "From the door to the inventory's answer; a sample.");

void purchase_probe_begin(struct purchase_probe *probe, uint64_t tag)
{
    if (probe->since_ns == 0)
        *probe = (struct purchase_probe){ tag, clock_monotonic_ns() };
}

void purchase_probe_end(struct purchase_probe *probe, uint64_t tag)
{
    if (probe->tag != tag || probe->since_ns == 0)
        return;
    histogram_note(&purchase_times, (clock_monotonic_ns() - probe->since_ns) / 1000);
    probe->since_ns = 0;
}
