/* SPDX-License-Identifier: Apache-2.0 */
/* contract/ticket_queue.h: the second seam: what the inventory decided, in order, at least once,
 * to the order side. A queue is the log of one partition; embedded it is the journal itself, partition 0,
 * read from a position; so schedule changes, preheats and adjustments travel in order with the tickets.
 * Every record of the log is given, also those that change nothing in the store: after `seq` comes
 * `seq + 1`, or what was given before comes again. The position is kept by the reader's own transaction
 * (order_store.h), so that a record and the position after it become durable together. */
#ifndef STAMPEDE_CONTRACT_TICKET_QUEUE_H
#define STAMPEDE_CONTRACT_TICKET_QUEUE_H

#include "base/status.h"
#include "contract/command.h"

struct journal_entry;
struct queue_record {
    struct position at;
    struct command command;
    struct outcome outcome;
};

struct ticket_queue {
    const struct ticket_queue_ops *ops;
    uint32_t part; /* whose log it is */
};
struct ticket_queue_ops {
    /* Up to `max` durable records after the last one polled (or after `seek`), in order; 0 when
     * there are none. */
    enum status (*poll)(
        struct ticket_queue *, struct queue_record *records, uint32_t max, uint32_t *count);
    /* STATUS_NOT_FOUND: not kept any more; STATUS_BAD_INPUT: of another partition. */
    enum status (*seek)(struct ticket_queue *, struct position after);
    /* Records up to here are not needed again. STATUS_BAD_INPUT: they were not given, or of another
     * partition. */
    enum status (*commit)(struct ticket_queue *, struct position position);
    struct position (*end)(struct ticket_queue *); /* last durable position */
    /* Where the store keeps the log itself (contract/cluster_store.h), else NULL: what goes into the
     * transaction that takes these records, which are the next after those that are kept; until the next
     * call. And: the last one that was made is in the store. */
    const struct journal_entry *(*entry)(
        struct ticket_queue *, const struct queue_record *records, uint32_t count);
    void (*kept)(struct ticket_queue *);
    void (*close)(struct ticket_queue *);
};

#endif
