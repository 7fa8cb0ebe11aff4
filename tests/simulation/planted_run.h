/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/planted_run.h: proves that the simulator sees: each planted bug in a process of
 * its own. */
#ifndef STAMPEDE_TESTS_SIMULATION_PLANTED_RUN_H
#define STAMPEDE_TESTS_SIMULATION_PLANTED_RUN_H

enum { PLANTED_SECONDS_MAX = 60, PLANTED_CAUGHT_MIN = 20 };

/* Prints a line per bug and "N passed, N failed"; answers the exit code. */
int planted_run_all(void);

#endif
