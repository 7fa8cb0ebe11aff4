/* SPDX-License-Identifier: Apache-2.0 */
#include "funnel/human/picture_pool.h"

#include "base/log.h"
#include "base/ring.h"

#include <assert.h>
#include <string.h>

struct shelf {
    struct ring codes, sliders;
    bool code_held, slider_held; /* the edge's: the front of the ring is being shown */
};
struct picture_pool {
    uint32_t edges;
    struct shelf *shelves;
};

size_t picture_pool_bytes(uint32_t edges, uint32_t slots)
{
    const size_t slot = sizeof(struct code_picture) + sizeof(struct slider_picture);
    return sizeof(struct picture_pool) + edges * (sizeof(struct shelf) + slots * slot + 1024) + 1024;
}

struct picture_pool *picture_pool_create(struct arena *arena, uint32_t edges, uint32_t slots)
{
    invariant(edges > 0 && edges <= PICTURE_POOL_EDGES_MAX && slots <= PICTURE_POOL_SLOTS_MAX);
    struct picture_pool *pool = arena_take(arena, 1, sizeof *pool);
    pool->edges = edges;
    pool->shelves = arena_take(arena, edges, sizeof *pool->shelves);
    for (uint32_t i = 0; i < edges; i++) {
        ring_create(&pool->shelves[i].codes, arena, slots, sizeof(struct code_picture));
        ring_create(&pool->shelves[i].sliders, arena, slots, sizeof(struct slider_picture));
    }
    return pool;
}

/* From the system, not from the generator that draws: its noise can be seen. */
static uint32_t secret_below(uint32_t bound)
{
    uint64_t value;
    random_secret(&value, sizeof value);
    return (uint32_t)(value % bound); /* 64 bits: the bias is beyond measuring */
}

static bool code_fill(struct shelf *shelf)
{
    struct code_picture *slot = ring_reserve(&shelf->codes);
    struct random random;
    if (slot == NULL)
        return false;
    for (unsigned i = 0; i < PUZZLE_CODE_CHARS; i++)
        slot->code[i] = picture_letters[secret_below((uint32_t)strlen(picture_letters))];
    slot->code[PUZZLE_CODE_CHARS] = 0;
    random_start(&random);
    if (picture_code(&random, slot->code, &slot->picture) != STATUS_OK) {
        log_warn("human", "a picture can't be drawn");
        return false;
    }
    ring_commit(&shelf->codes);
    (void)ring_publish(&shelf->codes);
    return true;
}

/* Two different ones below the bound. */
static void pair_make(uint8_t pair[PICTURE_PIECES], uint32_t bound)
{
    static_assert((int)PICTURE_PIECES == (int)PUZZLE_PIECES && PICTURE_PIECES == 2, "a pair");
    pair[0] = (uint8_t)secret_below(bound);
    pair[1] = (uint8_t)((pair[0] + 1 + secret_below(bound - 1)) % bound);
}

static struct picture_slider_plan plan_make(void)
{
    struct picture_slider_plan plan = { .way = { (uint8_t)secret_below(2), (uint8_t)secret_below(2) } };
    pair_make(plan.figure, PICTURE_FIGURES);
    pair_make(plan.place, PICTURE_SLIDER_PLACES);
    return plan;
}

static bool slider_fill(struct shelf *shelf)
{
    struct slider_picture *slot = ring_reserve(&shelf->sliders);
    struct random random;
    if (slot == NULL)
        return false;
    const struct picture_slider_plan plan = plan_make();
    random_start(&random);
    if (picture_slider(&random, &plan, slot->x, &slot->whole, slot->pieces) != STATUS_OK) {
        log_warn("human", "a picture can't be drawn");
        return false;
    }
    ring_commit(&shelf->sliders);
    (void)ring_publish(&shelf->sliders);
    return true;
}

/* Around all edges, one picture of each kind at a time: none starves behind another. */
uint32_t picture_pool_fill(struct picture_pool *pool, uint32_t most)
{
    uint32_t drawn = 0, drawn_before;
    do {
        drawn_before = drawn;
        for (uint32_t i = 0; i < pool->edges && drawn < most; i++) {
            drawn += code_fill(&pool->shelves[i]);
            drawn += slider_fill(&pool->shelves[i]);
        }
    } while (drawn < most && drawn > drawn_before);
    return drawn;
}

static const void *ring_next(struct ring *ring, bool *held)
{
    if (*held) {
        ring_pop(ring);
        ring_release(ring);
    }
    const void *slot = ring_peek(ring);
    *held = slot != NULL;
    return slot;
}

const struct code_picture *picture_pool_code(struct picture_pool *pool, uint32_t edge)
{
    invariant(edge < pool->edges);
    return ring_next(&pool->shelves[edge].codes, &pool->shelves[edge].code_held);
}

const struct slider_picture *picture_pool_slider(struct picture_pool *pool, uint32_t edge)
{
    invariant(edge < pool->edges);
    return ring_next(&pool->shelves[edge].sliders, &pool->shelves[edge].slider_held);
}
