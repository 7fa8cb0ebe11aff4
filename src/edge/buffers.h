/* SPDX-License-Identifier: Apache-2.0 */
/* edge/buffers.h: blocks of a few sizes for what a connection can't finish at once: half a
 * request, an answer that the client does not read, the queue of a pipelining client. Blocks
 * that were never used cost no memory. Thread: one. Memory: from the arena at create. Errors: a
 * take that finds no block answers false. */
#ifndef STAMPEDE_EDGE_BUFFERS_H
#define STAMPEDE_EDGE_BUFFERS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { BUFFER_CLASSES = 4, BUFFER_KEPT_SHARE = 8 };
/* Unfinished requests leave one of BUFFER_KEPT_SHARE blocks of each class but the smallest to others;
 * favoured ones do not. */
enum buffer_use { BUFFER_REQUEST, BUFFER_FAVOURED };

struct buffer {
    char *data; /* NULL: none */
    uint32_t size;
    uint32_t class;
};

struct buffer_class {
    char *blocks;
    void *free; /* given back; each begins with the address of the next */
    uint32_t bytes, count;
    uint32_t fresh; /* blocks from here on were never used */
    uint32_t used;  /* blocks that are not given back */
};
struct buffers {
    struct buffer_class classes[BUFFER_CLASSES]; /* from small to large */
};

/* bytes[i] are rounded up to 64; both arrays go from small to large. */
void buffers_create(struct buffers *buffers, struct arena *arena,
    const uint32_t bytes[BUFFER_CLASSES], const uint32_t count[BUFFER_CLASSES]);
size_t buffers_arena_bytes(const uint32_t bytes[BUFFER_CLASSES], const uint32_t count[BUFFER_CLASSES]);

/* An empty buffer for at least that many bytes, of the smallest class that has one. */
MUST_CHECK bool buffer_take(struct buffers *buffers, struct buffer *buffer, size_t bytes);
/* Takes a block, or moves to a larger one, if need be; on failure nothing changes. */
MUST_CHECK bool buffer_grow(
    struct buffers *buffers, struct buffer *buffer, size_t bytes, enum buffer_use use);
void buffer_give(struct buffers *buffers, struct buffer *buffer); /* accepts an empty one */
size_t buffer_capacity(const struct buffers *buffers, const struct buffer *buffer);

#endif
