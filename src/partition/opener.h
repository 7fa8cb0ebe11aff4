/* SPDX-License-Identifier: Apache-2.0 */
/* partition/opener.h: one opening of a partition, from the log in the database to a script in Redis that may
 * sell (docs/redis.md#opening). It is the one recovery for everything.
 *
 *   opener_start     rebuilds the engine from the database; shuts the epoch that runs in Redis
 *   (the owner)      writes what broker and stream still have of that epoch, by `writer`, until there is
 *                    nothing left
 *   opener_finish    raises the epoch in the database, loads the state unless Redis has it (and nobody has
 *                    found that it differs), admits the script
 *
 * After a failure the owner calls opener_close and begins again. What is remembered over tries:
 *   raised     an epoch that this process has raised and never admitted is used again: there are only
 *              EPOCH_MAX of them. Not after a load without an answer: its pieces may come late
 *   void_epoch the stream of this epoch has a record that the engine does not confirm: what comes after the
 *              last confirmed one is void, and Redis gets a new state
 *
 * Thread: that of store and caller. Memory: engine, queue and writer, from opener_start to opener_close. */
#ifndef STAMPEDE_PARTITION_OPENER_H
#define STAMPEDE_PARTITION_OPENER_H

#include "base/arena.h"
#include "contract/cluster_store.h"
#include "inventory/redis/keys.h"
#include "redis/info.h"

struct broker;
struct engine_config;
struct redis_caller;
struct ticket_queue;

/* Why a partition is closed, and what metrics and alarms call it. */
#define CLOSING_LIST(X) \
    X(STORE_AWAY, "store-away")         /* the database can't be asked now */ \
    X(STORE_DIFFERS, "store-differs")   /* its log can't be replayed, or went on without us */ \
    X(FENCED, "fenced")                 /* the database has a later epoch than ours */ \
    X(REDIS_AWAY, "redis-away")         /* Redis does not answer now */ \
    X(NOT_OPENED, "not-opened")         /* Redis refused a step of the opening */ \
    X(SCRIPT_DIFFERS, "script-differs") /* the engine came to another outcome than the script */ \
    X(STREAM_DAMAGED, "stream-damaged") /* a record is missing or can't be read */ \
    X(SCRIPT_LOST, "script-lost")       /* the server does not have the script any more */ \
    X(STATE_LOST, "state-lost") /* Redis has another epoch, nothing, or less than the database */ \
    X(OTHER_SERVER, "other-server")   /* another master, or the same one started again */ \
    X(BROKER_AWAY, "broker-away")     /* the broker can't be asked now: nothing was touched */ \
    X(AT_REST, "at-rest")             /* no trouble: its sale is over, and it was put to rest */ \
    X(STATE_DIFFERS, "state-differs") /* reconciliation found that Redis has another state */
enum closing {
    CLOSING_NONE,
#define CLOSING_VALUE(name, label) CLOSING_##name,
    CLOSING_LIST(CLOSING_VALUE)
#undef CLOSING_VALUE
        CLOSINGS,
};

struct opener_config {
    uint32_t part;
    uint64_t data_id;
    struct order_store *store;
    struct redis_caller *caller;
    const struct engine_config *engine;
    uint64_t lag_max;
    uint32_t timeout_ms;
    void (*changed)(void *context, ticket_number ticket, user_id user); /* may be NULL */
    void (*wrote)(void *context, const struct queue_record *record);    /* may be NULL */
    void *context;
    struct broker *broker; /* NULL: none */
};

struct opener {
    struct opener_config config;
    struct partition_keys keys;
    uint16_t slot;
    struct ticket_queue *queue; /* NULL: closed */
    struct order_writer *writer;
    struct arena arena; /* the writer's */
    uint32_t epoch;     /* before opener_finish the old one, after it the new one */
    uint32_t raised, void_epoch;
    char replid[REDIS_ID_CHARS + 1]; /* of the master at the opening */
    char what[240];                  /* why it did not succeed, in words */
};

void opener_init(struct opener *opener, const struct opener_config *config);
/* CLOSING_NONE: *drains says whether broker or stream may have more of the old epoch. */
MUST_CHECK enum closing opener_start(struct opener *opener, bool *drains);
MUST_CHECK enum closing opener_finish(struct opener *opener);
void opener_close(struct opener *opener); /* accepts one that is closed */
/* Is it at rest (inventory/redis/opening.h)? Then *state is where. Nobody knows: no. */
bool opener_is_at_rest(struct opener *opener, struct part_state *state);
bool opener_has_no_rest(struct opener *opener); /* Redis has no mark of a rest; false also: nobody knows */
/* Redis refuses the epoch. Why, as far as Redis knows? */
enum closing opener_fenced(struct opener *opener);
/* What the master of the partition tells about itself; NULL: it is not connected. */
const struct redis_info *opener_server(const struct opener *opener);
/* Notes the words, and answers the closing. */
enum closing opener_refuse(struct opener *opener, enum closing closing, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
