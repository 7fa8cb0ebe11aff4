/* SPDX-License-Identifier: Apache-2.0 */
/* A pass gives each partition whose lease is held its turn. At most one opening is started in a pass, since
 * it takes long, and leases are prolonged between any two turns. */
#include "partition/keeper.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/thread.h"
#include "partition/lease.h"
#include "partition/owned.h"
#include "queue/broker.h"
#include "redis/caller.h"

#include <stdlib.h>

GAUGE(parts_open, "stampede_partitions_open", "Partitions that this process has open.");
GAUGE(parts_owned, "stampede_partitions_owned", "Partitions that this process has the lease of.");
GAUGE(parts_lag, "stampede_partition_lag",
    "Proposals of open partitions that are not in the database yet.");

struct kept_part {
    uint32_t part;
    bool listed, gone; /* in the last list; it was there, and its sale was archived */
    struct part_lease lease;
    struct owned owned;
};

struct keeper {
    struct keeper_config config;
    struct redis_caller *caller;
    struct lease_asker asker;
    struct kept_part *parts; /* in the order of their numbers */
    uint32_t count;
    struct part_state *listed;        /* room for a list */
    uint64_t list_ms;                 /* when the next one is due */
    uint32_t takes_left;              /* new leases until then */
    uint64_t leases_ms;               /* no lease is due before */
    bool is_list_away, is_lease_away; /* the last time the store was asked */
    uint32_t alarmed;                 /* partitions that an alarm was told of */
    uint64_t broker_wrong_ms;         /* since when it is; 0: it is not */
    const char *broker_told;          /* what `broker_wrong` was told last */
    struct wake wake;
    _Atomic bool stop, look;
    pthread_mutex_t guard; /* of: */
    struct keeper_health health;
};

static uint64_t now_read(void)
{
    return clock_monotonic_ns() / 1000000;
}

/* ---- which there are ---- */

static void part_add(struct keeper *keeper, uint32_t part)
{
    const struct keeper_config *config = &keeper->config;
    struct kept_part *kept = keeper->parts;
    while (kept < keeper->parts + keeper->count && !kept->gone)
        kept++;
    keeper->count += kept == keeper->parts + keeper->count;
    *kept = (struct kept_part){ .part = part, .listed = true };
    part_lease_init(&kept->lease, part);
    owned_init(&kept->owned,
        &(struct opener_config){ .part = part,
            .data_id = config->data_id,
            .store = config->store,
            .caller = keeper->caller,
            .engine = &config->engine,
            .lag_max = config->lag_max,
            .timeout_ms = config->timeout_ms,
            .changed = config->changed,
            .wrote = config->wrote,
            .context = config->context,
            .broker = config->broker },
        config->alarm, &keeper->alarmed);
}

/* NULL: not known yet. */
static struct kept_part *part_find(struct keeper *keeper, uint32_t part)
{
    for (uint32_t i = 0; i < keeper->count; i++)
        if (keeper->parts[i].part == part && !keeper->parts[i].gone)
            return &keeper->parts[i];
    return NULL;
}

static bool has_room(const struct keeper *keeper)
{
    for (uint32_t i = 0; i < keeper->count; i++)
        if (keeper->parts[i].gone)
            return true;
    return keeper->count < keeper->config.parts_max;
}

/* What is not listed any more has left with its sale (docs/archive.md): nothing is written for it. */
static void parts_gone(struct keeper *keeper)
{
    for (uint32_t i = 0; i < keeper->count; i++) {
        struct kept_part *kept = &keeper->parts[i];
        if (kept->listed || kept->gone)
            continue;
        log_info("partition", "gone, its sale was archived part=%u", kept->part);
        kept->gone = true;
        owned_let_go(&kept->owned);
        if (kept->lease.token != 0)
            part_lease_give(&kept->lease, &keeper->asker);
    }
}

