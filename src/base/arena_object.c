/* SPDX-License-Identifier: Apache-2.0 */
/* base/arena_object.c: apart from arena.c, which the simulator replaces (tests/simulation/sim_arena.c). */
#include "base/arena.h"

enum { PIECES_MAX = 64, PIECE_PADDING = 64 };

void *arena_object(size_t bytes, size_t more)
{
    struct arena arena;
    if (arena_open(&arena, bytes + more + (size_t)PIECES_MAX * PIECE_PADDING) != STATUS_OK)
        return NULL;
    struct arena *object = arena_take(&arena, 1, bytes);
    *object = arena;
    return object;
}

void arena_object_free(void *object)
{
    if (object == NULL)
        return;
    struct arena arena = *(struct arena *)object;
    arena_close(&arena);
}
