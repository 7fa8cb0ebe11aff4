/* SPDX-License-Identifier: Apache-2.0 */
/* contract/ticket_queue.h: the second seam: what the inventory decided, in order, at least once,
 * to the order side. Embedded it is the journal itself, read from a position; so schedule
 * changes, preheats and adjustments travel in order with the tickets. The position is kept by
 * the reader's own transaction (order_store.h), so that a record and the position after it
 * become durable together. */
#ifndef STAMPEDE_CONTRACT_TICKET_QUEUE_H
#define STAMPEDE_CONTRACT_TICKET_QUEUE_H

#include "base/status.h"
#include "contract/command.h"

struct queue_record {
    lsn_t lsn;
    struct command command;
    struct outcome outcome;
};

struct ticket_queue {
    const struct ticket_queue_ops *ops;
};
struct ticket_queue_ops {
    /* Up to `max` durable records after the last one polled (or after `seek`), in order; 0 when
     * there are none. */
    enum status (*poll)(
        struct ticket_queue *, struct queue_record *records, uint32_t max, uint32_t *count);
    enum status (*seek)(struct ticket_queue *, lsn_t after); /* STATUS_NOT_FOUND: not kept any more */
    /* Records up to here are not needed again. */
    enum status (*commit)(struct ticket_queue *, lsn_t position);
    lsn_t (*end)(struct ticket_queue *); /* last durable position */
    void (*close)(struct ticket_queue *);
};

#endif
