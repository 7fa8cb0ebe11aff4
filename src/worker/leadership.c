/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/leadership.h"

#include "base/arena.h"
#include "base/log.h"
#include "contract/cluster_store.h"
#include "worker/task.h"

#include <stdatomic.h>

static const char lease_name[] = LEASE_LEADER;

struct leadership {
    struct leadership_config config;
    uint64_t since_ms;         /* it leads from then on, */
    _Atomic uint64_t until_ms; /* and before this */
    bool told;                 /* in the log */
};

bool leadership_holds(const struct leadership *leadership, uint64_t now_ms)
{
    if (leadership == NULL || leadership->config.leads == LEADS_ALWAYS)
        return true;
    return leadership->config.leads == LEADS_BY_LEASE && now_ms < leadership->until_ms;
}

static void change_tell(struct leadership *leadership, uint64_t now_ms)
{
    const bool leads = leadership_holds(leadership, now_ms);
    if (leads != leadership->told)
        log_info("worker", leads ? "this process leads now" : "this process does not lead any more");
    if (leads != leadership->told)
        leadership->since_ms = leads ? now_ms : 0;
    leadership->told = leads;
}

uint64_t leadership_since_ms(const struct leadership *leadership)
{
    return leadership == NULL ? 0 : leadership->since_ms;
}

/* A database that is away prolongs nothing: the time that is left counts. */
static uint64_t leadership_turn(void *self, uint64_t now_ms)
{
    struct leadership *leadership = self;
    struct order_store *store = leadership->config.store;
    struct lease lease;
    if (leadership->config.leads != LEADS_BY_LEASE)
        return TASK_IDLE;
    const enum status status = store->ops->cluster->lease_take(
        store, lease_name, leadership->config.holder, LEADER_LEASE_MS, &lease);
    if (status == STATUS_OK)
        leadership->until_ms = now_ms + LEADER_LEASE_MS - LEADER_MARGIN_MS;
    else if (status == STATUS_CONFLICT)
        leadership->until_ms = 0;
    change_tell(leadership, now_ms);
    return now_ms + LEADER_PROLONG_MS;
}

/* Others need not wait until the lease is over. */
static void leadership_end(void *self, uint64_t now_ms)
{
    struct leadership *leadership = self;
    struct order_store *store = leadership->config.store;
    if (leadership->config.leads != LEADS_BY_LEASE || !leadership_holds(leadership, now_ms))
        return;
    leadership->until_ms = 0;
    if (store->ops->cluster->lease_give(store, lease_name, leadership->config.holder) != STATUS_OK)
        log_warn("worker", "the lease of the leader was not given back: others wait until it is over");
}

struct leadership *leadership_open(
    struct arena *arena, const struct leadership_config *config, struct task *task)
{
    struct leadership *leadership = arena_take(arena, 1, sizeof *leadership);
    leadership->config = *config;
    leadership->told = config->leads == LEADS_ALWAYS;
    *task = (struct task){
        .name = "leadership", .self = leadership, .turn = leadership_turn, .end = leadership_end
    };
    return leadership;
}
