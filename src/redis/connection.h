/* SPDX-License-Identifier: Apache-2.0 */
/* redis/connection.h: one connection to one Redis server, which never waits. It connects, says who it is,
 * asks what the server is, sends requests one after the other without waiting for answers, and gives the
 * answers in order. After a fault it connects again by itself, with growing pauses.
 *
 * - An accepted request is answered exactly once. One whose time is over is REDIS_ANSWER_UNKNOWN, and so
 *   are all that were sent on the same connection: answers have no names, so it is given up. What was
 *   not sent yet is REDIS_ANSWER_AWAY.
 * - Each `ask_ms` the server is asked again for its role and replid (struct redis_info).
 * - With `noted` the connection is for messages: nothing can be requested, redis_connection_say sends,
 *   and everything that the server says after its greeting goes to `noted`.
 *
 * The loop: the socket is in the epoll set that was given at open, edge-triggered, with the connection as
 * data.ptr. Its events go to redis_connection_ready; redis_connection_turn does the work, once per turn
 * of the loop and no later than redis_connection_next_due; redis_connection_flush at the end of a turn sends.
 *
 * Thread: one. Memory: taken at open (and see redis/reply.h); none per request. Callbacks run inside of
 * redis_connection_turn and redis_connection_flush; they may send, but not close. Time: any clock in
 * ms that does not go back. */
#ifndef STAMPEDE_REDIS_CONNECTION_H
#define STAMPEDE_REDIS_CONNECTION_H

#include "redis/info.h"
#include "redis/login.h"
#include "redis/request.h"
#include "redis/slots.h"

enum { REDIS_IN_FLIGHT_DEFAULT = 4096, REDIS_ANSWER_MS_DEFAULT = 1000 };

struct redis_limits {       /* 0: the default (connection.c) */
    uint32_t in_flight_max; /* requests without an answer */
    uint32_t request_bytes; /* of all of them together; one has at most half */
    uint32_t reply_bytes;   /* of one reply */
    uint32_t reply_values;  /* the same */
    uint32_t connect_ms;    /* until the server has greeted */
    uint32_t ask_ms;        /* between two questions for its role */
    uint32_t answer_ms;     /* for the answer to such a question */
    uint32_t again_ms_first; /* the pause after the first fault; it doubles, and a part of it is chance */
    uint32_t again_ms_most;
};

struct redis_request {
    uint64_t tag;      /* the asker's own */
    uint64_t due_ms;   /* no answer by then: not known */
    uint8_t mark;      /* the asker's own */
    uint8_t hops;      /* how often it was passed on to another server */
    struct span bytes; /* as it was sent; while its answer is told, until something is sent there */
};

struct redis_connection_owner {
    void *self;
    /* `value` is NULL where no reply came. */
    void (*answered)(void *self, const struct redis_request *request, enum redis_answer answer,
        const struct redis_value *value);
    void (*informed)(void *self, const struct redis_info *info); /* greeted, or asked again */
    void (*left)(void *self); /* it was greeted, and is not connected any more */
    void (*noted)(void *self, const struct redis_value *value);
};

struct redis_connection;
MUST_CHECK enum status redis_connection_open(struct redis_connection **connection,
    const struct redis_node *node, const struct redis_login *login,
    const struct redis_limits *limits, const struct redis_connection_owner *owner, int epoll_fd);
void redis_connection_close(struct redis_connection *connection); /* accepts NULL; tells nobody */

void redis_connection_ready(struct redis_connection *connection, uint32_t events);
void redis_connection_turn(struct redis_connection *connection, uint64_t now_ms);
void redis_connection_flush(struct redis_connection *connection);
/* When it wants its next turn, if nothing happens before. */
uint64_t redis_connection_next_due(const struct redis_connection *connection);

/* STATUS_AWAY: not connected; STATUS_FULL: too much is in flight; STATUS_BAD_INPUT: too long for ever.
 * Then nothing will be told. */
MUST_CHECK enum status redis_connection_send(struct redis_connection *connection,
    const struct redis_request *request, struct redis_words words);
/* A request that another server did not take, here again, with one more hop; with `asking` although the
 * slot has not arrived yet. */
MUST_CHECK enum status redis_connection_pass(
    struct redis_connection *connection, const struct redis_request *request, bool asking);
/* Only with `noted`: no answer is expected. */
MUST_CHECK enum status redis_connection_say(struct redis_connection *connection, struct redis_words words);

/* NULL: not greeted (yet, or any more). */
const struct redis_info *redis_connection_info(const struct redis_connection *connection);
uint32_t redis_connection_in_flight(const struct redis_connection *connection);
const struct redis_node *redis_connection_node(const struct redis_connection *connection);
/* Why it was given up last; empty: never, or greeted since. */
const char *redis_connection_error(const struct redis_connection *connection);

#endif
