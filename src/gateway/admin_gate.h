/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/admin_gate.h: requests of operators. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_ADMIN_GATE_H
#define STAMPEDE_GATEWAY_ADMIN_GATE_H

#include "edge/edge.h"

struct exchange;

enum edge_verdict admin_request(struct exchange *exchange, struct span path); /* the path is under /admin */

#endif
