/* SPDX-License-Identifier: Apache-2.0 */
/* api/catalog_blocks.h: how the parts of a catalog are made: each is one piece of memory, with the text that
 * its spans point into. For catalog_build.c, catalog_item.c and catalog_product.c. Thread: the worker. */
#ifndef STAMPEDE_API_CATALOG_BLOCKS_H
#define STAMPEDE_API_CATALOG_BLOCKS_H

#include "api/catalog.h"

#include <stdlib.h>
#include <string.h>

static inline void *block_take(size_t bytes)
{
    void *block = malloc(bytes);
    invariant(block != NULL);
    return block;
}

/* Copies what the span points to; what follows it is answered. */
static inline char *span_keep(struct span *span, char *at)
{
    if (span->size > 0)
        memcpy(at, span->data, span->size);
    span->data = at;
    return at + span->size;
}

static inline struct span text_since(const struct text *text, size_t from)
{
    return span_of(text->data + from, text->size - from);
}

/* catalog_item.c. The caller frees it. */
struct catalog_item *catalog_item_make(const struct item *row);
/* catalog_product.c. The caller frees it. */
struct catalog_product *catalog_product_make(const struct product *row);

#endif
