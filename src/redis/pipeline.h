/* SPDX-License-Identifier: Apache-2.0 */
/* redis/pipeline.h: the requests of one connection that have no answer yet, in order: their bytes and
 * their deadlines. Bytes are kept until the answer is there, so that a request can be passed on to
 * another server. Thread: one. Memory: from an arena, at create. */
#ifndef STAMPEDE_REDIS_PIPELINE_H
#define STAMPEDE_REDIS_PIPELINE_H

#include "base/arena.h"
#include "redis/request.h"

struct redis_waiting {
    uint64_t tag, due_ms;
    uint64_t place; /* of its first byte, counted from the beginning of the connection */
    uint32_t bytes;
    uint8_t kind, mark, hops; /* the connection's own */
};

struct redis_pipeline {
    struct redis_waiting *queue; /* a ring */
    uint32_t slots, oldest, count;
    uint64_t due_floor; /* no deadline is before it */
    char *out;
    uint32_t capacity;
    uint64_t first, end,
        sent; /* places: of the first byte in `out`, after the last one, after the last sent one */
};

size_t redis_pipeline_arena_bytes(uint32_t slots, uint32_t capacity);
void redis_pipeline_create(
    struct redis_pipeline *pipeline, struct arena *arena, uint32_t slots, uint32_t capacity);
void redis_pipeline_reset(struct redis_pipeline *pipeline); /* for a new connection */

/* Whether so many requests with so many bytes in all can be put now. What is up to half of the capacity
 * can be put as soon as nothing else waits. */
bool redis_pipeline_fits(struct redis_pipeline *pipeline, uint32_t requests, size_t bytes);
/* `waiting` but for `place` and `bytes`. It must fit. */
void redis_pipeline_put(
    struct redis_pipeline *pipeline, const struct redis_waiting *waiting, struct redis_words words);
void redis_pipeline_put_bytes(
    struct redis_pipeline *pipeline, const struct redis_waiting *waiting, struct span bytes);
void redis_pipeline_say(struct redis_pipeline *pipeline, struct redis_words words); /* no answer will come */

struct redis_waiting redis_pipeline_take(struct redis_pipeline *pipeline); /* the oldest; there is one */
/* Of one that was taken, until something is put. */
struct span redis_pipeline_bytes(
    const struct redis_pipeline *pipeline, const struct redis_waiting *waiting);
bool redis_pipeline_is_late(struct redis_pipeline *pipeline, uint64_t now_ms); /* one of them */

struct span redis_pipeline_unsent(const struct redis_pipeline *pipeline);
void redis_pipeline_sent(struct redis_pipeline *pipeline, size_t bytes);

#endif