static void parts_list(struct keeper *keeper, uint64_t now_ms)
{
    struct order_store *store = keeper->config.store;
    const uint32_t max = keeper->config.parts_max;
    uint32_t count = 0;
    keeper->list_ms = now_ms + KEEPER_LIST_MS;
    keeper->takes_left = KEEPER_TAKES_MAX;
    keeper->leases_ms = 0;
    const enum status status = store->ops->cluster->parts(store, 0, keeper->listed, max, &count);
    keeper->is_list_away = status != STATUS_OK;
    if (status != STATUS_OK)
        return;
    for (uint32_t i = 0; i < keeper->count; i++)
        keeper->parts[i].listed = false;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t part = keeper->listed[i].part;
        struct kept_part *known = part_find(keeper, part);
        if (known != NULL) {
            known->listed = true;
            owned_epoch(&known->owned, keeper->listed[i].epoch, now_ms);
            owned_listed(&known->owned, &keeper->listed[i]);
            continue;
        }
        if (!has_room(keeper)) {
            log_error("partition", "no room for another partition part=%u parts_max=%u", part, max);
            break;
        }
        part_add(keeper, part);
    }
    if (count < max) /* the list is whole */
        parts_gone(keeper);
}

/* ---- whose they are ---- */

static void lease_ask(struct keeper *keeper, struct kept_part *kept, uint64_t now_ms)
{
    const bool was_ours = kept->lease.token != 0;
    const enum lease_news news = part_lease_ask(&kept->lease, &keeper->asker, now_ms);
    keeper->is_lease_away = news == LEASE_NOT_KNOWN;
    switch (news) {
    case LEASE_KEPT:
    case LEASE_NOT_KNOWN:
        break;
    case LEASE_GOT:
        keeper->takes_left -= keeper->takes_left > 0;
        owned_let_go(&kept->owned); /* somebody else may have opened it in between */
        break;
    case LEASE_LOST:
        if (was_ours)
            log_warn("partition", "the lease is lost part=%u", kept->part);
        owned_let_go(&kept->owned);
        break;
    }
}

static bool broker_is_wrong(const struct keeper *keeper)
{
    const struct broker *broker = keeper->config.broker;
    return broker != NULL && broker->ops->wrong(broker) != NULL;
}

/* Ours are prolonged, and of the others a few are tried; none while nothing could be opened. */
static void leases_ask(struct keeper *keeper)
{
    if (now_read() < keeper->leases_ms)
        return;
    keeper->leases_ms = UINT64_MAX;
    const uint32_t start = keeper->count == 0 ? 0 : (uint32_t)(keeper->config.holder % keeper->count);
    for (uint32_t i = 0; i < keeper->count; i++) {
        struct kept_part *kept = &keeper->parts[(start + i) % keeper->count];
        const uint64_t now_ms = now_read();
        if (kept->gone || kept->owned.phase == OWNED_RESTING
            || (kept->lease.token == 0 && (keeper->takes_left == 0 || broker_is_wrong(keeper))))
            continue; /* it needs none; after the next list */
        if (now_ms >= kept->lease.due_ms)
            lease_ask(keeper, kept, now_ms);
        if (kept->lease.due_ms < keeper->leases_ms)
            keeper->leases_ms = kept->lease.due_ms;
    }
}

/* ---- what is done for them ---- */

static bool broker_is_taken(const struct keeper *keeper)
{
    for (uint32_t i = 0; i < keeper->count; i++)
        if (owned_reads_back(&keeper->parts[i].owned))
            return true;
    return false;
}

static void part_turn(struct keeper *keeper, struct kept_part *kept, bool *has_opened)
{
    if (kept->gone)
        return;
    if (kept->owned.phase == OWNED_RESTING)
        owned_rest_look(&kept->owned, now_read());
    if (kept->owned.phase == OWNED_CLOSED && kept->lease.token != 0 && broker_is_wrong(keeper))
        part_lease_give(&kept->lease, &keeper->asker); /* another worker may reach the broker */
    if (kept->lease.token != 0 && !part_lease_is_held(&kept->lease, now_read()))
        owned_relay(&kept->owned, now_read());
    if (!part_lease_is_held(&kept->lease, now_read()))
        return;
    if (owned_is_to_open(&kept->owned, now_read())) {
        if (*has_opened || broker_is_taken(keeper))
            return;
        *has_opened = true;
        lease_ask(keeper, kept, now_read()); /* its whole time for the opening */
    }
    if (part_lease_is_held(&kept->lease, now_read()))
        owned_turn(&kept->owned, now_read());
    if (kept->owned.phase != OWNED_RESTING)
        return;
    part_lease_give(&kept->lease, &keeper->asker);
    keeper->takes_left++;
}

