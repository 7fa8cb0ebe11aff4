/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/cluster/process.h: a process of the simulated cluster, and its ways to Redis.
 * sim_client.c links redis/client.h, redis/subscriber.h and redis/caller.h again, over sim_redis.h: requests
 * and answers take their time, a connection may break, and what was on its way then was done, is done later,
 * or never. A process that is dead reaches nobody any more. */
#ifndef STAMPEDE_TESTS_CLUSTER_PROCESS_H
#define STAMPEDE_TESTS_CLUSTER_PROCESS_H

#include "redis/client.h"
#include "tests/simulation/cluster/sim_redis.h"

struct process {
    uint64_t number; /* of the process, not 0: another one after each start */
    bool dead;
    uint64_t stopped_until_ms; /* its machine does nothing before */
    /* Its connections to Redis. */
    uint8_t server; /* SIM_SERVER_NONE: none */
    uint32_t server_process;
    uint32_t connections; /* so far */
    uint64_t connect_ms;  /* not before */
    struct redis_info info;
};

struct sim_net {
    struct sim_redis *redis;
    struct random *random;
    bool faults;         /* answers and messages are lost, and requests come late */
    uint32_t latency_ms; /* at most, of one way */
    uint32_t slow_ms;    /* the same, now and then */
};
extern struct sim_net sim_net;

void process_start(struct process *process, uint64_t number);
/* How the product's configuration names it. */
struct redis_client_config process_redis(const struct process *process);
/* Its machine stops in the middle of something, and goes on much later. Nothing outside of a task. */
void process_stop(struct process *process);
void sim_net_start(struct sim_redis *redis, struct random *random);
void sim_net_stop(void);
void sim_net_turn(void);                           /* requests that have arrived are done */
void sim_net_break(const struct process *process); /* its connections */
uint32_t sim_net_waiting(void);                    /* requests that nobody has answered yet */

#endif
