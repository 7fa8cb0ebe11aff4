/* SPDX-License-Identifier: Apache-2.0 */
/* api/id_table.h: what belongs to an id, for ids that are given one after the other. Readers hold
 * a version of it that never changes. The next version shares every part with the one before that
 * did not change, so a change copies one chunk and the list of chunks, not the table.
 *
 * Memory: of malloc. What the next version does not use any more is put on a list (struct
 * blocks), and is freed by whoever knows that nobody reads the old version any more.
 * Thread: one writer; any reads a version that it got from the writer. */
#ifndef STAMPEDE_API_ID_TABLE_H
#define STAMPEDE_API_ID_TABLE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { ID_CHUNK = 256 };

struct id_chunk {
    uint64_t version; /* that it was made for: only that one may still write it */
    void *slots[ID_CHUNK];
};
struct id_table {
    uint64_t version; /* that `chunks` was made for */
    uint32_t chunk_count;
    struct id_chunk **chunks; /* NULL: holds nothing */
};

/* Pieces of memory, to be freed together. */
struct blocks {
    void **memory;
    uint32_t count, capacity;
};
void blocks_add(struct blocks *blocks, void *memory); /* NULL: nothing happens */
void blocks_free(struct blocks *blocks);

/* NULL: nothing belongs to it. */
static inline void *id_table_find(const struct id_table *table, uint32_t id)
{
    const uint32_t at = id / ID_CHUNK;
    return at < table->chunk_count && table->chunks[at] != NULL
        ? table->chunks[at]->slots[id % ID_CHUNK]
        : NULL;
}
/* Of an id that has something. */
static inline void *id_table_at(const struct id_table *table, uint32_t id)
{
    void *found = id_table_find(table, id);
    invariant(found != NULL);
    return found;
}
/* Of the lowest id above `after` that has something; NULL: there is none. */
void *id_table_next(const struct id_table *table, uint32_t after);

/* `version`: of which the table is a part, and which nobody reads yet; its earlier versions have
 * lower numbers. NULL takes away. Answers what was there; it is the caller's. */
void *id_table_put(struct id_table *table, uint64_t version, uint32_t id, void *what, struct blocks *old);
/* The table and what is in it. */
void id_table_free(struct id_table *table);

#endif
