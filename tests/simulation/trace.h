/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/trace.h: the last steps of a run, and the way it ends when something can't
 * be. */
#ifndef STAMPEDE_TESTS_SIMULATION_TRACE_H
#define STAMPEDE_TESTS_SIMULATION_TRACE_H

#include <stdbool.h>
#include <stdint.h>

enum { TRACE_STEPS = 48 };

struct trace {
    uint64_t seed;
    const char *store; /* "cluster": the second world */
    bool verbose;      /* print each step as it comes */
    uint64_t passed;   /* sales before this one */
    uint64_t step;     /* of this sale */
    uint64_t hash;     /* over all steps: equal for equal runs */
};
extern struct trace trace;

void trace_start(uint64_t seed, const char *store);
/* `name` must be a literal: it is kept by address, and named in docs by what it prints. */
void trace_step(const char *name, uint64_t a, uint64_t b, uint64_t c);

/* Prints invariant, what happened, the seed and the last steps, and ends the program with 1. */
_Noreturn void violation(const char *invariant, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void trace_print(void); /* the last steps, to standard output */

#endif
