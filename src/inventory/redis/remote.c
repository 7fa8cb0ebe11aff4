/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote.c: the turns of the host. */
#include "inventory/redis/remote.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "inventory/redis/log_reader.h"
#include "inventory/redis/remote_parked.h"
#include "inventory/redis/remote_parts.h"
#include "inventory/redis/replica.h"
#include "redis/slots.h"
#include "redis/subscriber.h"

#include <poll.h>

enum { WAIT_MS_MAX = 50 };

#define PARTITIONS(variable, state) \
    GAUGE_OF(variable, "stampede_partitions", "state=\"" state "\"", \
        "Partitions that this process follows, by whether Redis answered their last call.")
PARTITIONS(partitions_open, "open");
PARTITIONS(partitions_closed, "closed");
GAUGE(partitions_resting, "stampede_partitions_resting",
    "Partitions that this process follows whose sale is over, and which nobody has open.");
GAUGE(answers_parked, "stampede_answers_parked",
    "Answers that wait until the database has kept their record.");
GAUGE(oldest_proposal, "stampede_oldest_proposal_ms", "How long the oldest of them has waited.");

/* Takes up to DRAIN_PER_PORT requests of one port. True: it had that many. */
static bool port_drain(struct remote *remote, uint32_t port)
{
    struct ring *requests = &remote->ports->list[port].requests;
    uint32_t taken = 0;
    for (; taken < DRAIN_PER_PORT; taken++) {
        const struct inventory_request *request = ring_peek(requests);
        if (request == NULL || !remote_request(remote, port, request))
            break;
        ring_pop(requests);
    }
    ring_release(requests);
    return taken == DRAIN_PER_PORT;
}

static void tables_show(struct remote *remote)
{
    struct remote_health health = { .partitions = remote->partition_count,
        .store_away = log_reader_is_away(remote->reader),
        .redis_away = !redis_client_is_whole(remote->client),
        .wrong = remote->redis_wrong,
        .redis_apart_ms = remote->redis_apart_ms,
        .parked = remote->parked_count };
    struct replica_fill all = { 0 };
    for (uint32_t i = 0; i < remote->partition_count; i++) {
        const struct partition *partition = &remote->partitions[i];
        const struct replica_fill fill = replica_fill(partition->replica);
        all.tickets += fill.tickets;
        if (all.buyers_percent < fill.buyers_percent)
            all.buyers_percent = fill.buyers_percent;
        const uint16_t slot = redis_slot(partition->keys.names[SCRIPT_KEY_PART]);
        health.redis_away &= redis_client_info(remote->client, slot) == NULL;
        health.resting += partition->rests;
        if (partition->epoch != 0 && !partition->rests)
            *(partition->refused ? &health.closed : &health.open) += 1;
        if (partition->epoch != 0 && !partition->seen_open)
            health.starting = remote->now_ms < remote->opened_ms + REMOTE_START_MS;
        if (partition->damaged)
            health.damaged = replica_part(partition->replica);
        if (partition->first != NULL
            && (health.oldest_ms == 0 || partition->first->since_ms < health.oldest_ms))
            health.oldest_ms = partition->first->since_ms;
    }
    metric_set(&partitions_open, health.open);
    metric_set(&partitions_closed, health.closed);
    metric_set(&partitions_resting, health.resting);
    metric_set(&answers_parked, health.parked);
    metric_set(&oldest_proposal,
        health.oldest_ms == 0 || remote->now_ms < health.oldest_ms ? 0 : remote->now_ms - health.oldest_ms);
    atomic_store_explicit(&remote->board.tickets, all.tickets, memory_order_relaxed);
    atomic_store_explicit(&remote->board.buyers_percent, all.buyers_percent, memory_order_relaxed);
    pthread_mutex_lock(&remote->health_lock);
    remote->health = health;
    pthread_mutex_unlock(&remote->health_lock);
}

struct remote_health remote_health(struct remote *remote)
{
    pthread_mutex_lock(&remote->health_lock);
    const struct remote_health health = remote->health;
    pthread_mutex_unlock(&remote->health_lock);
    return health;
}

bool remote_turn(struct remote *remote, uint64_t now_ms)
{
    bool more = false;
    if (now_ms > remote->now_ms)
        remote->now_ms = now_ms;
    if (remote_log_take(remote) != STATUS_OK)
        log_error("inventory", "the log of a partition does not fit; it is closed in this process");
    redis_client_turn(remote->client, remote->now_ms);
    redis_subscriber_turn(remote->subscriber, remote->now_ms);
    for (uint32_t port = 0; port < remote->ports->count; port++)
        more |= port_drain(remote, port);
    remote_walks_send(remote);
    remote_level_turn(remote);
    remote_calls_send(remote);
    remote_notes_send(remote);
    remote_news_send(remote);
    remote_fence_send(remote);
    remote_check_turn(remote);
    redis_client_turn(remote->client, remote->now_ms); /* sends */
    parked_look(remote);
    if (remote->changed && remote->config.changes_end != NULL)
        remote->config.changes_end(remote->config.context);
    remote->changed = false;
    tables_show(remote);
    ports_show(remote->ports);
    return more;
}

static uint32_t wait_ms(const struct remote *remote)
{
    const uint64_t redis_ms = redis_client_next_due(remote->client);
    const uint64_t notes_ms = redis_subscriber_next_due(remote->subscriber);
    uint64_t due_ms = redis_ms < notes_ms ? redis_ms : notes_ms;
    if (remote_news_due(remote) < due_ms)
        due_ms = remote_news_due(remote);
    if (remote_check_due(remote) < due_ms)
        due_ms = remote_check_due(remote);
    if (remote->parked_count > 0 && remote->parked_look_ms < due_ms)
        due_ms = remote->parked_look_ms;
    if (due_ms <= remote->now_ms)
        return 0;
    const uint64_t wait = due_ms - remote->now_ms;
    return wait < WAIT_MS_MAX ? (uint32_t)wait : WAIT_MS_MAX;
}

void remote_run(void *context)
{
    struct remote *remote = context;
    metrics_thread_enter();
    while (!atomic_load(&remote->stop)) {
        wake_clear(&remote->wake);
        if (remote_turn(remote, clock_now_ms()))
            continue;
        struct pollfd fds[] = { { .fd = redis_client_fd(remote->client), .events = POLLIN },
            { .fd = remote->wake.fd, .events = POLLIN } };
        (void)poll(fds, sizeof fds / sizeof *fds, (int)wait_ms(remote));
    }
}

void remote_log_run(void *context)
{
    struct remote *remote = context;
    log_reader_run(remote->reader);
}

void remote_stop(struct remote *remote)
{
    atomic_store(&remote->stop, true);
    wake_signal(&remote->wake);
    log_reader_stop(remote->reader);
}

struct wake *remote_wake(struct remote *remote)
{
    return &remote->wake;
}

bool remote_idle(const struct remote *remote)
{
    return ports_idle(remote->ports) && remote->calls_used == 0 && remote->parked_count == 0
        && remote->walks_used == 0;
}
