/* SPDX-License-Identifier: Apache-2.0 */
/* server/host.h: the inventory of this process: which one it is, and the threads that run it. Nobody above
 * the seam (contract/inventory.h) knows what is chosen here.
 * Embedded: the turns of the engine belong to the loop of edge 0 on few cores, else to a thread of its own;
 * the journal is written by another. When the host stops, the thread of the caller takes the turns over.
 * Thread: main, unless said otherwise. Errors: `error` says in one sentence why it can't be opened. */
#ifndef STAMPEDE_SERVER_HOST_H
#define STAMPEDE_SERVER_HOST_H

#include "base/thread.h"
#include "config/config.h"
#include "contract/types.h"

struct cluster;
struct data_folder;
struct embedded;
struct funnel_keys;
struct inventory;
struct limits;
struct link;
struct order_store;
struct routes;
struct ticket_queue;
struct worker;
struct worker_config;

struct host {
    struct inventory *inventory; /* NULL: not open */
    struct embedded *embedded;   /* the same, for host.c only; NULL: not this one */
    struct cluster *cluster;     /* likewise */
    struct wake wake;            /* of inventory_thread */
    struct thread inventory_thread, sync_thread;
    _Atomic bool stop_inventory, stop_sync;
};

/* What one edge's loop does in each turn: the gateway's work, the inventory's if it is hosted here, and
 * then the answers, so that a decision leaves in the turn that made it. */
struct loop {
    struct routes *routes;
    struct inventory *hosted; /* NULL: has a thread of its own, or another loop */
};
bool loop_turn(void *self, uint64_t now_ms); /* edge_handler.turn; self: struct loop */

MUST_CHECK enum status host_open(struct host *host, const struct config *config,
    const struct data_folder *folder, const struct funnel_keys *keys, uint32_t ports,
    char error[CONFIG_ERROR]);
/* The same for many machines, with their database (server/cluster.h). */
MUST_CHECK enum status host_join(struct host *host, const struct config *config,
    const struct data_folder *folder, const struct funnel_keys *keys, struct order_store *store,
    uint32_t ports, char error[CONFIG_ERROR]);
/* Embedded: what it decides, for the orders. */
MUST_CHECK enum status host_queue_open(const struct host *host, const struct config *config,
    const struct data_folder *folder, struct ticket_queue **queue);
lsn_t host_durable(const struct host *host); /* embedded: the last position in the log */
/* Embedded, before it is started: the highest numbers that it knows; 0: none. */
void host_numbers(const struct host *host, item_id *item, sale_id *sale);
/* Embedded, before it is started: the next `count` numbers of tickets are never given. Durable when it
 * returns. */
MUST_CHECK enum status host_numbers_skip(struct host *host, uint32_t count, uint64_t *left_out);
/* Many machines, else nothing: what the worker needs to know of them; and who hears of orders, and of
 * limits. */
void host_follow(const struct host *host, struct worker_config *config);
MUST_CHECK enum status host_tell(struct host *host, struct worker *worker, struct link *link,
    struct limits *limits, char error[CONFIG_ERROR]);
/* `loop`: the wake-up of the edge whose loop hosts the inventory; NULL: a thread of its own does. */
MUST_CHECK bool host_start(struct host *host, struct wake *loop);
/* Housekeeper threads. A fault is logged where it happens, and the next round tries again. */
MUST_CHECK enum status host_prepare(struct host *host); /* the next segment of the log */
/* Snapshots and packed segments: seconds. `busy`: many purchases come, and they wait for fewer. */
MUST_CHECK enum status host_keep(struct host *host, bool busy);
void host_touch(const struct host *host); /* tables that a crowd will look up get their memory */

/* When no edge runs any more: answers what is in flight until `ended` says that the other clients are done,
 * or the time is over. */
void host_finish(struct host *host, uint64_t give_up_ms, bool (*ended)(const void *context),
    const void *context);
/* When no client runs any more: ends the journal's thread and writes a snapshot, if nothing is in flight. */
void host_stop(struct host *host);
void host_close(struct host *host); /* accepts one that was never opened */

#endif
