/* SPDX-License-Identifier: Apache-2.0 */
/* edge/sending.h: bytes out of a connection, now or when the socket takes them. What it does not
 * take stays with the connection: the first part by copy in a buffer, the second by address. Of
 * the second no more than EDGE_SEND_PIECE goes in one call; connection->takes_more says that the
 * socket is not why the rest waits.
 * Thread: the edge's. Errors: a broken socket or a lack of buffers sets connection->failed. */
#ifndef STAMPEDE_EDGE_SENDING_H
#define STAMPEDE_EDGE_SENDING_H

#include "base/socket_call.h"
#include "edge/edge_state.h"
#include "edge/secure.h"

/* What the connection says next, from its socket or out of its TLS. As recv. */
static inline ssize_t connection_receive(
    struct edge *edge, struct connection *connection, void *data, size_t size)
{
    if (__builtin_expect(connection->secure, 0))
        return secure_receive(edge, connection, data, size);
    return socket_receive(connection->fd, data, size);
}

static inline bool sending_pending(const struct connection *connection)
{
    return connection->out.data != NULL || connection->body.size > 0;
}

/* Sends both parts. Nothing may be pending. */
void sending_start(
    struct edge *edge, struct connection *connection, struct span first, struct span second);
/* Of both, `sent` bytes have gone; keeps what is left and starts its deadline. */
void sending_keep(struct edge *edge, struct connection *connection, struct span first,
    struct span second, size_t sent);
/* Goes on with what was kept; every EDGE_SEND_PROGRESS bytes earn a new deadline. */
void sending_continue(struct edge *edge, struct connection *connection);

#endif
