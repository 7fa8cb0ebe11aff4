/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/database_hold.h"

#include "base/arena.h"
#include "base/log.h"
#include "contract/cluster_store.h"
#include "worker/task.h"

#include <poll.h>
#include <stdio.h>

enum { LOOK_MS = 100, LOOKS_MAX = 10 * DATABASE_HOLD_MS / LOOK_MS };

static const char lease_name[] = "one machine";

struct database_hold {
    struct database_hold_config config;
};

/* ---- the start ---- */

/* A server that prolongs its lease is alive; one that does not was killed. */
static bool is_alive(const struct lease *before, const struct lease *now)
{
    return before->holder == now->holder && before->until_ms < now->until_ms;
}

static void wait_tell(const struct lease *lease)
{
    log_info("server",
        "another server holds this database: waiting up to %llu ms, until its lease is over or it "
        "is "
        "seen to run",
        (unsigned long long)(lease->until_ms - lease->now_ms));
}

enum status database_hold_take(struct order_store *store, uint64_t holder, char *error, size_t error_bytes)
{
    struct lease lease, before = { 0 };
    enum status status = STATUS_CONFLICT;
    for (uint32_t look = 0; look < LOOKS_MAX; look++) {
        status = store->ops->cluster->lease_take(store, lease_name, holder, DATABASE_HOLD_MS, &lease);
        if (status != STATUS_CONFLICT || is_alive(&before, &lease))
            break;
        if (before.holder != lease.holder)
            wait_tell(&lease);
        before = lease;
        poll(NULL, 0, LOOK_MS);
    }
    if (status == STATUS_CONFLICT)
        snprintf(error, error_bytes,
            "another server sells with this database: stop it first; several servers on one "
            "database need inventory.kind redis");
    else if (status != STATUS_OK)
        snprintf(error, error_bytes, "the lease of the database can't be taken: %s", status_name(status));
    return status;
}

void database_hold_give(struct order_store *store, uint64_t holder)
{
    if (store->ops->cluster->lease_give(store, lease_name, holder) != STATUS_OK)
        log_warn("server", "the lease of the database was not given back: the next start waits for it");
}

/* ---- the task ---- */

/* A database that is away gives it to nobody else. */
static uint64_t hold_turn(void *self, uint64_t now_ms)
{
    struct database_hold *hold = self;
    const struct database_hold_config *config = &hold->config;
    struct lease lease;
    if (config->holder == 0)
        return TASK_IDLE;
    if (config->store->ops->cluster->lease_take(
            config->store, lease_name, config->holder, DATABASE_HOLD_MS, &lease)
        == STATUS_CONFLICT) {
        config->lost(config->context);
        return TASK_IDLE;
    }
    return now_ms + DATABASE_HOLD_PROLONG_MS;
}

void database_hold_open(struct arena *arena, const struct database_hold_config *config, struct task *task)
{
    struct database_hold *hold = arena_take(arena, 1, sizeof *hold);
    hold->config = *config;
    *task = (struct task){ .name = "database hold", .self = hold, .turn = hold_turn };
}
