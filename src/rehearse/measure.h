/* SPDX-License-Identifier: Apache-2.0 */
/* rehearse/measure.h: `stampede rehearse --measure URL`: the same loop and the same clock as a
 * rehearsal, one page, an open loop: so that its latency can be compared with another tool's. Thread: the
 * caller's. */
#ifndef STAMPEDE_REHEARSE_MEASURE_H
#define STAMPEDE_REHEARSE_MEASURE_H

#include "rehearse/options.h"

#include <stdatomic.h>

int measure_run(const struct rehearse_options *options, const atomic_bool *stop);

#endif
