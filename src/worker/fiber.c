/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/fiber.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* The sanitizers must know which stack is in use. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

struct fiber {
    ucontext_t own, outer;
    char *map, *stack; /* the stack begins after the guard page */
    size_t map_bytes;
    void (*run)(void *);
    void *argument;
    bool busy, inside;
#if defined(__SANITIZE_ADDRESS__)
    void *own_frames, *outer_frames;
    const void *outer_stack;
    size_t outer_bytes;
#endif
#if defined(__SANITIZE_THREAD__)
    void *own_thread, *outer_thread;
#endif
};

/* ---- what the sanitizers are told ---- */

static void entering(struct fiber *fiber)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fiber->outer_frames, fiber->stack, FIBER_STACK_BYTES);
#endif
#if defined(__SANITIZE_THREAD__)
    fiber->outer_thread = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber->own_thread, 0);
#endif
    (void)fiber;
}

static void entered(struct fiber *fiber)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fiber->own_frames, &fiber->outer_stack, &fiber->outer_bytes);
#endif
    (void)fiber;
}

static void leaving(struct fiber *fiber)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(&fiber->own_frames, fiber->outer_stack, fiber->outer_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(fiber->outer_thread, 0);
#endif
    (void)fiber;
}

static void left(struct fiber *fiber)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(fiber->outer_frames, NULL, NULL);
#endif
    (void)fiber;
}

/* ---- switching ---- */

static void switch_in(struct fiber *fiber)
{
    invariant(!fiber->inside);
    fiber->inside = true;
    entering(fiber);
    invariant(swapcontext(&fiber->outer, &fiber->own) == 0);
    left(fiber);
    fiber->inside = false;
}

static void switch_out(struct fiber *fiber)
{
    leaving(fiber);
    invariant(swapcontext(&fiber->own, &fiber->outer) == 0);
    entered(fiber);
}

/* makecontext passes integers only. */
static void fiber_main(unsigned upper, unsigned lower)
{
    struct fiber *fiber = (struct fiber *)(uintptr_t)((uint64_t)upper << 32 | lower);
    entered(fiber);
    for (;;) {
        fiber->run(fiber->argument);
        fiber->busy = false;
        switch_out(fiber);
    }
}

void fiber_start(struct fiber *fiber, void (*run)(void *), void *argument)
{
    invariant(!fiber->busy);
    fiber->busy = true;
    fiber->run = run;
    fiber->argument = argument;
    switch_in(fiber);
}

void fiber_resume(struct fiber *fiber)
{
    invariant(fiber->busy);
    switch_in(fiber);
}

void fiber_park(struct fiber *fiber)
{
    invariant(fiber->busy && fiber->inside);
    switch_out(fiber);
}

bool fiber_is_free(const struct fiber *fiber)
{
    return !fiber->busy;
}

enum status fiber_open(struct fiber **out)
{
    const size_t guard_bytes = (size_t)sysconf(_SC_PAGESIZE);
    struct fiber *fiber = calloc(1, sizeof *fiber);
    *out = fiber;
    if (fiber == NULL)
        return STATUS_FULL;
    fiber->map_bytes = guard_bytes + FIBER_STACK_BYTES;
    fiber->map = mmap(NULL, fiber->map_bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (fiber->map == MAP_FAILED)
        fiber->map = NULL;
    if (fiber->map == NULL || mprotect(fiber->map, guard_bytes, PROT_NONE) != 0
        || getcontext(&fiber->own) != 0) {
        fiber_close(fiber);
        *out = NULL;
        return STATUS_FULL;
    }
    fiber->stack = fiber->map + guard_bytes;
#if defined(__SANITIZE_THREAD__)
    fiber->own_thread = __tsan_create_fiber(0);
#endif
    fiber->own.uc_stack.ss_sp = fiber->stack;
    fiber->own.uc_stack.ss_size = FIBER_STACK_BYTES;
    fiber->own.uc_link = NULL;
    makecontext(&fiber->own, (void (*)(void))fiber_main, 2, (unsigned)((uintptr_t)fiber >> 32),
        (unsigned)(uintptr_t)fiber);
    return STATUS_OK;
}

void fiber_close(struct fiber *fiber)
{
    if (fiber == NULL)
        return;
    invariant(!fiber->busy);
#if defined(__SANITIZE_THREAD__)
    if (fiber->own_thread != NULL)
        __tsan_destroy_fiber(fiber->own_thread);
#endif
    if (fiber->map != NULL)
        munmap(fiber->map, fiber->map_bytes);
    free(fiber);
}
