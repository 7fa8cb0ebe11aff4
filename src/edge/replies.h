/* SPDX-License-Identifier: Apache-2.0 */
/* edge/replies.h: the answers of the connection being served: they are rendered to the edge's out buffer
 * in the order of the requests, kept within its bound, and sent. Private to the edge; thread: its own. */
#ifndef STAMPEDE_EDGE_REPLIES_H
#define STAMPEDE_EDGE_REPLIES_H

#include "edge/edge_state.h"

/* Sends what was rendered. */
void replies_flush(struct edge *edge, struct connection *connection);
/* Keeps the out buffer within its bound. False: the socket is full, or broken. */
bool replies_have_room(struct edge *edge, struct connection *connection);
/* A response was written after `from`: what HEAD must not have is cut; one that did not fit becomes a
 * 500. */
void replies_check(struct edge *edge, struct connection *connection, size_t from, bool head_only);
/* All replies at the front that are ready; then a refusal, if it is its turn. */
void replies_render_ready(struct edge *edge, struct connection *connection);

#endif
