/* SPDX-License-Identifier: Apache-2.0 */
/* worker/fiber.h: a function with a stack of its own, which can be left in the middle and gone on
 * with later, on the same thread. So code that waits for an answer is written as if it waited, and
 * the thread does other things meanwhile.
 * Thread: open anywhere, then one thread. Memory: a mapped stack with a guard page below it; pages
 * that are not touched cost nothing. */
#ifndef STAMPEDE_WORKER_FIBER_H
#define STAMPEDE_WORKER_FIBER_H

#include "base/status.h"

#include <stdbool.h>

/* The deepest thing on it is a JSON body of the greatest depth that the parser takes. */
enum { FIBER_STACK_BYTES = 1024 * 1024 };

struct fiber;
MUST_CHECK enum status fiber_open(struct fiber **fiber);
void fiber_close(struct fiber *fiber); /* accepts NULL; nothing runs on it */
/* Runs the function on the fiber, which is free. Returns when it has ended, or is parked. */
void fiber_start(struct fiber *fiber, void (*run)(void *), void *argument);
void fiber_resume(struct fiber *fiber); /* goes on with one that is parked; returns likewise */
bool fiber_is_free(const struct fiber *fiber); /* nothing runs on it */
void fiber_park(struct fiber *fiber); /* from the fiber itself: back to whoever started or resumed it */

#endif
