/* SPDX-License-Identifier: Apache-2.0 */
/* base/arena.h: memory that is sized at start and never freed piece by piece.
 * Backed by anonymous pages that cost nothing until touched, so generous bounds are free.
 * Thread: one at a time (start-up). Errors: running past the end is a bug (invariant). */
#ifndef STAMPEDE_BASE_ARENA_H
#define STAMPEDE_BASE_ARENA_H

#include "base/status.h"

#include <stddef.h>

struct arena {
    char *base;
    size_t size;
    size_t used;
};

MUST_CHECK enum status arena_open(struct arena *arena, size_t bytes);
/* For big tables that are read here and there: asks for large pages, so that a look-up costs no walk
 * through page tables. A wish; memory is then touched in larger pieces. */
void arena_prefer_large_pages(struct arena *arena);
/* For a table that many threads or purchases touch here and there: gives it its memory now, in large pages
 * where there are some, so that nobody waits for a page at the first touch. Any thread, beside those that use
 * the table, and gives way to them (base/thread.h). An old kernel can't: then the first touch does, as it
 * does beyond the first gigabyte of a table. */
void arena_touch(void *taken, size_t bytes);
void arena_close(struct arena *arena); /* accepts a zeroed or closed arena */
/* Zeroed memory aligned to 64 bytes. */
void *arena_take(struct arena *arena, size_t count, size_t bytes_each);

/* A zeroed object that lives at the front of an arena of its own, which is its first member and has room
 * for `more` bytes in a few pieces. NULL: there is no memory. */
void *arena_object(size_t bytes, size_t more);
void arena_object_free(void *object); /* accepts NULL */

#endif
