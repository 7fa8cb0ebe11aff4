/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. Bytes lie one behind the other, from the oldest request without an answer to the newest. When
 * the end of the buffer is reached, what is left is moved to its front, but only if half of it has
 * become free: so a byte is moved once at most, on average.
 * Deadlines: `due_floor` is not above any of them. Only when it has passed are they looked at one by
 * one, which makes it exact again. */
#include "redis/pipeline.h"

size_t redis_pipeline_arena_bytes(uint32_t slots, uint32_t capacity)
{
    return slots * sizeof(struct redis_waiting) + capacity;
}

void redis_pipeline_create(
    struct redis_pipeline *pipeline, struct arena *arena, uint32_t slots, uint32_t capacity)
{
    *pipeline = (struct redis_pipeline){ .slots = slots, .capacity = capacity };
    pipeline->queue = arena_take(arena, slots, sizeof *pipeline->queue);
    pipeline->out = arena_take(arena, 1, capacity);
    redis_pipeline_reset(pipeline);
}

void redis_pipeline_reset(struct redis_pipeline *pipeline)
{
    pipeline->oldest = pipeline->count = 0;
    pipeline->first = pipeline->end = pipeline->sent = 0;
    pipeline->due_floor = UINT64_MAX;
}

static struct redis_waiting *waiting_at(struct redis_pipeline *pipeline, uint32_t index)
{
    return &pipeline->queue[(pipeline->oldest + index) % pipeline->slots];
}

/* ---- putting ---- */

bool redis_pipeline_fits(struct redis_pipeline *pipeline, uint32_t requests, size_t bytes)
{
    const uint64_t capacity = pipeline->capacity;
    uint64_t kept = pipeline->count > 0 ? waiting_at(pipeline, 0)->place : pipeline->end;
    if (kept > pipeline->sent)
        kept = pipeline->sent;
    if (kept == pipeline->end) {
        pipeline->first = kept;
    } else if (pipeline->end - pipeline->first + bytes > capacity
        && kept - pipeline->first >= capacity / 2) {
        memmove(pipeline->out, pipeline->out + (kept - pipeline->first), pipeline->end - kept);
        pipeline->first = kept;
    }
    return pipeline->count + requests <= pipeline->slots
        && pipeline->end - pipeline->first + bytes <= capacity;
}

static struct text room(struct redis_pipeline *pipeline)
{
    const size_t used = pipeline->end - pipeline->first;
    return text_in(pipeline->out + used, pipeline->capacity - used);
}

static void waiting_add(struct redis_pipeline *pipeline, const struct redis_waiting *waiting,
    const struct text *written)
{
    invariant(!written->overflow && pipeline->count < pipeline->slots);
    struct redis_waiting *added = waiting_at(pipeline, pipeline->count++);
    *added = *waiting;
    added->place = pipeline->end;
    added->bytes = (uint32_t)written->size;
    pipeline->end += written->size;
    if (waiting->due_ms < pipeline->due_floor)
        pipeline->due_floor = waiting->due_ms;
}

void redis_pipeline_put(
    struct redis_pipeline *pipeline, const struct redis_waiting *waiting, struct redis_words words)
{
    struct text out = room(pipeline);
    redis_request_write(&out, words);
    waiting_add(pipeline, waiting, &out);
}

void redis_pipeline_put_bytes(
    struct redis_pipeline *pipeline, const struct redis_waiting *waiting, struct span bytes)
{
    struct text out = room(pipeline);
    text_add(&out, bytes);
    waiting_add(pipeline, waiting, &out);
}

void redis_pipeline_say(struct redis_pipeline *pipeline, struct redis_words words)
{
    struct text out = room(pipeline);
    redis_request_write(&out, words);
    invariant(!out.overflow);
    pipeline->end += out.size;
}

/* ---- taking ---- */

struct redis_waiting redis_pipeline_take(struct redis_pipeline *pipeline)
{
    invariant(pipeline->count > 0);
    const struct redis_waiting oldest = *waiting_at(pipeline, 0);
    pipeline->oldest = (pipeline->oldest + 1) % pipeline->slots;
    pipeline->count--;
    return oldest;
}

struct span redis_pipeline_bytes(const struct redis_pipeline *pipeline, const struct redis_waiting *waiting)
{
    return span_of(pipeline->out + (waiting->place - pipeline->first), waiting->bytes);
}

bool redis_pipeline_is_late(struct redis_pipeline *pipeline, uint64_t now_ms)
{
    if (now_ms < pipeline->due_floor)
        return false;
    pipeline->due_floor = UINT64_MAX;
    for (uint32_t i = 0; i < pipeline->count; i++) {
        const uint64_t due_ms = waiting_at(pipeline, i)->due_ms;
        if (due_ms < pipeline->due_floor)
            pipeline->due_floor = due_ms;
    }
    return now_ms >= pipeline->due_floor;
}

/* ---- sending ---- */

struct span redis_pipeline_unsent(const struct redis_pipeline *pipeline)
{
    return span_of(pipeline->out + (pipeline->sent - pipeline->first), pipeline->end - pipeline->sent);
}

void redis_pipeline_sent(struct redis_pipeline *pipeline, size_t bytes)
{
    pipeline->sent += bytes;
    invariant(pipeline->sent <= pipeline->end);
}
