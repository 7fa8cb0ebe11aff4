/* SPDX-License-Identifier: Apache-2.0 */
/* queue/stream_queue.h: the ticket queue of a partition in Redis: its stream (docs/queue.md), and beside it
 * the engine that confirms each record before it is given (inventory/redis/confirm.h).
 *
 * With a broker (queue/relay.h) an entry goes there first, and its records are given when the broker has
 * acknowledged it.
 *
 * Opening rebuilds the engine from what the store has of the log. Records are given as the engine has
 * confirmed them. `entry` makes what the store keeps of the log with them. `commit` tells the script how far
 * the database is, and trims the stream; both may be lost, the next commit tells again.
 *
 * Thread: one (the worker's). `end` too.
 * Errors: poll answers STATUS_AWAY (Redis does not answer: try again), STATUS_CONFLICT (script and engine
 * differ, or this is not the epoch of the partition any more) or STATUS_CORRUPT (a record is missing or can't
 * be read). After the last two it answers the same each time: the partition has to be opened anew.
 * stream_queue_trouble says what is wrong. */
#ifndef STAMPEDE_QUEUE_STREAM_QUEUE_H
#define STAMPEDE_QUEUE_STREAM_QUEUE_H

#include "inventory/redis/confirm.h"
#include "redis/reply.h"

struct broker;
struct order_store;
struct redis_caller;
struct stream_queue_config {
    struct redis_caller *caller;
    struct order_store *store;
    struct confirm_config partition;
    uint32_t timeout_ms;   /* for an answer of Redis */
    struct broker *broker; /* NULL: none */
};

/* STATUS_AWAY: the store can't be read, or no memory. STATUS_CORRUPT, STATUS_CONFLICT: what it has of the log
 * is damaged; `what` says how. */
MUST_CHECK enum status stream_queue_open(struct ticket_queue **queue,
    const struct stream_queue_config *config, char *what, size_t what_bytes);
/* The partition was opened with this script (inventory/redis/opening.h). */
void stream_queue_script(struct ticket_queue *queue, const char *sha);
/* The engine of the partition, as far as records were given. */
const struct confirm *stream_queue_confirm(const struct ticket_queue *queue);
/* STATUS_OK: none. Else what poll answers from now on. */
enum status stream_queue_fault(const struct ticket_queue *queue);
const char *stream_queue_trouble(const struct ticket_queue *queue);
/* Tells the script again how far the store is: so one sees whether the partition is still open in Redis.
 * REDIS_ANSWER_NOSCRIPT: the script is gone; REDIS_ANSWER_FENCED: another epoch, or no state;
 * REDIS_ANSWER_REFUSED: Redis has fewer records than the store. _told: the last answer, also of a commit. */
enum redis_answer stream_queue_tell(struct ticket_queue *queue);
enum redis_answer stream_queue_told(const struct ticket_queue *queue);

/* With a broker. What it has of this epoch after what the store has is given first, then what the stream has
 * more; STATUS_AWAY, STATUS_BUSY: later. _reads_back: there may be more of it. */
MUST_CHECK enum status stream_queue_back(struct ticket_queue *queue, uint32_t epoch);
bool stream_queue_reads_back(const struct ticket_queue *queue);
/* Sends what the stream has more, while nothing can be written to the store. */
void stream_queue_relay(struct ticket_queue *queue);
/* Records of the stream that the broker has not acknowledged. *since_ms: since when the oldest waits; 0: none
 * does. */
uint64_t stream_queue_backlog(const struct ticket_queue *queue, uint64_t *since_ms);

#endif
