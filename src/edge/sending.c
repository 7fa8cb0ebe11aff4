/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/sending.h"

#include <errno.h>
#include <sys/uio.h>

/* What the socket took, 0 if it takes nothing now; a broken one is marked. Of the second part a
 * piece is offered: the next one when all others had their turn. */
static size_t send_parts(
    struct edge *edge, struct connection *connection, struct span first, struct span second)
{
    ssize_t sent;
    if (second.size > EDGE_SEND_PIECE)
        second.size = EDGE_SEND_PIECE;
    if (__builtin_expect(connection->secure, 0)) {
        sent = secure_send(edge, connection, first, second);
    } else if (second.size == 0) {
        sent = socket_send(connection->fd, first.data, first.size);
    } else {
        struct iovec parts[2];
        size_t count = 0;
        if (first.size > 0)
            parts[count++] =
                (struct iovec){ .iov_base = (void *)(uintptr_t)first.data, .iov_len = first.size };
        parts[count++] =
            (struct iovec){ .iov_base = (void *)(uintptr_t)second.data, .iov_len = second.size };
        struct msghdr message = { .msg_iov = parts, .msg_iovlen = count };
        sent = sendmsg(connection->fd, &message, MSG_NOSIGNAL);
    }
    connection->takes_more = sent == (ssize_t)(first.size + second.size);
    if (sent >= 0)
        return (size_t)sent;
    if (errno != EAGAIN && errno != EINTR)
        connection->failed = true;
    return 0;
}

static struct span span_from(struct span span, size_t from)
{
    return from >= span.size ? SPAN_NONE : span_of(span.data + from, span.size - from);
}

void sending_keep(struct edge *edge, struct connection *connection, struct span first,
    struct span second, size_t sent)
{
    if (sent == first.size + second.size || connection->failed)
        return;
    struct span rest = span_from(first, sent);
    connection->body = span_from(second, sent > first.size ? sent - first.size : 0);
    connection->out_at = 0;
    connection->sent_bytes = 0;
    connection->send_until = edge_deadline(edge, edge->config.send_timeout_ms);
    if (rest.size == 0)
        return;
    if (!buffer_take(&edge->buffers, &connection->out, rest.size)) {
        connection->failed = true;
        return;
    }
    memcpy(connection->out.data, rest.data, rest.size);
    connection->out.size = (uint32_t)rest.size;
}

void sending_start(struct edge *edge, struct connection *connection, struct span first, struct span second)
{
    invariant(!sending_pending(connection));
    sending_keep(edge, connection, first, second, send_parts(edge, connection, first, second));
}

void sending_continue(struct edge *edge, struct connection *connection)
{
    struct span first = SPAN_NONE;
    if (connection->out.data != NULL)
        first = span_of(
            connection->out.data + connection->out_at, connection->out.size - connection->out_at);
    size_t sent = send_parts(edge, connection, first, connection->body);
    if (sent >= first.size) {
        buffer_give(&edge->buffers, &connection->out);
        connection->body = span_from(connection->body, sent - first.size);
    } else {
        connection->out_at += (uint32_t)sent;
    }
    connection->sent_bytes += (uint32_t)sent;
    if (connection->sent_bytes >= EDGE_SEND_PROGRESS) {
        connection->sent_bytes = 0;
        connection->send_until = edge_deadline(edge, edge->config.send_timeout_ms);
    }
}
