/* SPDX-License-Identifier: Apache-2.0 */
/* queue/relay.h: the stream of one partition on its way through a broker (queue/broker.h): entries that go
 * there, and entries of an epoch that are read back from it when the partition is opened again.
 *
 * Reading back gives the entries of one epoch, each once and without a gap. What it passes over: other
 * partitions and older epochs; entries that were given already; and entries after a gap, since the sender
 * repeats from the gap on (`beyond` remembers the last of them: if it is never reached, records are missing).
 * Bytes that are no message are logged, counted (stampede_broker_unreadable_total, of which an alarm is made)
 * and passed over: if records are missing without them, that is a gap.
 *
 * Thread: the keeper's. Memory: none but the broker's line. */
#ifndef STAMPEDE_QUEUE_RELAY_H
#define STAMPEDE_QUEUE_RELAY_H

#include "queue/broker.h"
#include "queue/message.h"

enum {
    RELAY_AHEAD_MAX = 16384, /* records that are sent and not confirmed yet, of a partition */
    RELAY_MESSAGE_MAX = 512 * 1024, /* bytes; Kafka takes twice as many unless it is set otherwise */
};

struct relay {
    struct broker *broker; /* NULL: there is none */
    struct broker_line *line;
    uint32_t epoch;  /* that is read back; 0: nothing is */
    uint64_t beyond; /* the last record that was seen after a gap; 0: none */
    char *buffer;    /* of RELAY_MESSAGE_MAX bytes */
};

/* `broker` is set; nothing is done without one. STATUS_AWAY: no memory. */
MUST_CHECK enum status relay_open(struct relay *relay, uint32_t part);
void relay_close(struct relay *relay); /* accepts one that is not open */
/* From here on it is sent: the records up to this one need not be. */
void relay_begin(struct relay *relay, uint64_t seq);
/* STATUS_FULL, STATUS_AWAY: later. STATUS_CORRUPT: it is no entry of a stream. */
MUST_CHECK enum status relay_send(struct relay *relay, const struct stream_entry *entry);
/* What the broker has of this epoch, from a time on. STATUS_AWAY, STATUS_BUSY: later. */
MUST_CHECK enum status relay_back(struct relay *relay, uint32_t epoch, uint64_t time_ms);
/* The entry that goes on after `seq`; its lines are valid until the next call. STATUS_BUSY: not yet here;
 * STATUS_NOT_FOUND: there is none any more; STATUS_CONFLICT: the broker has a later epoch. */
MUST_CHECK enum status relay_next(struct relay *relay, uint64_t seq, struct stream_entry *entry);

#endif
