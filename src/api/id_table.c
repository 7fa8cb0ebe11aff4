/* SPDX-License-Identifier: Apache-2.0 */
#include "api/id_table.h"

#include <stdlib.h>
#include <string.h>

void blocks_add(struct blocks *blocks, void *memory)
{
    if (memory == NULL)
        return;
    if (blocks->count == blocks->capacity) {
        blocks->capacity = blocks->capacity == 0 ? 8 : blocks->capacity * 2;
        blocks->memory = reallocarray(blocks->memory, blocks->capacity, sizeof *blocks->memory);
        invariant(blocks->memory != NULL);
    }
    blocks->memory[blocks->count++] = memory;
}

void blocks_free(struct blocks *blocks)
{
    for (uint32_t i = 0; i < blocks->count; i++)
        free(blocks->memory[i]);
    free(blocks->memory);
    *blocks = (struct blocks){ 0 };
}

void *id_table_next(const struct id_table *table, uint32_t after)
{
    uint32_t slot = (after + 1) % ID_CHUNK;
    for (uint32_t at = (after + 1) / ID_CHUNK; at < table->chunk_count; at++, slot = 0)
        for (; table->chunks[at] != NULL && slot < ID_CHUNK; slot++)
            if (table->chunks[at]->slots[slot] != NULL)
                return table->chunks[at]->slots[slot];
    return NULL;
}

/* A list of chunks that this version may write, with a place for chunk `at`. */
static void list_own(struct id_table *table, uint64_t version, uint32_t at, struct blocks *old)
{
    if (table->version == version && at < table->chunk_count)
        return;
    const uint32_t count = at < table->chunk_count ? table->chunk_count : at + 1;
    struct id_chunk **chunks = calloc(count, sizeof(struct id_chunk *));
    invariant(chunks != NULL);
    if (table->chunk_count > 0)
        memcpy(chunks, table->chunks, table->chunk_count * sizeof(struct id_chunk *));
    blocks_add(old, table->chunks);
    *table = (struct id_table){ .version = version, .chunk_count = count, .chunks = chunks };
}

static struct id_chunk *chunk_own(
    struct id_table *table, uint64_t version, uint32_t at, struct blocks *old)
{
    struct id_chunk *chunk = table->chunks[at];
    if (chunk != NULL && chunk->version == version)
        return chunk;
    struct id_chunk *own = calloc(1, sizeof *own);
    invariant(own != NULL);
    if (chunk != NULL)
        *own = *chunk;
    own->version = version;
    blocks_add(old, chunk);
    table->chunks[at] = own;
    return own;
}

void *id_table_put(struct id_table *table, uint64_t version, uint32_t id, void *what, struct blocks *old)
{
    if (what == NULL && id_table_find(table, id) == NULL)
        return NULL;
    list_own(table, version, id / ID_CHUNK, old);
    void **slot = &chunk_own(table, version, id / ID_CHUNK, old)->slots[id % ID_CHUNK];
    void *was = *slot;
    *slot = what;
    return was;
}

void id_table_free(struct id_table *table)
{
    for (uint32_t at = 0; at < table->chunk_count; at++) {
        for (uint32_t slot = 0; table->chunks[at] != NULL && slot < ID_CHUNK; slot++)
            free(table->chunks[at]->slots[slot]);
        free(table->chunks[at]);
    }
    free(table->chunks);
    *table = (struct id_table){ 0 };
}
