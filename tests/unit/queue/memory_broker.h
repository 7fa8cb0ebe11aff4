/* SPDX-License-Identifier: Apache-2.0 */
/* tests/unit/queue/memory_broker.h: a broker (queue/broker.h) that a test holds in its hands. It acknowledges
 * in `turn`, unless it is held; what it has taken can be changed, and it can lose what it has not
 * acknowledged. */
#ifndef STAMPEDE_TESTS_UNIT_QUEUE_MEMORY_BROKER_H
#define STAMPEDE_TESTS_UNIT_QUEUE_MEMORY_BROKER_H

#include "queue/broker.h"

enum { MEMORY_MESSAGES_MAX = 4096 };

struct memory_message {
    uint32_t part;
    uint64_t line, seq, time_ms; /* line: 0: nobody waits for it */
    char *bytes;
    size_t size;
};

struct memory_broker {
    struct broker broker; /* first */
    struct memory_message messages[MEMORY_MESSAGES_MAX];
    uint32_t count, acked; /* messages[0 … acked) are in the broker for good */
    bool is_held;          /* nothing is acknowledged */
    const char *wrong;     /* what it says */
    const void *reader;    /* which line reads, and where */
    uint32_t at;
    uint64_t lines_made, kept;
    void *lines;
    int wake_fd;
};

struct memory_broker *memory_broker_open(void);
void memory_broker_fail(struct memory_broker *broker); /* loses what is not acknowledged */
/* A message as somebody else would write it. */
void memory_broker_put(struct memory_broker *broker, uint32_t part, uint64_t time_ms, struct span bytes);

#endif
