/* SPDX-License-Identifier: Apache-2.0 */
/* tests/simulation/sim_arena.h: how much of a closed arena is cleaned. */
#ifndef STAMPEDE_TESTS_SIMULATION_SIM_ARENA_H
#define STAMPEDE_TESTS_SIMULATION_SIM_ARENA_H

#include <stdbool.h>

/* Large buffers are written at their front only: true for the simulator, where no file is long; not for
 * the unit tests of this build. */
extern bool sim_arena_fronts_only;

#endif
