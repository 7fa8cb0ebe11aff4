/* SPDX-License-Identifier: Apache-2.0 */
/* queue/broker.h: the seam to a broker: a replicated copy of the streams, which others may read too
 * (docs/queue.md#kafka). queue/kafka/ has Kafka; another broker is another file with these operations.
 *
 * A line carries the messages of one partition from one opening of it to its end. What is sent on it is
 * acknowledged in its order. What the broker loses or refuses is sent again: `sent` then goes back to
 * `acked`, and the sender reads on from there. So a message may be in the broker twice.
 * Reading back. `seek` and `next` give what the broker has of the line's partition, of any opening of it,
 * from a time on to the end that it has at the first `next`, with all that this process has sent before. One
 * line at a time can read.
 *
 * Thread: the keeper's. Nothing waits for the broker but `turn` while it is not connected, and `seek`, both
 * up to BROKER_WAIT_MS. */
#ifndef STAMPEDE_QUEUE_BROKER_H
#define STAMPEDE_QUEUE_BROKER_H

#include "base/span.h"

enum {
    BROKER_WAIT_MS = 300,
    BROKER_AWAY_MS = 5000, /* a message that waits so long for its acknowledgement: the broker is away */
};

struct broker_line {
    uint32_t part;
    uint64_t sent, acked; /* the last record that was; the owner sets both before the first message */
    uint64_t waits_since_ms; /* since when the oldest message waits; 0: none does */
};

struct broker {
    const struct broker_ops *ops;
};
struct broker_ops {
    /* What has come in: to be called often. True: something was acknowledged. */
    bool (*turn)(struct broker *, uint64_t now_ms);
    /* Why nothing can be sent or read now, in a sentence that stays valid; NULL: all is well. */
    const char *(*wrong)(const struct broker *);
    /* This descriptor (an eventfd) becomes readable when something has come in; -1: none any more. */
    void (*wake)(struct broker *, int fd);

    struct broker_line *(*line_open)(struct broker *, uint32_t part); /* NULL: no memory */
    void (*line_close)(struct broker *, struct broker_line *);
    /* The bytes are copied. `seq`: of the last record in it. `time_ms`: of its records.
     * STATUS_FULL, STATUS_AWAY: later. */
    enum status (*send)(
        struct broker *, struct broker_line *, uint64_t seq, uint64_t time_ms, struct span message);
    /* The database has everything up to here: so others see how far behind we are. */
    void (*kept)(struct broker *, struct broker_line *, uint64_t seq);

    /* STATUS_BUSY: another line reads. STATUS_AWAY. */
    enum status (*seek)(struct broker *, struct broker_line *, uint64_t time_ms);
    /* The next message, valid until the next call; `where` tells people where it is. What a stranger wrote,
     * which belongs to no partition, is given as no bytes. STATUS_BUSY: it is not here yet.
     * STATUS_NOT_FOUND: that was the last one, and the line does not read any more. */
    enum status (*next)(struct broker *, struct broker_line *, struct span *message, char where[80]);

    void (*close)(struct broker *);
};

#endif
