/* SPDX-License-Identifier: Apache-2.0 */
/* edge/websocket_serve.h: a connection that has become a websocket: frames in, frames out, pings,
 * the end. Private to the edge. Each call goes as far as it can without waiting; those of the first
 * group may end with the connection closed, the others mark it, and it is closed after the turn.
 * Thread: the edge's. */
#ifndef STAMPEDE_EDGE_WEBSOCKET_SERVE_H
#define STAMPEDE_EDGE_WEBSOCKET_SERVE_H

#include "edge/edge_state.h"

void websocket_serve(struct edge *edge, struct connection *connection);
void websocket_settle(struct edge *edge, struct connection *connection);
/* Its deadline has passed. False: it is to be closed as any other connection. */
bool websocket_expired(struct edge *edge, struct connection *connection);

void websocket_start(struct edge *edge, struct connection *connection); /* the 101 is written */
void websocket_drain(struct edge *edge, struct connection *connection);
void websocket_ended(struct edge *edge, struct connection *connection); /* tells the handler */

#endif
