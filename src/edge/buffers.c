/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/buffers.h"

#include <string.h>

enum { BLOCK_ALIGNMENT = 64 };

static uint32_t rounded(uint32_t bytes)
{
    return (bytes + BLOCK_ALIGNMENT - 1) & ~(uint32_t)(BLOCK_ALIGNMENT - 1);
}

size_t buffers_arena_bytes(const uint32_t bytes[BUFFER_CLASSES], const uint32_t count[BUFFER_CLASSES])
{
    size_t total = 0;
    for (int i = 0; i < BUFFER_CLASSES; i++)
        total += (size_t)rounded(bytes[i]) * count[i];
    return total;
}

void buffers_create(struct buffers *buffers, struct arena *arena,
    const uint32_t bytes[BUFFER_CLASSES], const uint32_t count[BUFFER_CLASSES])
{
    for (int i = 0; i < BUFFER_CLASSES; i++) {
        invariant(bytes[i] >= sizeof(void *) && count[i] > 0);
        invariant(i == 0 || bytes[i] > bytes[i - 1]);
        buffers->classes[i] = (struct buffer_class){
            .blocks = arena_take(arena, count[i], rounded(bytes[i])),
            .bytes = rounded(bytes[i]),
            .count = count[i],
        };
    }
}

static void *block_take(struct buffer_class *class)
{
    if (class->free == NULL && class->fresh == class->count)
        return NULL;
    class->used++;
    if (class->free != NULL) {
        void *block = class->free;
        memcpy(&class->free, block, sizeof(class->free));
        return block;
    }
    return class->blocks + (size_t) class->bytes * class->fresh++;
}

static bool take(struct buffers *buffers, struct buffer *buffer, size_t bytes, bool leave_some)
{
    for (uint32_t i = 0; i < BUFFER_CLASSES; i++) {
        struct buffer_class *class = &buffers->classes[i];
        const uint32_t kept = leave_some && i > 0 ? class->count / BUFFER_KEPT_SHARE : 0;
        if (class->bytes < bytes || class->used + kept >= class->count)
            continue;
        char *block = block_take(class);
        if (block != NULL) {
            *buffer = (struct buffer){ .data = block, .class = i };
            return true;
        }
    }
    return false;
}

bool buffer_take(struct buffers *buffers, struct buffer *buffer, size_t bytes)
{
    return take(buffers, buffer, bytes, false);
}

bool buffer_grow(struct buffers *buffers, struct buffer *buffer, size_t bytes, enum buffer_use use)
{
    struct buffer larger;
    if (buffer->data != NULL && bytes <= buffer_capacity(buffers, buffer))
        return true;
    if (!take(buffers, &larger, bytes, use == BUFFER_REQUEST))
        return false;
    if (buffer->data != NULL)
        memcpy(larger.data, buffer->data, buffer->size);
    larger.size = buffer->data == NULL ? 0 : buffer->size;
    buffer_give(buffers, buffer);
    *buffer = larger;
    return true;
}

void buffer_give(struct buffers *buffers, struct buffer *buffer)
{
    if (buffer->data == NULL)
        return;
    struct buffer_class *class = &buffers->classes[buffer->class];
    size_t offset = (size_t)(buffer->data - class->blocks);
    invariant(offset % class->bytes == 0 && offset / class->bytes < class->fresh);
    memcpy(buffer->data, &class->free, sizeof(class->free));
    class->free = buffer->data;
    class->used--;
    *buffer = (struct buffer){ .data = NULL };
}

size_t buffer_capacity(const struct buffers *buffers, const struct buffer *buffer)
{
    return buffer->data == NULL ? 0 : buffers->classes[buffer->class].bytes;
}
