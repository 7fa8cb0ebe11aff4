/* SPDX-License-Identifier: Apache-2.0 */
/* contract/outbox.h: what the shop is to be told, as the order store keeps it. A row is written in the
 * transaction that writes or moves an order, so that there is one for each change and none for what
 * did not happen; it waits until the shop has taken it, or nobody tries any more.
 *
 *   WAITING ──► DELIVERED          tries and next_ms belong to WAITING
 *      ▲ └────► FAILED             a replay brings both back
 *
 * Thread, errors: as the order store (order_store.h). */
#ifndef STAMPEDE_CONTRACT_OUTBOX_H
#define STAMPEDE_CONTRACT_OUTBOX_H

#include "contract/order_store.h"

enum { OUTBOX_ERROR_MAX = 160, OUTBOX_SETTLE_MAX = 64 };

enum outbox_state { OUTBOX_ANY, OUTBOX_WAITING, OUTBOX_DELIVERED, OUTBOX_FAILED, OUTBOX_STATES };

/* What a row is about. Numbers in the database never change their meaning. */
#define OUTBOX_TOPIC_LIST(X) \
    X(STATE, NULL)              /* the order got into order_state */ \
    X(SHIPPED, "order.shipped") /* or its tracking number was corrected */ \
    X(DELIVERED, "order.delivered") \
    X(REFUNDED_PART, "order.partly_refunded") /* subject: the amount */ \
    X(REMEDY, "order.remedy")                 /* subject: the case */
enum outbox_topic {
#define OUTBOX_TOPIC_ENUM(name, text) TOPIC_##name,
    OUTBOX_TOPIC_LIST(OUTBOX_TOPIC_ENUM)
#undef OUTBOX_TOPIC_ENUM
        TOPICS
};

struct outbox_event {
    uint64_t id;
    ticket_number ticket;
    uint8_t order_state; /* that the order got into, or is in: enum order_state */
    uint8_t topic;       /* enum outbox_topic */
    uint64_t subject;    /* as the topic says; else 0 */
    uint64_t version;    /* of the order, by that change */
    uint64_t time_ms;
    uint8_t state;
    uint32_t tries;
    uint64_t next_ms;
    int http_status; /* of the last try; 0: none, or no answer */
    char error[OUTBOX_ERROR_MAX + 1];
    uint64_t tried_ms; /* time of the last try; 0: none yet */
};
/* What became of one try. */
struct outbox_result {
    uint64_t id;
    uint8_t state;    /* enum outbox_state; WAITING: again at next_ms */
    uint64_t next_ms; /* WAITING */
    int http_status;
    char error[OUTBOX_ERROR_MAX + 1];
};

/* A part of the order store's operations; NULL where a store has no outbox. */
struct outbox_store_ops {
    /* From now on changes of orders are written down. Without it nothing is, and nothing is paid. */
    void (*turn_on)(struct order_store *);
    /* Waiting ones with next_ms <= now_ms, the longest due first. *next_ms: when the next after them
     * is due; UINT64_MAX: none. */
    enum status (*due)(struct order_store *, uint64_t now_ms, struct outbox_event *, uint32_t max,
        uint32_t *count, uint64_t *next_ms);
    /* One transaction, at most OUTBOX_SETTLE_MAX; tries + 1. Rows that do not wait stay as they are. */
    enum status (*settle)(struct order_store *, const struct outbox_result *, uint32_t count);
    /* Rows with id > after, ascending; of one order, or of all (0). */
    enum status (*list)(struct order_store *, enum outbox_state, ticket_number, uint64_t after,
        struct outbox_event *, uint32_t max, uint32_t *count);
    /* Waiting again, with all tries before it. STATUS_NOT_FOUND: no such row. */
    enum status (*replay)(struct order_store *, uint64_t id, uint64_t now_ms);
    /* The same for all that happened at from_ms or later and wait no more; *count: how many. */
    enum status (*replay_from)(struct order_store *, uint64_t from_ms, uint64_t now_ms, uint32_t *count);
    /* WAITING or FAILED. */
    enum status (*count)(struct order_store *, enum outbox_state, uint64_t *count);
};

#endif
