/* SPDX-License-Identifier: Apache-2.0 */
/* funnel/human/picture_pool.h: pictures drawn ahead, so that no request waits for one. Each edge has a
 * ring of each kind; one thread keeps them full. A picture is shown once. An empty ring is an answer (NULL):
 * the edge then offers the computer's work instead.
 * Thread: picture_pool_fill: one; taking: the edge of that index. Memory: from the arena at create. */
#ifndef STAMPEDE_FUNNEL_HUMAN_PICTURE_POOL_H
#define STAMPEDE_FUNNEL_HUMAN_PICTURE_POOL_H

#include "base/arena.h"
#include "funnel/human/picture.h"
#include "funnel/human/puzzle.h"

struct code_picture {
    char code[PUZZLE_CODE_CHARS + 1];
    struct picture picture;
};
struct slider_picture {
    uint32_t x[PUZZLE_PIECES]; /* the answer */
    struct picture whole, pieces[PUZZLE_PIECES];
};

struct picture_pool; /* opaque: fields are in picture_pool.c */
enum { PICTURE_POOL_EDGES_MAX = 64, PICTURE_POOL_SLOTS_MAX = 1024 };

/* slots: pictures of each kind and edge, a power of two. */
size_t picture_pool_bytes(uint32_t edges, uint32_t slots);
struct picture_pool *picture_pool_create(struct arena *arena, uint32_t edges, uint32_t slots);

/* Draws up to `most` pictures where some are missing; answers how many it drew. */
uint32_t picture_pool_fill(struct picture_pool *pool, uint32_t most);
/* The next picture, valid until the next call for this edge and kind. NULL: none is ready. */
const struct code_picture *picture_pool_code(struct picture_pool *pool, uint32_t edge);
const struct slider_picture *picture_pool_slider(struct picture_pool *pool, uint32_t edge);

#endif
