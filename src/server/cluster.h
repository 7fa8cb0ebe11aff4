/* SPDX-License-Identifier: Apache-2.0 */
/* server/cluster.h: what a process has of a shop on many machines: the inventory over Redis, which follows
 * the log that the database keeps (inventory/redis/remote.h), and, if it is a worker, the keeper of
 * partitions (partition/keeper.h). Each has a connection to the database and a thread of its own.
 *
 *   role      serves requests   keeps partitions   may lead
 *   all       yes               yes                yes
 *   gateway   yes               no                 no
 *   worker    yes               yes                yes      (put no visitors on it)
 *
 * Thread: main, unless said otherwise. Errors: `error` says in one sentence what is wrong. */
#ifndef STAMPEDE_SERVER_CLUSTER_H
#define STAMPEDE_SERVER_CLUSTER_H

#include "config/config.h"
#include "inventory/engine.h"
#include "worker/leadership.h"

struct cluster;
struct data_folder;
struct funnel_keys;
struct inventory;
struct limits;
struct link;
struct member;
struct order_cache;
struct order_store;
struct worker;
struct worker_health;

enum leads cluster_leads(const struct config *config);
/* How large the engine of a partition is. */
struct engine_config cluster_engine_config(const struct config *config);

/* Reads the whole log. `store`: further connections are opened beside it. */
MUST_CHECK enum status cluster_open(struct cluster **cluster, const struct config *config,
    const struct data_folder *folder, const struct funnel_keys *keys, struct order_store *store,
    uint32_t ports, char error[CONFIG_ERROR]);
void cluster_close(struct cluster *cluster); /* accepts NULL */
struct inventory *cluster_inventory(struct cluster *cluster);
uint64_t cluster_process(const struct cluster *cluster); /* the number of this process, not 0 */
/* One for each reader of order views, and closed with the cluster. */
struct order_cache *const *cluster_order_caches(const struct cluster *cluster);
const struct member *cluster_member(const struct cluster *cluster);
int64_t cluster_redis_apart_ms(void *context); /* the cluster; any thread (worker/members.h) */
void cluster_health(void *context, struct worker_health *health); /* the cluster; any thread */

/* Before it is started, when the worker is open: who hears which orders were written and moved, and tells
 * which this process has moved; and the limits, which have joined those of the others. A worker's process
 * opens its keeper. */
MUST_CHECK enum status cluster_join(struct cluster *cluster, struct worker *worker,
    struct link *link, struct limits *limits, char error[CONFIG_ERROR]);
MUST_CHECK bool cluster_start(struct cluster *cluster);
/* When no edge runs any more: answers what is in flight until `ended` says that the other clients are done,
 * or the time is over. */
void cluster_finish(struct cluster *cluster, uint64_t give_up_ms,
    bool (*ended)(const void *context), const void *context);
void cluster_stop(struct cluster *cluster); /* when no client runs any more */

#endif
