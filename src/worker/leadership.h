/* SPDX-License-Identifier: Apache-2.0 */
/* worker/leadership.h: which process does what only one of them is to do: unpaid orders, returns, payments,
 * webhooks, the schedule, reconciliation, admissions of waiting rooms. One machine always leads. On many
 * machines the holder of the lease "leader" does (contract/cluster_store.h); it stops by its own clock before
 * the lease is over, and whatever it does is safe to be done twice.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_LEADERSHIP_H
#define STAMPEDE_WORKER_LEADERSHIP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LEADER_LEASE_MS = 3000,
    LEADER_PROLONG_MS = 500,
    LEADER_MARGIN_MS = 500, /* it stops so long before the lease is over */
};

/* Whether this process may lead. */
enum leads { LEADS_ALWAYS, LEADS_BY_LEASE, LEADS_NEVER };

struct arena;
struct order_store;
struct task;
struct leadership;
struct leadership_config {
    struct order_store *store;
    enum leads leads;
    uint64_t holder; /* the number of this process, if by lease */
};

struct leadership *leadership_open(
    struct arena *arena, const struct leadership_config *config, struct task *task);
/* Any thread. NULL: always. */
bool leadership_holds(const struct leadership *leadership, uint64_t now_ms);
/* Since when it leads, if it does; 0: always, or not. Nobody may have led for a while before. */
uint64_t leadership_since_ms(const struct leadership *leadership);

#endif
