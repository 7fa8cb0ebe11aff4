/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/bench.h: what a purchase costs in the script, printed and not judged: wins and refusals,
 * in calls of 1 and of 16 and 64. */
#ifndef STAMPEDE_TESTS_DIFFERENTIAL_BENCH_H
#define STAMPEDE_TESTS_DIFFERENTIAL_BENCH_H

#include "tests/differential/runner.h"

int bench_run(struct runner *runner);

#endif
