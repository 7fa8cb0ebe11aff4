/* SPDX-License-Identifier: Apache-2.0 */
/* redis/caller.h: a client for a thread that has nothing else to do while it waits: a worker's, not an
 * edge's. Requests go out in order; a call waits for its own answer and for those of all before it.
 * Thread: one. Memory: as redis/client.h. */
#ifndef STAMPEDE_REDIS_CALLER_H
#define STAMPEDE_REDIS_CALLER_H

#include "redis/client.h"

struct redis_caller;
/* A reply, while it can be looked at. */
typedef void redis_take(void *context, const struct redis_value *value);

/* Errors: as redis_client_open; *caller is closed as after success. */
MUST_CHECK enum status redis_caller_open(
    struct redis_caller **caller, const struct redis_client_config *config);
void redis_caller_close(struct redis_caller *caller); /* accepts NULL */
struct redis_client *redis_caller_client(const struct redis_caller *caller);

/* Reads and sends what is there, without waiting: for a caller that has no call to make. */
void redis_caller_turn(struct redis_caller *caller);
/* Waits until each slot has a master that is connected, at most so long. */
MUST_CHECK bool redis_caller_is_ready(struct redis_caller *caller, uint32_t ms);
/* One request to the master of `key`. `take` gets the reply, also an error; NULL: nobody looks at it.
 * `ms`: for the answer, and before that for a server that is not connected or has too much to do. */
MUST_CHECK enum redis_answer redis_call(struct redis_caller *caller, struct span key,
    struct redis_words words, uint32_t ms, redis_take *take, void *context);
/* The same without waiting for the answer, unless too many are on their way. */
void redis_call_later(
    struct redis_caller *caller, struct span key, struct redis_words words, uint32_t ms);
/* The same without waiting for anything; it is sent by the next turn. Errors: as redis_client_send. */
MUST_CHECK enum status redis_call_soon(
    struct redis_caller *caller, struct span key, struct redis_words words, uint32_t ms);
/* Waits for the answers of all of these since the last time. Answers the first that was not
 * REDIS_ANSWER_OK. */
MUST_CHECK enum redis_answer redis_call_wait(struct redis_caller *caller);

#endif
