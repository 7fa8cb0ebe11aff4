/* SPDX-License-Identifier: Apache-2.0 */
/* edge/secure.h: connections over TLS: their streams, and what their answers say besides. They are never calm
 * (connection_is_calm), so the usual case of a plain connection does not look for them.
 * Private to the edge; thread: its own. */
#ifndef STAMPEDE_EDGE_SECURE_H
#define STAMPEDE_EDGE_SECURE_H

#include "edge/edge_state.h"
#include "tls/stream.h"

#include <sys/types.h>

/* The handshake is done: the stream is the connection's from now on. */
void secure_begin(struct edge *edge, struct connection *connection, struct tls_stream *stream);
ssize_t secure_receive(struct edge *edge, struct connection *connection, void *data, size_t size);
ssize_t secure_send(
    struct edge *edge, const struct connection *connection, struct span first, struct span second);
/* Sends a whole response that lies elsewhere. Nothing may be pending. */
void secure_answer(struct edge *edge, struct connection *connection, struct span response);
/* edge->out has one response from `from` on: adds edge_config.secure_header to its head. */
void secure_mark(struct edge *edge, size_t from);
void secure_end(struct edge *edge, struct connection *connection); /* no more will be sent */
void secure_close(struct edge *edge, struct connection *connection);

#endif
