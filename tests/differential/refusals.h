/* SPDX-License-Identifier: Apache-2.0 */
/* tests/differential/refusals.h: calls that the script must refuse as a whole, before it writes anything. */
#ifndef STAMPEDE_TESTS_DIFFERENTIAL_REFUSALS_H
#define STAMPEDE_TESTS_DIFFERENTIAL_REFUSALS_H

#include "tests/differential/runner.h"

/* How many were not refused; it says which. */
uint32_t refusals_check(struct runner *runner);

#endif
