/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/simulation/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace trace;

static struct {
    const char *name;
    uint64_t numbers[3];
} steps[TRACE_STEPS];

void trace_start(uint64_t seed, const char *store)
{
    trace.seed = seed;
    trace.store = store;
    trace.step = 0;
    trace.hash = seed;
}

static void step_print(uint64_t step)
{
    const uint64_t at = step % TRACE_STEPS;
    printf("  %5" PRIu64 "  %-22s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", step, steps[at].name,
        steps[at].numbers[0], steps[at].numbers[1], steps[at].numbers[2]);
}

void trace_step(const char *name, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t at = trace.step % TRACE_STEPS;
    steps[at].name = name;
    steps[at].numbers[0] = a;
    steps[at].numbers[1] = b;
    steps[at].numbers[2] = c;
    trace.hash = (trace.hash ^ (a + 3 * b + 7 * c + (uint64_t)(unsigned char)name[0]))
        * UINT64_C(0x9e3779b97f4a7c15);
    trace.hash ^= trace.hash >> 29;
    if (trace.verbose)
        step_print(trace.step);
    trace.step++;
}

void trace_print(void)
{
    for (uint64_t i = trace.step > TRACE_STEPS ? trace.step - TRACE_STEPS : 0; i < trace.step; i++)
        step_print(i);
}

void violation(const char *invariant, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("VIOLATION %s: ", invariant);
    vprintf(format, arguments);
    va_end(arguments);
    const char *option = strcmp(trace.store, "cluster") == 0 ? "world" : "store";
    printf("\nseed %" PRIu64 ", %s %s, step %" PRIu64 "; again: simulate --%s %s --seed %" PRIu64
           " --verbose\n",
        trace.seed, option, trace.store, trace.step, option, trace.store, trace.seed);
    if (!trace.verbose)
        trace_print();
    printf("%" PRIu64 " passed, 1 failed\n", trace.passed);
    fflush(stdout);
    _Exit(1);
}
