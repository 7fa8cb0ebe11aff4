/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/bench.h: what a purchase costs in the script, printed and not judged: wins and refusals,
 * in calls of 1 and of 16 and 64. Ours and a plain script take turns. */
#ifndef STAMPEDE_TESTS_DIFFERENTIAL_BENCH_H
#define STAMPEDE_TESTS_DIFFERENTIAL_BENCH_H

#include "tests/differential/runner.h"

/* only_batch: of one of these, 0: all. */
int bench_run(struct runner *runner, uint32_t only_batch);

#endif
