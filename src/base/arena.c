/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include "base/thread.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

enum {
    ARENA_ALIGN = 64,
    PAGE_BYTES = 4096,
    TOUCH_BYTES_MAX = 1 << 30,
    TOUCH_BYTES = 256 * 1024, /* at a time: some 50 µs, and more where the machine below must find memory */
};

static size_t round_up(size_t bytes)
{
    return (bytes + (ARENA_ALIGN - 1)) & ~(size_t)(ARENA_ALIGN - 1);
}

enum status arena_open(struct arena *arena, size_t bytes)
{
    *arena = (struct arena){ 0 };
    if (bytes > SIZE_MAX - ARENA_ALIGN)
        return STATUS_FULL;
    size_t size = bytes == 0 ? ARENA_ALIGN : round_up(bytes);
    /* NORESERVE: bounds are generous and mostly never touched, so they must not count as
     * committed. */
    void *base =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return STATUS_FULL;
    arena->base = base;
    arena->size = size;
    return STATUS_OK;
}

void arena_prefer_large_pages(struct arena *arena)
{
    (void)madvise(arena->base, arena->size, MADV_HUGEPAGE); /* where it is refused, small pages do */
}

void arena_touch(void *taken, size_t bytes)
{
    const uintptr_t from = (uintptr_t)taken;
    const uintptr_t end = from + (bytes < TOUCH_BYTES_MAX ? bytes : TOUCH_BYTES_MAX);
    uintptr_t at = (from + PAGE_BYTES - 1) & ~(uintptr_t)(PAGE_BYTES - 1);
    (void)madvise((void *)at, end > at ? end - at : 0, MADV_HUGEPAGE); /* a wish */
    while (at + PAGE_BYTES <= end) {
        const uintptr_t next = (at + TOUCH_BYTES) & ~(uintptr_t)(TOUCH_BYTES - 1);
        const uintptr_t to = next < end ? next : end & ~(uintptr_t)(PAGE_BYTES - 1);
        thread_give_way();
        if (madvise((void *)at, to - at, MADV_POPULATE_WRITE) != 0)
            return;
        at = to;
    }
}

void arena_close(struct arena *arena)
{
    if (arena->base != NULL) {
        int rc = munmap(arena->base, arena->size);
        invariant(rc == 0);
    }
    *arena = (struct arena){ 0 };
}

void *arena_take(struct arena *arena, size_t count, size_t bytes_each)
{
    size_t bytes = 0;
    bool overflow = __builtin_mul_overflow(count, bytes_each, &bytes);
    invariant(!overflow);
    invariant(arena->base != NULL);
    invariant(bytes <= arena->size - arena->used);
    void *taken = arena->base + arena->used;
    arena->used += round_up(bytes); /* size is a multiple of the alignment, so this stays inside */
    return taken;
}
