/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/cluster/cluster.h"

#include "tests/simulation/cluster/people.h"
#include "tests/simulation/cluster/tasks.h"
#include "tests/simulation/trace.h"

#define START_MS UINT64_C(1763000000000)

struct cluster cluster;
bool cluster_back_again;

uint64_t cluster_below(uint64_t bound)
{
    return random_below(&cluster.random, bound);
}

sale_id cluster_sale(item_id item)
{
    return 1 + (item - 1) / ITEMS_PER_SALE;
}

static void profile_draw(struct cluster_profile *profile)
{
    static const uint32_t replicates[] = { 2, 8, 30, 100 };
    static const uint32_t fault_rates[] = { 0, 300, 150, 80, 80, 40, 20 };
    *profile = (struct cluster_profile){ .sales = 1 + (uint32_t)cluster_below(SALES_MAX),
        .shards = cluster_below(2) == 0 ? 1 : 2 + (uint32_t)cluster_below(2),
        .items = 1 + (uint32_t)cluster_below(ITEMS_PER_SALE),
        .units = 1 + (uint32_t)cluster_below(30),
        .users = 2 + (uint32_t)cluster_below(20),
        .quantity = 1 + (uint32_t)cluster_below(3),
        .limit = (uint32_t)cluster_below(4),
        .sale_limit = (uint32_t)cluster_below(2) * (uint32_t)cluster_below(5),
        .steps = 500 + (uint32_t)cluster_below(2000),
        .step_ms = 4 + (uint32_t)cluster_below(20),
        .fault_one_in = fault_rates[cluster_below(sizeof fault_rates / sizeof *fault_rates)],
        .replicate_one_in = replicates[cluster_below(sizeof replicates / sizeof *replicates)],
        .tell_ms = 20 + (uint32_t)cluster_below(300),
        .lease_ms = 300 + (uint32_t)cluster_below(1500),
        .timeout_ms = 200 + (uint32_t)cluster_below(2000),
        .lag_max = cluster_below(3) == 0 ? 3 + cluster_below(10) : 1000,
        .one_open_order = cluster_below(4) == 0,
        .repeats = cluster_below(2) == 0,
        .tampers = cluster_below(4) == 0,
        .return_draw_ms = cluster_below(6) == 0 ? 200 : 0,
        .cooldown_s = cluster_below(6) == 0 ? 1 : 0 };
}

void cluster_step(void)
{
    const struct cluster_profile *profile = &cluster.profile;
    sim_now_ms += cluster_below(profile->step_ms + 1);
    if (!cluster.resting && profile->fault_one_in != 0 && cluster_below(profile->fault_one_in) == 0)
        fault_happens();
    if (cluster.rejoin_ms != 0 && cluster.rejoin_ms <= sim_now_ms) {
        sim_redis_rejoin(&cluster.redis);
        cluster.rejoin_ms = 0;
    }
    sim_net_turn();
    db_turn();
    if (cluster_below(profile->replicate_one_in) == 0)
        sim_redis_replicate(&cluster.redis, (uint32_t)cluster_below(12));
    machines_turn();
    people_turn();
}

uint64_t cluster_run(uint64_t seed)
{
    trace_start(seed, "cluster");
    cluster = (struct cluster){ 0 };
    random_seed(&cluster.random, seed);
    sim_now_ms = cluster.began_ms = START_MS;
    profile_draw(&cluster.profile);
    const struct cluster_profile *profile = &cluster.profile;
    sim_redis_start(&cluster.redis, &cluster.random);
    sim_net_start(&cluster.redis, &cluster.random);
    sim_net.latency_ms = 1 + (uint32_t)cluster_below(20);
    sim_net.slow_ms = profile->timeout_ms;
    db_start(&cluster.random);
    for (sale_id sale = 1; sale <= profile->sales; sale++)
        db.shards[sale] = profile->shards;
    people_start();
    machines_start();
    sim_net.faults = db.faults = profile->fault_one_in != 0;
    cluster.redis.repeats = profile->repeats;
    for (uint32_t i = 0; i < profile->steps; i++)
        cluster_step();
    rest_check();
    for (uint32_t i = 0; i < db.part_count; i++)
        cluster.epochs += db.parts[i].state.epoch;
    machines_stop();
    sim_net_stop();
    sim_redis_stop(&cluster.redis);
    db_stop();
    return trace.hash;
}
