/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/watch.h: looks at the server's /metrics once a second while the crowd plays, on a thread of
 * its own, so that no visitor waits for it. Thread: start, stop and reading on the owner's. */
#ifndef STAMPEDE_REHEARSE_WATCH_H
#define STAMPEDE_REHEARSE_WATCH_H

#include "base/thread.h"
#include "cli/admin_session.h"
#include "rehearse/plan.h"

struct watch_sample {
    uint64_t at_ms; /* monotonic */
    uint64_t go, orders_written, order_lag;
};

struct watch {
    struct admin_session session;
    struct thread thread;
    struct wake wake;
    atomic_bool ends;
    uint32_t count;
    uint64_t asked; /* requests that it made */
    struct watch_sample samples[PLAN_SECONDS_MAX + 60];
};

MUST_CHECK bool watch_start(struct watch *watch, const char *url, const char *key_file, FILE *errors);
void watch_stop(struct watch *watch); /* accepts one that never started, and a second stop */

/* The most in a second between two samples. */
uint64_t watch_peak_orders(const struct watch *watch);
uint64_t watch_peak_go(const struct watch *watch);
uint64_t watch_most_lag(const struct watch *watch);

#endif
