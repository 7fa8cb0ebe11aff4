/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/sim_arena.c: base/arena.h again, for a program that starts thousands of
 * processes a second. A closed arena is cleaned and kept for the next one of its size: no system
 * calls, no page faults. The simulator is linked with this file before libstampede.a, so that
 * arena.c stays out of it.
 *
 * Cleaning relies on one thing: a generous buffer (GENEROUS_BYTES or more: for reading segments, for
 * listing them, for the keys of admin commands) is written from its front on, without QUIET_BYTES of
 * zeros in between. Sanitizer builds check it. */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ARENA_ALIGN = 64,
    ARENAS_MAX = 256,
    TAKES_MAX = 4096, /* the jobs of a gateway are the most */
    GENEROUS_BYTES = 96 * 1024,
    QUIET_BYTES = 32 * 1024,
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

static void clean(char *base, size_t bytes)
{
    static const char quiet[QUIET_BYTES];
    if (bytes < GENEROUS_BYTES) {
        memset(base, 0, bytes);
        return;
    }
    for (size_t at = 0; at + QUIET_BYTES <= bytes; at += QUIET_BYTES) {
        if (memcmp(base + at, quiet, QUIET_BYTES) != 0)
            memset(base + at, 0, QUIET_BYTES);
    }
    memset(base + bytes - bytes % QUIET_BYTES, 0, bytes % QUIET_BYTES);
}

void arena_close(struct arena *arena)
{
    struct kept *found = arena->base == NULL ? NULL : kept_find(arena->base);
    for (uint32_t i = 0; found != NULL && i < found->take_count; i++) {
        const size_t bytes = takes[found - kept][i].bytes;
        clean(found->base + takes[found - kept][i].at, bytes);
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
