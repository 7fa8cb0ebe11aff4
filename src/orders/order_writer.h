/* SPDX-License-Identifier: Apache-2.0 */
/* orders/order_writer.h: from the ticket queue into the order store, each record once.
 *
 * A batch is polled, applied in one transaction with its position, and only then forgotten. What
 * the database refuses is found (it says which record, or the batch is halved until one is left)
 * and then
 *   UNIQUE, LIMIT     rejected: the order is written closed, its units go back (DISPOSE_REJECT), at
 *                     once
 *   STOCK, UNKNOWN    tried ORDER_TRIES_MAX times, then a dead letter and an alarm (DISPOSE_DEAD)
 * A database that is away is not a refusal: the writer pauses (100 ms, doubling to 5 s) and loses
 * nothing. A refused dead letter is treated as away too: a record is never skipped.
 *
 * Thread: the one that owns its store; nothing sleeps, time comes in as now_ms.
 * Memory: one arena, at create.
 * Errors: STATUS_CORRUPT (store or queue): final, the writer does nothing more and says so at every
 * turn. */
#ifndef STAMPEDE_ORDERS_ORDER_WRITER_H
#define STAMPEDE_ORDERS_ORDER_WRITER_H

#include "base/arena.h"
#include "contract/order_store.h"

enum {
    ORDER_AWAY_MS_MIN = 100,
    ORDER_AWAY_MS_MAX = 5000,
    ORDER_USERS_MAX = 256, /* users of lists in one transaction: others wait a few milliseconds */
    ORDER_APPLIES_PER_TURN = 1, /* a turn returns after this many transactions */
};

enum order_writer_state {
    ORDER_WRITER_IDLE,    /* everything there was is written */
    ORDER_WRITER_WORKING, /* there is more, or the next batch is filling */
    ORDER_WRITER_AWAY,    /* the database or the queue is away: paused */
    ORDER_WRITER_STOPPED, /* damage: a person is needed */
};

struct order_writer_config {
    struct ticket_queue *queue;
    struct order_store *store;
    /* Called for every order written or changed, after its commit. May be NULL. */
    void (*changed)(void *context, ticket_number ticket, user_id user); /* user 0: not known here */
    void *changed_context;
    /* Called for every record that became orders for the first time, after its commit. May be NULL. */
    void (*wrote)(void *context, const struct queue_record *record);
    uint32_t batch_max; /* records in one transaction; 0: ORDER_BATCH_MAX */
};

struct order_writer_progress {
    enum order_writer_state state;
    uint32_t wait_ms;                 /* nothing to do before that; 0: call again at once */
    uint32_t records;                 /* became durable in this turn */
    uint32_t written, rejected, dead; /* of these: live orders, rejected orders, dead letters */
    struct position position;         /* last record that is durable in the store */
    uint64_t lag;                     /* queue end − position */
    const char *trouble; /* AWAY, STOPPED: what the store says; valid until the next turn */
};

struct order_writer;
size_t order_writer_bytes(uint32_t batch_max); /* arena bytes that create takes */
struct order_writer *order_writer_create(struct arena *arena, const struct order_writer_config *config);
/* Reads the position from the store and puts the queue there. STATUS_NOT_FOUND: the queue does not
 * keep what comes next any more; STATUS_CONFLICT: the store is ahead of the queue's end. Both mean:
 * one of them is too old. */
MUST_CHECK enum status order_writer_start(struct order_writer *writer);
/* Until it is told otherwise: small batches do not wait for company. */
void order_writer_hurry(struct order_writer *writer, bool hurry);
/* From its first turn on it writes by this store, which is the same database's. */
void order_writer_use(struct order_writer *writer, struct order_store *store);
MUST_CHECK enum status order_writer_turn(
    struct order_writer *writer, uint64_t now_ms, struct order_writer_progress *progress);

#endif
