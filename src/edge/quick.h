/* SPDX-License-Identifier: Apache-2.0 */
/* edge/quick.h: a connection with one request and nothing else going on, which nearly all are. Its answer
 * goes straight to the socket, without the out buffer where the handler has it ready. Everything else is
 * serve.c's. Private to the edge; thread: its own. */
#ifndef STAMPEDE_EDGE_QUICK_H
#define STAMPEDE_EDGE_QUICK_H

#include "edge/edge_state.h"

/* A whole request on a connection that owes nothing and keeps alive. */
void quick_start(struct edge *edge, struct connection *connection, const struct http_request *request);
/* The answer that a connection waits for has come, and it is the only one. False: this is not all that
 * there is to do, or another connection is being served; nothing was done. */
MUST_CHECK bool quick_answer(
    struct edge *edge, struct connection *connection, const struct edge_answer *answer);

#endif
