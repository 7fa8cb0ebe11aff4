/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/machines.c: gateways and workers. A process that dies runs on until its threads
 * have
 * ended, but reaches nobody any more. */
#include "inventory/redis/remote.h"
#include "orders/stock_pump.h"
#include "partition/keeper.h"
#include "tests/simulation/cluster/cluster.h"
#include "tests/simulation/cluster/people.h"
#include "tests/simulation/cluster/tasks.h"
#include "tests/simulation/trace.h"

enum { PARTS_MAX = DB_PARTS, RING_SLOTS_SMALL = 64, DYING_STEPS_MAX = 10000 };

const struct engine_config cluster_engine = { .items_max = DB_ITEMS_MAX, .sales_max = 4, .tickets_max = 512 };

/* ---- gateways ---- */

bool gateway_is_up(const struct gateway *gateway)
{
    return gateway->remote != NULL && gateway->process.stopped_until_ms <= sim_now_ms;
}

static void pump_open(struct gateway *gateway)
{
    struct inventory *inventory = remote_inventory(gateway->remote);
    invariant(arena_open(&gateway->arena, stock_pump_bytes()) == STATUS_OK);
    db_connect(&gateway->pump_store, &gateway->process);
    gateway->pump = stock_pump_create(&gateway->arena,
        &(struct stock_pump_config){ .store = &gateway->pump_store.store,
            .port = inventory->ops->port(inventory, PUMP_PORT, NULL) });
}

/* The first one always, others now and then: several may believe that they lead. */
static bool levels(void *context)
{
    const struct gateway *gateway = context;
    return gateway == &cluster.gateways[0] || cluster_below(8) == 0;
}

static void proposed(void *context)
{
    (void)context; /* workers look by themselves */
}

static void gateway_open(struct gateway *gateway)
{
    char what[200];
    process_start(&gateway->process, ++cluster.processes);
    db_connect(&gateway->store, &gateway->process);
    const struct remote_config config = { .redis = process_redis(&gateway->process),
        .store = &gateway->store.store,
        .data_id = CLUSTER_DATA_ID,
        .engine = cluster_engine,
        .filter_key = { 1, 2 },
        .ports = 2,
        .ring_slots = RING_SLOTS_SMALL,
        .parts_max = PARTS_MAX,
        .tell_ms = cluster.profile.tell_ms,
        .timeout_ms = cluster.profile.timeout_ms,
        .process = gateway->process.number,
        .levels = levels,
        .proposed = proposed,
        .context = gateway };
    gateway->start_ms = sim_now_ms + 100;
    gateway->host_stopped_until_ms = 0;
    const enum status status = remote_open(&gateway->remote, &config, what, sizeof what);
    if (status == STATUS_CORRUPT || status == STATUS_CONFLICT)
        violation("I15 replay of the log", "a gateway can't start: %s", what);
    if (status != STATUS_OK) { /* the database is away: later */
        remote_close(gateway->remote);
        gateway->remote = NULL;
        return;
    }
    trace_step("gateway-starts", (uint64_t)(gateway - cluster.gateways), gateway->process.number, 0);
    gateway->reader = task_start(remote_log_run, gateway->remote);
    struct inventory *inventory = remote_inventory(gateway->remote);
    gateway->port = inventory->ops->port(inventory, 0, NULL);
    pump_open(gateway);
}

static void task_finish(struct task *task)
{
    for (uint32_t i = 0; !task_is_over(task); i++) {
        invariant(i < DYING_STEPS_MAX);
        task_resume(task);
    }
    task_end(task);
}

void gateway_die(struct gateway *gateway)
{
    if (gateway->remote == NULL)
        return;
    gateway->process.dead = true;
    remote_stop(gateway->remote);
    task_finish(gateway->reader);
    people_gateway_died(gateway);
    arena_close(&gateway->arena);
    remote_close(gateway->remote);
    gateway->remote = NULL;
    gateway->start_ms = sim_now_ms + cluster_below(500);
}

static void gateway_turn(struct gateway *gateway)
{
    struct stock_pump_progress progress;
    while (remote_turn(gateway->remote, sim_now_ms))
        continue;
    people_collect(gateway);
    if (cluster_below(4) == 0) /* whoever leads; a second one believes that it does */
        (void)!stock_pump_turn(gateway->pump, sim_now_ms, &progress);
}

/* ---- workers ---- */

/* A partition that the database can't open again, or whose log it can't read, is no accident of Redis. */
static void alarm_hear(void *context, uint32_t part, const char *what)
{
    (void)context;
    if (what != NULL && trace.verbose)
        trace_step("alarm", part, 0, 0);
}

static void worker_open(struct worker *worker)
{
    process_start(&worker->process, ++cluster.processes);
    db_connect(&worker->store, &worker->process);
    const struct keeper_config config = { .store = &worker->store.store,
        .redis = process_redis(&worker->process),
        .data_id = CLUSTER_DATA_ID,
        .engine = cluster_engine,
        .holder = worker->process.number,
        .lag_max = cluster.profile.lag_max,
        .timeout_ms = cluster.profile.timeout_ms,
        .lease_ms = cluster.profile.lease_ms,
        .parts_max = PARTS_MAX,
        .alarm = alarm_hear };
    invariant(keeper_open(&worker->keeper, &config) == STATUS_OK);
    worker->task = task_start(keeper_run, worker->keeper);
    trace_step("worker-starts", (uint64_t)(worker - cluster.workers), worker->process.number, 0);
}

void worker_die(struct worker *worker)
{
    if (worker->keeper == NULL)
        return;
    worker->process.dead = true;
    keeper_stop(worker->keeper);
    task_finish(worker->task);
    keeper_close(worker->keeper);
    worker->keeper = NULL;
    worker->start_ms = sim_now_ms + cluster_below(1000);
}

/* ---- all ---- */

void machines_start(void)
{
    for (uint32_t i = 0; i < GATEWAYS; i++)
        gateway_open(&cluster.gateways[i]);
    for (uint32_t i = 0; i < WORKERS; i++)
        worker_open(&cluster.workers[i]);
}

void machines_stop(void)
{
    for (uint32_t i = 0; i < WORKERS; i++)
        worker_die(&cluster.workers[i]);
    for (uint32_t i = 0; i < GATEWAYS; i++)
        gateway_die(&cluster.gateways[i]);
}

static void task_turn(struct task *task, const struct process *process)
{
    if (process->stopped_until_ms <= sim_now_ms && task_is_due(task) && cluster_below(3) != 0)
        task_resume(task);
}

void machines_turn(void)
{
    for (uint32_t i = 0; i < GATEWAYS; i++) {
        struct gateway *gateway = &cluster.gateways[i];
        if (gateway->remote == NULL && gateway->start_ms <= sim_now_ms)
            gateway_open(gateway);
        if (!gateway_is_up(gateway))
            continue;
        task_turn(gateway->reader, &gateway->process);
        if (gateway->host_stopped_until_ms <= sim_now_ms && cluster_below(3) != 0)
            gateway_turn(gateway);
    }
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &cluster.workers[i];
        if (worker->keeper == NULL && worker->start_ms <= sim_now_ms)
            worker_open(worker);
        else if (worker->keeper != NULL)
            task_turn(worker->task, &worker->process);
    }
}

/* Masters are not judged here: what they say about themselves is that of real ones. */
void redis_client_each(const struct redis_client *client, redis_client_see *see, void *context)
{
    (void)client;
    (void)see;
    (void)context;
}
