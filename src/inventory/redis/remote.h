/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/redis/remote.h: the inventory seam on many machines. Redis proposes, workers confirm and keep,
 * and this process tells what the database has kept
 * (docs/decisions/0041-every-process-follows-the-kept-log.md).
 *
 *   ports ── rings ──► host ── purchases of a partition, up to 64 a call ──► Redis
 *                       │ ◄──────────────── outcomes: proposals, refusals ──────┘
 *                       │ parks what shows something that is not kept yet
 *                       │ ◄── entries of the log ── log reader ◄── database
 *                       └─► answers: kept, void, or DECIDING when tell_ms is over
 *
 * Which answer when.
 *   refusals that show no ticket   at once
 *   wins, repeats, operators'      when the record that they saw is kept; after tell_ms a win is DECIDING
 *   commands                       and a repeat IN_PROGRESS
 *   COMMAND_ASK_…                  at once, from the replica of the partition
 *   no answer of Redis in time,    ANSWER_UNAVAILABLE; a purchase may still have been proposed: the same
 *   no Redis, partition not open   key finds it. Operators' commands are tried for CONTROL_MS before
 *   tickets of an older epoch      ASK_TICKET: VOID, once all of that epoch was read; a settle by one:
 *   that were not kept             UNKNOWN_TICKET
 * A command for a sale without a partition asks for one (log_reader_want).
 *
 * Threads. The host runs remote_run; it owns the client of Redis, the replicas, the board and the answers.
 * The log reader has a thread of its own. Ports belong to their client threads.
 * Memory: taken at open, and for each partition when it is seen first; none per request. */
#ifndef STAMPEDE_INVENTORY_REDIS_REMOTE_H
#define STAMPEDE_INVENTORY_REDIS_REMOTE_H

#include "base/hash.h"
#include "contract/types.h"
#include "inventory/engine_config.h"
#include "redis/client.h"

struct inventory;
struct order_store;
struct remote;
struct text;
struct wake;

enum { REMOTE_CONTROL_MS = 4000, REMOTE_NEWS_MS = 20, REMOTE_NEWS_BYTES = 8 * 1024 };

struct remote_config {
    struct redis_client_config redis;
    struct order_store *store; /* the log reader's own */
    uint64_t data_id;
    struct engine_config engine; /* of each partition */
    struct hash_key filter_key;
    uint32_t ports;      /* at most PORTS_MAX */
    uint32_t ring_slots; /* per port; a power of two, at most RING_SLOTS */
    uint32_t parts_max;
    uint32_t tell_ms, timeout_ms;
    uint64_t keep_ms; /* keys of a partition that was put to rest go after so long; 0: none is */
    uint64_t lag_max; /* as that of keepers (partition/keeper.h): it is among what is compared */
    uint64_t process; /* the number of this process, not 0 */
    /* Tests: the time of decisions and looks; NULL: the servers' own. Host thread. */
    const uint64_t *given_ms;
    /* Host thread; NULL: nobody wants to know. An order was made or moved, here or elsewhere (user 0: not
     * known here; ticket 0: many, which ones is not known); and then: that was all of this turn. */
    void (*changed)(void *context, ticket_number ticket, user_id user);
    void (*changes_end)(void *context);
    /* Host thread: a gateway has proposed something, which a worker may confirm; NULL: this is none. */
    void (*proposed)(void *context);
    /* Host thread: this process is the one that moves units between shards (remote_level.c); NULL: never. */
    bool (*levels)(void *context);
    /* Host thread: an order that this process has moved, for the others; false: none. */
    bool (*moved)(void *context, ticket_number *ticket, user_id *user);
    /* Host thread, each REMOTE_NEWS_MS: what this process tells the others, a text of at most
     * REMOTE_NEWS_BYTES bytes (false: nothing); and what one of them has told. May be lost. Both NULL:
     * nobody has anything to tell. */
    bool (*news)(void *context, uint64_t now_ms, struct text *message);
    bool (*news_urgent)(void *context); /* each turn: it can't wait REMOTE_NEWS_MS; NULL: it can */
    void (*heard)(void *context, uint64_t process, struct span message, uint64_t now_ms);
    void *context;
};

enum {
    REMOTE_START_MS = 10 * 1000, /* a process that starts waits so long for partitions to be open */
    REMOTE_TICKET_BYTES = 480, /* of Redis' memory, the record in the stream included (docs/redis.md) */
};
/* What is wrong with a master; a higher one is told first. */
enum remote_redis { REMOTE_REDIS_FITS, REMOTE_REDIS_SMALL, REMOTE_REDIS_EVICTS, REMOTE_REDIS_OLD };

/* What other threads may know. */
struct remote_health {
    uint32_t partitions;   /* that are followed */
    uint32_t open, closed; /* of these: Redis answered their last call; it did not */
    uint32_t resting;      /* of these: their sale is over, and nobody has them open (opening.h) */
    bool starting;         /* a partition was not seen open yet */
    enum remote_redis wrong; /* with one of the masters */
    int64_t redis_apart_ms; /* how far the clock of a master is ahead of ours, surely; of the worst one */
    bool store_away;        /* the log can't be read */
    bool redis_away;        /* no master of a partition can be reached */
    uint64_t damaged;       /* the number of a partition whose log does not fit; 0: none */
    uint64_t parked;        /* answers that wait for the database */
    uint64_t oldest_ms; /* since when the oldest does; 0: none */
};

/* Reads the whole log first. STATUS_AWAY: the database can't be read; STATUS_CORRUPT, STATUS_CONFLICT: what
 * it has does not fit; `what` says it. *remote is closed as after success. */
MUST_CHECK enum status remote_open(
    struct remote **remote, const struct remote_config *config, char *what, size_t what_bytes);
void remote_close(struct remote *remote); /* accepts NULL; its threads have ended */
struct inventory *remote_inventory(struct remote *remote);

bool remote_turn(struct remote *remote, uint64_t now_ms); /* the host; true: there is more to do at once */
void remote_run(void *context);                /* the remote; the host, until remote_stop */
void remote_log_run(void *context);            /* the remote; the log reader, until remote_stop */
void remote_stop(struct remote *remote);       /* any thread */
bool remote_idle(const struct remote *remote); /* host thread, or after it: nothing waits for an answer */
/* Any thread. */
struct wake *remote_wake(struct remote *remote); /* of the host: there is something for it */
struct remote_health remote_health(struct remote *remote);

#endif
