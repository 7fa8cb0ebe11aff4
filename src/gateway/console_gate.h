/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/console_gate.h: sessions of the console, at the edge. Thread: the edge's own. */
#ifndef STAMPEDE_GATEWAY_CONSOLE_GATE_H
#define STAMPEDE_GATEWAY_CONSOLE_GATE_H

#include "edge/edge.h"

struct admin_key;
struct exchange;

bool console_session_shown(const struct http_request *request); /* and no key */
const struct admin_key *console_key(struct exchange *exchange); /* of the session; NULL: answered */
enum edge_verdict console_session_request(struct exchange *exchange); /* /console/session */

#endif
