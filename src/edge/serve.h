/* SPDX-License-Identifier: Apache-2.0 */
/* edge/serve.h: what happens on one connection: receive, parse, start requests, render replies
 * in order, send. Each call goes as far as it can without waiting and may end with the
 * connection closed. Thread: the edge's. */
#ifndef STAMPEDE_EDGE_SERVE_H
#define STAMPEDE_EDGE_SERVE_H

#include "edge/edge_state.h"

void serve(struct edge *edge, struct connection *connection);
void serve_mark_dirty(struct edge *edge, struct connection *connection); /* serve it after the turn */
void serve_expired(struct edge *edge, struct connection *connection); /* its deadline has passed */
/* Answers with a refusal when its turn comes, then closes. */
void serve_refuse(struct edge *edge, struct connection *connection, int status, const char *why);
void serve_drain(struct edge *edge, struct connection *connection);
void serve_close(struct edge *edge, struct connection *connection);
/* Sends straight from `response`, which answers the oldest request; what the socket does not
 * take is copied. */
void serve_send_now(struct edge *edge, struct connection *connection, struct span response);
/* All was answered: closes, gently if bytes of the peer may be unread. */
void serve_finish(struct edge *edge, struct connection *connection);
/* The request has its answer, and no other is owed before it: `given`, or what the handler has written
 * after `from`. False: the connection is a WebSocket now. */
bool serve_answer_now(struct edge *edge, struct connection *connection, enum edge_verdict verdict,
    const struct edge_reply *given, size_t from, bool head_only, bool closing);
/* What it waits for now, and until when. */
void serve_settle(struct edge *edge, struct connection *connection);
bool serve_is_idle(const struct connection *connection);

#endif
