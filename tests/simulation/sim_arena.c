/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/sim_arena.c: base/arena.h again, for a program that starts thousands of
 * processes a second. A closed arena is cleaned and kept for the next one of its size: no system
 * calls, no page faults. The simulator is linked with this file before libstampede.a, so that
 * arena.c stays out of it.
 *
 * With sim_arena_fronts_only a large buffer is cleaned at its front, because no file of the simulator is
 * longer than SEGMENT_TOUCHED, and lists and keys of commands are few. Sanitizer builds check it. */
#include "tests/simulation/sim_arena.h"

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ARENA_ALIGN = 64,
    ARENAS_MAX = 256,
    TAKES_MAX = 4096,       /* the jobs of a gateway are the most */
    LIST_BYTES = 96 * 1024, /* or more: a list of segments, the keys of admin commands */
    LIST_TOUCHED = 4 * 1024,
    SEGMENT_BYTES = 1024 * 1024, /* or more: what segments are read into */
    SEGMENT_TOUCHED = 64 * 1024,
};

static struct kept {
    char *base;
    size_t size;
    bool in_use;
    uint32_t take_count;
} kept[ARENAS_MAX];
/* Apart, so that a look through the arenas stays in a few lines of the cache. */
static struct {
    size_t at, bytes;
} takes[ARENAS_MAX][TAKES_MAX];
static uint32_t kept_count;

static size_t round_up(size_t bytes)
{
    return (bytes + (ARENA_ALIGN - 1)) & ~(size_t)(ARENA_ALIGN - 1);
}

static struct kept *kept_free(size_t size)
{
    for (uint32_t i = 0; i < kept_count; i++)
        if (!kept[i].in_use && kept[i].size == size)
            return &kept[i];
    invariant(kept_count < ARENAS_MAX);
    void *base =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    kept[kept_count] = (struct kept){ .base = base, .size = size };
    return &kept[kept_count++];
}

static struct kept *kept_find(const char *base)
{
    for (uint32_t i = 0; i < kept_count; i++)
        if (kept[i].base == base)
            return &kept[i];
    return NULL;
}

enum status arena_open(struct arena *arena, size_t bytes)
{
    *arena = (struct arena){ 0 };
    const size_t size = bytes == 0 ? ARENA_ALIGN : round_up(bytes);
    struct kept *found = kept_free(size);
    if (found == NULL)
        return STATUS_FULL;
    found->in_use = true;
    found->take_count = 0;
    arena->base = found->base;
    arena->size = size;
    return STATUS_OK;
}

static void check_clean(const char *base, size_t bytes)
{
#ifdef __SANITIZE_ADDRESS__
    for (size_t i = 0; i < bytes; i++)
        invariant(base[i] == 0);
#else
    (void)base;
    (void)bytes;
#endif
}

void arena_prefer_large_pages(struct arena *arena)
{
    (void)arena;
}

void arena_touch(void *taken, size_t bytes)
{
    (void)taken;
    (void)bytes;
}

bool sim_arena_fronts_only;

static size_t touched(size_t bytes)
{
    if (!sim_arena_fronts_only)
        return bytes;
    return bytes >= SEGMENT_BYTES ? SEGMENT_TOUCHED : bytes >= LIST_BYTES ? LIST_TOUCHED : bytes;
}

void arena_close(struct arena *arena)
{
    struct kept *found = arena->base == NULL ? NULL : kept_find(arena->base);
    for (uint32_t i = 0; found != NULL && i < found->take_count; i++) {
        const size_t bytes = takes[found - kept][i].bytes;
        memset(found->base + takes[found - kept][i].at, 0, touched(bytes));
        check_clean(found->base + takes[found - kept][i].at, bytes);
    }
    if (found != NULL)
        found->in_use = false;
    *arena = (struct arena){ 0 };
}

void *arena_take(struct arena *arena, size_t count, size_t bytes_each)
{
    size_t bytes = 0;
    const bool overflow = __builtin_mul_overflow(count, bytes_each, &bytes);
    struct kept *found = kept_find(arena->base);
    invariant(!overflow && found != NULL && found->take_count < TAKES_MAX);
    invariant(bytes <= arena->size - arena->used);
    void *taken = arena->base + arena->used;
    takes[found - kept][found->take_count].at = arena->used;
    takes[found - kept][found->take_count++].bytes = round_up(bytes);
    arena->used += round_up(bytes);
    return taken;
}
