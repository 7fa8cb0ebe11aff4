/* SPDX-License-Identifier: Apache-2.0 */
/* partition/keeper.h: the worker's half of partitions on many machines: one thread that owns partitions,
 * opens them, confirms what Redis proposed, and writes its orders.
 *
 *   every 200 ms      lists the partitions of the database, takes leases that are free (partition/lease.h)
 *   each partition    is opened (partition/opener.h) and followed (partition/owned.h), in turn
 *
 * Several workers. Each takes at most KEEPER_TAKES_MAX leases a round, and begins at another place of the
 * list: so workers that start together share the partitions. Nobody gives away what it has to a worker that
 * comes later; after a stop the others take it.
 *
 * What is away. The database: nothing is written, no partition is closed for it, leases that run out are
 * asked for again. Redis: it is tried again. In neither case can a record count twice: the fence sees to it
 * (docs/decisions/0040-the-database-is-the-fence.md).
 *
 * Threads: keeper_run is the thread, which owns the store and the callbacks run on it. keeper_stop and
 * keeper_health_read: any. Memory: its own at keeper_open, and for each partition while that is open. */
#ifndef STAMPEDE_PARTITION_KEEPER_H
#define STAMPEDE_PARTITION_KEEPER_H

#include "contract/types.h"
#include "inventory/engine_config.h"
#include "redis/client.h"

struct broker;
struct order_store;
struct queue_record;

enum {
    KEEPER_LIST_MS = 200,
    KEEPER_TAKES_MAX = 4,      /* new leases between two lists */
    KEEPER_WAIT_MS_MAX = 50,   /* of the thread */
    KEEPER_LAST_MS = 5000,     /* at a stop: for what the streams still have */
    KEEPER_BROKER_MS = 2000,   /* a broker that is wrong for so long is told */
    KEEPER_LEASE_MS_MIN = 100, /* or it runs out between two rounds */
};

struct keeper_config {
    struct order_store *store; /* a connection of its own that writes; it outlives the keeper */
    struct redis_client_config redis;
    uint64_t data_id;
    struct engine_config engine; /* of each partition */
    uint64_t holder;             /* the number of this process, not 0 */
    uint64_t lag_max;            /* so many proposals of a partition may wait for the database */
    uint32_t timeout_ms;         /* for an answer of Redis */
    uint32_t lease_ms;           /* like 5000 */
    uint32_t parts_max;          /* it knows at most so many */
    /* An order was written or changed, after its commit. May be NULL. */
    void (*changed)(void *context, ticket_number ticket, user_id user);
    /* A record became orders, after its commit. May be NULL. */
    void (*wrote)(void *context, const struct queue_record *record);
    /* A partition is closed, or can't be opened: `what` begins with "script-differs: " or
     * "partition-closed: ". NULL: none is any more. May be NULL. */
    void (*alarm)(void *context, uint32_t part, const char *what);
    struct broker *broker; /* NULL: none. It outlives the keeper */
    /* What has been wrong with the broker for KEEPER_BROKER_MS; NULL: nothing any more. May be NULL. */
    void (*broker_wrong)(void *context, const char *what);
    void *context;
};

struct keeper_health {
    uint32_t known;        /* partitions of the database */
    uint32_t owned;        /* whose lease is ours */
    uint32_t open, closed; /* of these */
    uint64_t lag;          /* proposals that were seen and are not written, of all that are open */
    uint64_t oldest_ms;    /* how long the oldest of them has been waiting */
    uint64_t backlog;      /* records that wait for the broker */
    const char *broker;    /* what is wrong with it, a text of the program; NULL: nothing */
    bool is_store_away, is_redis_away;
};

struct keeper;
/* STATUS_BAD_INPUT: the store has nothing for many machines, or a number is not as said above. STATUS_FULL,
 * STATUS_IO: no memory, no descriptor. *keeper is closed as after success. */
MUST_CHECK enum status keeper_open(struct keeper **keeper, const struct keeper_config *config);
/* Until keeper_stop. Then what the streams have by now is written, and the leases are given back. */
void keeper_run(void *context); /* a struct keeper */
void keeper_stop(struct keeper *keeper);
void keeper_look(struct keeper *keeper);  /* any thread: there may be something new in a stream */
void keeper_close(struct keeper *keeper); /* after its thread has ended; accepts NULL */
void keeper_health_read(struct keeper *keeper, struct keeper_health *health);

#endif
