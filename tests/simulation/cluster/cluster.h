/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/cluster.h: the simulator's second world: gateways and workers on several machines,
 * over Redis servers that lose what they acknowledged, and one database. One seed is one run.
 *
 *   real    the script, opening, queue, confirming engine and order writer of workers (partition/keeper.h),
 *           the inventory of gateways with its log reader (inventory/redis/remote.h), the stock pump
 *   models  Redis (sim_redis.h), the ways to it (process.h), the database (db.h), clients (people.h)
 *
 * Two sales of up to three shards, three workers that compete for leases, three gateways. A worker that was
 * stopped for long goes on in the middle of what it did. What is checked: db.c at each commit, people.c at
 * each answer, rest.c when all is quiet. */
#ifndef STAMPEDE_TESTS_CLUSTER_CLUSTER_H
#define STAMPEDE_TESTS_CLUSTER_CLUSTER_H

#include "base/arena.h"
#include "contract/inventory.h"
#include "inventory/engine.h"
#include "tests/simulation/cluster/db.h"
#include "tests/simulation/cluster/process.h"

enum { GATEWAYS = 3, WORKERS = 3, SALES_MAX = DB_SALES_MAX, ITEMS_PER_SALE = 2, PUMP_PORT = 1 };
#define CLUSTER_DATA_ID UINT64_C(0x1d0a7a1d0a7a1d0a)

struct gateway {
    struct process process;
    struct db_connection store, pump_store;
    struct remote *remote; /* NULL: it is not there */
    struct task *reader;
    struct inventory_port *port;
    struct arena arena;
    struct stock_pump *pump;
    uint64_t start_ms;              /* not before */
    uint64_t host_stopped_until_ms; /* the thread of its inventory does nothing before, its log reader does */
};
struct worker {
    struct process process;
    struct db_connection store;
    struct keeper *keeper; /* NULL: it is not there */
    struct task *task;
    uint64_t start_ms;
};

/* How this run is: drawn once, from the seed. */
struct cluster_profile {
    uint32_t sales, shards, items, units, users, quantity, limit, sale_limit;
    uint32_t steps, step_ms, fault_one_in; /* 0: no faults */
    uint32_t replicate_one_in;             /* steps: how far the replica is behind */
    uint32_t tell_ms, lease_ms, timeout_ms;
    uint64_t lag_max;
    bool one_open_order, repeats, tampers;
    uint16_t return_draw_ms, cooldown_s;
};

struct cluster {
    struct random random;
    struct cluster_profile profile;
    struct sim_redis redis;
    struct gateway gateways[GATEWAYS];
    struct worker workers[WORKERS];
    uint64_t processes;   /* numbers so far */
    uint64_t promoted_ms; /* when a server last became the master */
    uint64_t rejoin_ms;   /* when the other server is back; 0: it is there */
    bool tampered, resting;
    uint64_t began_ms;
    uint64_t faults, epochs; /* of this run */
};
extern struct cluster cluster;
extern const struct engine_config cluster_engine;
extern bool cluster_back_again; /* see fault.c */

/* A whole run. Answers the hash of all that happened. */
uint64_t cluster_run(uint64_t seed);
void cluster_step(void);                /* something happens */
uint64_t cluster_below(uint64_t bound); /* chance */
sale_id cluster_sale(item_id item);

/* fault.c */
void fault_happens(void);
void faults_end(void);

/* machines.c: processes start, take their turns, and die. */
void machines_start(void);
void machines_turn(void);
void machines_stop(void);
void gateway_die(struct gateway *gateway);
void worker_die(struct worker *worker);
bool gateway_is_up(const struct gateway *gateway);

/* rest.c */
void rest_check(void);

#endif
