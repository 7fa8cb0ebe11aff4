/* SPDX-License-Identifier: Apache-2.0 */
/* server/server_metrics.h: gauges that nobody counts as they happen; the housekeeper looks at
 * them ten times a second. */
#ifndef STAMPEDE_SERVER_SERVER_METRICS_H
#define STAMPEDE_SERVER_SERVER_METRICS_H

#include "api/link.h"
#include "contract/board.h"

void server_metrics_update(const struct board *board, const struct link *link);

#endif
