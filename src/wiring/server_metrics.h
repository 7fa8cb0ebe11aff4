/* wiring/server_metrics.h: gauges that nobody counts as they happen; the housekeeper looks at
 * them ten times a second. */
#ifndef STAMPEDE_WIRING_SERVER_METRICS_H
#define STAMPEDE_WIRING_SERVER_METRICS_H

#include "inventory/embedded.h"
#include "wiring/desk.h"

void server_metrics_register(void);
void server_metrics_update(struct embedded *embedded, struct desk *desk);

#endif
