/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/fault.c: what goes wrong. */
#include "contract/ticket_number.h"
#include "inventory/redis/keys.h"
#include "tests/simulation/cluster/cluster.h"
#include "tests/simulation/cluster/tasks.h"
#include "tests/simulation/trace.h"

#include <stdio.h>

enum { PROMOTIONS_APART_MS = 3000 };

/* A server that was the master, was demoted without a restart and is promoted again still has its old
 * script. If nobody opened the partition in between, that script may run, on a state that has lost a suffix,
 * until it is noticed that the replication id is another one, which is looked for each second. A cluster
 * needs longer than that for two promotions; without that rule (--back-again) numbers of tickets are told
 * twice. */
static void back_again_avoid(void)
{
    static char bytes[SCRIPT_BYTES_MAX];
    const bool may = cluster_back_again || sim_now_ms >= cluster.promoted_ms + PROMOTIONS_APART_MS;
    cluster.promoted_ms = sim_now_ms;
    for (uint32_t i = 0; i < db.part_count && !may; i++) {
        struct text text = text_in(bytes, sizeof bytes);
        struct partition_keys keys;
        struct span epoch;
        uint64_t number = 0;
        partition_keys_make(&keys, CLUSTER_DATA_ID, db.parts[i].state.part);
        const struct map *map = sim_redis_hash(&cluster.redis, keys.names[SCRIPT_KEY_PART]);
        if (map == NULL || !map_get(map, SPAN("epoch"), &epoch)
            || span_to_u64(epoch, &number) != STATUS_OK || number == 0)
            continue;
        invariant(script_write(&text, keys.prefix, (uint32_t)number) == STATUS_OK);
        sim_redis_forget_script(&cluster.redis, text_span(&text));
    }
}

static void server_dies(void)
{
    if (!sim_redis_promote(&cluster.redis, true))
        return;
    back_again_avoid();
    cluster.rejoin_ms = sim_now_ms + 1 + cluster_below(2000);
    trace_step("master-dies", cluster.redis.master, 0, 0);
}

static void server_is_cut_off(void)
{
    if (!sim_redis_promote(&cluster.redis, false))
        return;
    back_again_avoid();
    cluster.rejoin_ms = sim_now_ms + 1 + cluster_below(2000);
    trace_step("master-cut-off", cluster.redis.master, 0, 0);
}

static void server_hands_over(void)
{
    if (!sim_redis_hand_over(&cluster.redis))
        return;
    back_again_avoid();
    trace_step("master-hands-over", cluster.redis.master, 0, 0);
}

static void server_restarts(void)
{
    sim_redis_restart(&cluster.redis);
    trace_step("master-restarts", cluster.redis.master, 0, 0);
}

static void data_is_flushed(void)
{
    sim_redis_flush_all(&cluster.redis);
    trace_step("flush-all", cluster.redis.master, 0, 0);
}

static void scripts_are_flushed(void)
{
    sim_redis_flush_scripts(&cluster.redis);
    trace_step("script-flush", cluster.redis.master, 0, 0);
}

static void field_is_wrong(void)
{
    struct partition_keys keys;
    char field[16];
    if (!cluster.profile.tampers)
        return;
    const sale_id sale = (sale_id)(1 + cluster_below(cluster.profile.sales));
    const item_id item = 1 + (sale - 1) * ITEMS_PER_SALE + (item_id)cluster_below(cluster.profile.items);
    partition_keys_make(&keys, CLUSTER_DATA_ID,
        part_of_sale(sale, (uint32_t)cluster_below(cluster.profile.shards)));
    snprintf(field, sizeof field, "i%u", item);
    if (!sim_redis_tamper(&cluster.redis, keys.names[SCRIPT_KEY_PART], span_from_string(field)))
        return;
    cluster.tampered = true;
    trace_step("field-is-wrong", item, 0, 0);
}

static void database_is_away(void)
{
    db.away_until_ms = sim_now_ms + cluster_below(1500);
    trace_step("database-away", db.away_until_ms - sim_now_ms, 0, 0);
}

static void worker_stops(void)
{
    const uint64_t index = cluster_below(WORKERS);
    cluster.workers[index].process.stopped_until_ms =
        sim_now_ms + cluster_below(4 * cluster.profile.lease_ms);
    trace_step("worker-stops", index, 0, 0);
}

static void worker_ends(void)
{
    const uint64_t index = cluster_below(WORKERS);
    trace_step("worker-dies", index, 0, 0);
    worker_die(&cluster.workers[index]);
}

static void gateway_stops(void)
{
    const uint64_t index = cluster_below(GATEWAYS);
    cluster.gateways[index].process.stopped_until_ms = sim_now_ms + cluster_below(2000);
    trace_step("gateway-stops", index, 0, 0);
}

static void gateway_host_stops(void)
{
    const uint64_t index = cluster_below(GATEWAYS);
    cluster.gateways[index].host_stopped_until_ms = sim_now_ms + cluster_below(4000);
    trace_step("gateway-host-stops", index, 0, 0);
}

/* What Redis has answered is looked at when it is lost, and the partition was opened anew. */
static void answers_wait_over_a_failover(void)
{
    for (uint32_t i = 0; i < GATEWAYS; i++)
        if (cluster_below(2) == 0)
            cluster.gateways[i].host_stopped_until_ms = sim_now_ms + 1000 + cluster_below(4000);
    server_dies();
}

/* What workers have read is lost before they go on. */
static void workers_stop_over_a_failover(void)
{
    for (uint32_t i = 0; i < WORKERS; i++)
        if (cluster_below(2) == 0)
            cluster.workers[i].process.stopped_until_ms =
                sim_now_ms + cluster_below(6 * cluster.profile.lease_ms);
    server_dies();
}

static void gateway_ends(void)
{
    const uint64_t index = cluster_below(GATEWAYS);
    trace_step("gateway-dies", index, 0, 0);
    gateway_die(&cluster.gateways[index]);
}

static void connection_breaks(void)
{
    const uint64_t index = cluster_below(GATEWAYS + WORKERS);
    sim_net_break(index < GATEWAYS ? &cluster.gateways[index].process
                                   : &cluster.workers[index - GATEWAYS].process);
    trace_step("connection-breaks", index, 0, 0);
}

void fault_happens(void)
{
    static void (*const faults[])(void) = { server_dies, server_dies, server_is_cut_off,
        server_is_cut_off, server_hands_over, server_hands_over, server_restarts, data_is_flushed,
        scripts_are_flushed, field_is_wrong, database_is_away, database_is_away, worker_stops,
        worker_stops, worker_stops, worker_ends, gateway_stops, gateway_host_stops, gateway_host_stops,
        answers_wait_over_a_failover, answers_wait_over_a_failover, workers_stop_over_a_failover,
        workers_stop_over_a_failover, gateway_ends, connection_breaks, connection_breaks };
    cluster.faults++;
    faults[cluster_below(sizeof faults / sizeof *faults)]();
}

void faults_end(void)
{
    sim_net.faults = db.faults = cluster.redis.repeats = false;
    db.away_until_ms = 0;
    for (uint32_t i = 0; i < WORKERS; i++)
        cluster.workers[i].process.stopped_until_ms = 0;
    for (uint32_t i = 0; i < GATEWAYS; i++)
        cluster.gateways[i].process.stopped_until_ms = cluster.gateways[i].host_stopped_until_ms = 0;
    sim_redis_rejoin(&cluster.redis);
    cluster.rejoin_ms = 0;
    if (cluster.tampered) /* nobody may have noticed: the partitions are opened anew */
        sim_redis_flush_all(&cluster.redis);
}
