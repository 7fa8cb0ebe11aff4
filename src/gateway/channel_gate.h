/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/channel_gate.h: requests of sales channels. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_CHANNEL_GATE_H
#define STAMPEDE_GATEWAY_CHANNEL_GATE_H

#include "edge/edge.h"

struct exchange;

enum edge_verdict channel_request(struct exchange *exchange, struct span path); /* under /channel/v1 */

#endif
