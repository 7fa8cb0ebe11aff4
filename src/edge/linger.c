/* SPDX-License-Identifier: Apache-2.0 */
/* edge/linger.c: reads and drops what a peer still sends after its last answer. */
#include "edge/linger.h"

#include "edge/sending.h"
#include "edge/serve.h"

#include <errno.h>
#include <sys/socket.h>

enum {
    LINGER_BYTES = 256 * 1024, /* dropped; then the connection is cut */
    LINGER_MS = 2000,
};

void linger_start(struct edge *edge, struct connection *connection)
{
    if (connection->secure)
        secure_end(edge, connection);
    shutdown(connection->fd, SHUT_WR);
    connection->lingering = true;
    buffer_give(&edge->buffers, &connection->in);
    edge->table.deadlines[connection->index] = edge_deadline(edge, LINGER_MS);
    connection->readable = true;
    linger_on(edge, connection);
}

void linger_on(struct edge *edge, struct connection *connection)
{
    while (connection->readable && !connection->failed) {
        ssize_t got = socket_receive(connection->fd, edge->in, EDGE_IN_BYTES);
        if (got > 0) {
            connection->linger_bytes += (uint32_t)got;
            if (connection->linger_bytes > LINGER_BYTES)
                connection->failed = true;
        } else if (got < 0 && errno == EAGAIN) {
            connection->readable = false;
        } else if (got == 0 || errno != EINTR) {
            connection->failed = true;
        }
    }
    if (connection->failed)
        serve_close(edge, connection);
}