GAUGE(broker_away, "stampede_broker_away", "1 while the broker can't be used.");
GAUGE(broker_backlog, "stampede_broker_backlog",
    "Records of streams that the broker has not acknowledged yet.");
GAUGE(broker_oldest, "stampede_broker_oldest_ms",
    "For how long records have been waiting without an acknowledgement of the broker.");

static void health_note(struct keeper *keeper)
{
    struct keeper_health health = { .known = keeper->count,
        .is_store_away = keeper->is_list_away || keeper->is_lease_away };
    const struct broker *broker = keeper->config.broker;
    const uint64_t now_ms = now_read();
    uint64_t oldest_ms = 0;
    health.broker = broker == NULL ? NULL : broker->ops->wrong(broker);
    for (uint32_t i = 0; i < keeper->count; i++) {
        const struct kept_part *kept = &keeper->parts[i];
        const struct owned *owned = &kept->owned;
        if (!part_lease_is_held(&kept->lease, now_ms))
            continue;
        health.owned++;
        health.backlog += owned->backlog;
        if (owned->backlog_ms != 0 && now_ms - owned->backlog_ms > oldest_ms)
            oldest_ms = now_ms - owned->backlog_ms;
        health.open += owned->phase == OWNED_OPEN;
        health.lag += owned->lag;
        health.is_redis_away |= owned->is_redis_away;
        if (owned->seen_seq != 0 && now_ms - owned->seen_ms > health.oldest_ms)
            health.oldest_ms = now_ms - owned->seen_ms;
    }
    health.closed = health.owned - health.open;
    metric_set(&parts_open, health.open);
    metric_set(&parts_owned, health.owned);
    metric_set(&parts_lag, health.lag);
    metric_set(&broker_backlog, health.backlog);
    metric_set(&broker_oldest, oldest_ms);
    metric_set(&broker_away, health.broker != NULL);
    pthread_mutex_lock(&keeper->guard);
    keeper->health = health;
    pthread_mutex_unlock(&keeper->guard);
}

static uint64_t next_due_ms(const struct keeper *keeper, uint64_t now_ms)
{
    uint64_t due_ms = keeper->list_ms;
    for (uint32_t i = 0; i < keeper->count; i++) {
        const struct kept_part *kept = &keeper->parts[i];
        if (part_lease_is_held(&kept->lease, now_ms) && kept->owned.due_ms < due_ms)
            due_ms = kept->owned.due_ms;
    }
    return due_ms;
}

/* True: it has acknowledged something. */
static bool broker_turn(struct keeper *keeper)
{
    struct broker *broker = keeper->config.broker;
    if (broker == NULL)
        return false;
    const bool has_acked = broker->ops->turn(broker, now_read());
    if (!broker_is_wrong(keeper))
        keeper->broker_wrong_ms = 0;
    else if (keeper->broker_wrong_ms == 0)
        keeper->broker_wrong_ms = now_read();
    const bool is_long =
        keeper->broker_wrong_ms != 0 && now_read() - keeper->broker_wrong_ms >= KEEPER_BROKER_MS;
    const char *wrong = is_long ? broker->ops->wrong(broker) : NULL;
    if (wrong != keeper->broker_told && keeper->config.broker_wrong != NULL)
        keeper->config.broker_wrong(keeper->config.context, wrong);
    keeper->broker_told = wrong;
    return has_acked;
}

