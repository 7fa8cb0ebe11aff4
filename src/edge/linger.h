/* SPDX-License-Identifier: Apache-2.0 */
/* edge/linger.h: after the last answer, what still comes is dropped for a while, so that the answer is not
 * lost to a reset. Private to the edge; thread: its own. */
#ifndef STAMPEDE_EDGE_LINGER_H
#define STAMPEDE_EDGE_LINGER_H

#include "edge/edge_state.h"

/* Ends our side and waits for the end of the peer's. Both may close the connection. */
void linger_start(struct edge *edge, struct connection *connection);
void linger_on(struct edge *edge, struct connection *connection); /* there are bytes, or the end */

#endif
