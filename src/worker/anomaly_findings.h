/* SPDX-License-Identifier: Apache-2.0 */
/* worker/anomaly_findings.h: once a second: what the edges noted goes into the book, the rules are
 * asked, and what they find is listed, logged and, where the rule says so, banned. However wrong a
 * rule may be, it bans only a share of those who were seen, so many a minute, and never the machine
 * itself or its proxies.
 * Thread: the worker's. */
#ifndef STAMPEDE_WORKER_ANOMALY_FINDINGS_H
#define STAMPEDE_WORKER_ANOMALY_FINDINGS_H

#include "contract/types.h"

#include <stddef.h>

struct arena;
struct ban;
struct ban_list;
struct config;
struct order_store;
struct task;
struct text;
struct watch;

struct anomaly_findings;
struct anomaly_findings_config {
    const struct config *config; /* watch.* */
    uint32_t edges;
    struct order_store *store;
    struct ban_list *bans;
};
size_t anomaly_findings_bytes(uint32_t edges);
struct anomaly_findings *anomaly_findings_open(
    struct arena *arena, const struct anomaly_findings_config *config, struct task *task);
/* What each edge notes things in (funnel/anomaly/watch.h); a NULL: all rules are off. */
struct watch *const *anomaly_findings_watches(struct anomaly_findings *state);
void anomaly_findings_unpaid(void *self, user_id user); /* a win was let go */
void anomaly_findings_forgive(struct anomaly_findings *state, const struct ban *ban);
/* What was found lately and how the rules fare, as JSON. */
void anomaly_findings_json(const struct anomaly_findings *state, struct text *out);

#endif