static void pass(struct keeper *keeper)
{
    bool has_opened = false;
    const bool has_acked = broker_turn(keeper);
    const bool look = atomic_exchange(&keeper->look, false) || has_acked;
    for (uint32_t i = 0; look && i < keeper->count; i++)
        owned_look(&keeper->parts[i].owned);
    redis_caller_turn(keeper->caller);
    if (now_read() >= keeper->list_ms)
        parts_list(keeper, now_read());
    leases_ask(keeper);
    for (uint32_t i = 0; i < keeper->count; i++) {
        part_turn(keeper, &keeper->parts[i], &has_opened);
        leases_ask(keeper);
    }
    redis_caller_turn(keeper->caller); /* notes go out */
    health_note(keeper);
}

/* What the streams have is written; then others may have the partitions. */
static void parts_leave(struct keeper *keeper)
{
    const uint64_t until_ms = now_read() + KEEPER_LAST_MS;
    for (uint32_t i = 0; i < keeper->count; i++) {
        struct kept_part *kept = &keeper->parts[i];
        if (part_lease_is_held(&kept->lease, now_read()))
            owned_last(&kept->owned, until_ms);
        owned_let_go(&kept->owned);
        part_lease_give(&kept->lease, &keeper->asker);
    }
    (void)!redis_call_wait(keeper->caller); /* the last notes */
    health_note(keeper);
}

void keeper_run(void *context)
{
    struct keeper *keeper = context;
    metrics_thread_enter();
    while (!atomic_load(&keeper->stop)) {
        pass(keeper);
        const uint64_t now_ms = now_read(), due_ms = next_due_ms(keeper, now_ms);
        if (due_ms <= now_ms)
            continue;
        const uint64_t wait_ms = due_ms - now_ms;
        wake_wait(&keeper->wake, wait_ms < KEEPER_WAIT_MS_MAX ? (uint32_t)wait_ms : KEEPER_WAIT_MS_MAX);
    }
    parts_leave(keeper);
}

/* ---- from outside ---- */

void keeper_stop(struct keeper *keeper)
{
    atomic_store(&keeper->stop, true);
    wake_signal(&keeper->wake);
}

void keeper_look(struct keeper *keeper)
{
    atomic_store(&keeper->look, true);
    wake_signal(&keeper->wake);
}

void keeper_health_read(struct keeper *keeper, struct keeper_health *health)
{
    pthread_mutex_lock(&keeper->guard);
    *health = keeper->health;
    pthread_mutex_unlock(&keeper->guard);
}

void keeper_close(struct keeper *keeper)
{
    if (keeper == NULL)
        return;
    for (uint32_t i = 0; i < keeper->count; i++)
        owned_let_go(&keeper->parts[i].owned); /* of one that did not come to run */
    redis_caller_close(keeper->caller);
    if (keeper->config.broker != NULL)
        keeper->config.broker->ops->wake(keeper->config.broker, -1);
    wake_close(&keeper->wake);
    pthread_mutex_destroy(&keeper->guard);
    free(keeper->parts);
    free(keeper->listed);
    free(keeper);
}

enum status keeper_open(struct keeper **out, const struct keeper_config *config)
{
    struct keeper *keeper = *out = NULL;
    if (config->store->ops->cluster == NULL || config->holder == 0 || config->parts_max == 0
        || config->lease_ms < KEEPER_LEASE_MS_MIN)
        return STATUS_BAD_INPUT;
    keeper = *out = calloc(1, sizeof *keeper);
    if (keeper == NULL)
        return STATUS_FULL;
    keeper->config = *config;
    keeper->asker = (struct lease_asker){ config->store, config->holder, config->lease_ms };
    keeper->wake.fd = -1;
    pthread_mutex_init(&keeper->guard, NULL);
    keeper->parts = calloc(config->parts_max, sizeof *keeper->parts);
    keeper->listed = calloc(config->parts_max, sizeof *keeper->listed);
    if (keeper->parts == NULL || keeper->listed == NULL)
        return STATUS_FULL;
    const enum status status = wake_open(&keeper->wake);
    if (status == STATUS_OK && config->broker != NULL)
        config->broker->ops->wake(config->broker, keeper->wake.fd);
    return status == STATUS_OK ? redis_caller_open(&keeper->caller, &config->redis) : status;
}
