/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/secure.h"

#include "edge/handshakes.h"
#include "edge/sending.h"

void secure_begin(struct edge *edge, struct connection *connection, struct tls_stream *stream)
{
    invariant(edge->streams != NULL);
    edge->streams[connection->index] = stream;
    connection->secure = true;
    connection->readable = true; /* bytes may be in the stream already: no event will tell of them */
}

ssize_t secure_receive(struct edge *edge, struct connection *connection, void *data, size_t size)
{
    struct tls_stream *stream = edge->streams[connection->index];
    const ssize_t got = tls_stream_receive(stream, data, size);
    if (tls_stream_is_ended(stream))
        connection->hung_up = true; /* as if the peer had closed its side: read until there is nothing */
    return got;
}

ssize_t secure_send(
    struct edge *edge, const struct connection *connection, struct span first, struct span second)
{
    return tls_stream_send(edge->streams[connection->index], first, second);
}

void secure_mark(struct edge *edge, size_t from)
{
    const struct span header = edge->config.secure_header;
    struct text *out = &edge->out;
    if (header.size == 0 || out->overflow || header.size > out->capacity - out->size || from == out->size)
        return;
    const char *line_end = memchr(out->data + from, '\n', out->size - from);
    if (line_end == NULL)
        return;
    const size_t at = (size_t)(line_end - out->data) + 1;
    memmove(out->data + at + header.size, out->data + at, out->size - at);
    memcpy(out->data + at, header.data, header.size);
    out->size += header.size;
}

void secure_answer(struct edge *edge, struct connection *connection, struct span response)
{
    struct text *out = &edge->out;
    const size_t from = out->size; /* another connection's answers may stand before */
    if (response.size > out->capacity - from) {
        sending_start(edge, connection, response, SPAN_NONE);
        return;
    }
    text_add(out, response);
    secure_mark(edge, from);
    const struct span marked = span_of(out->data + from, out->size - from);
    out->size = from;
    sending_start(edge, connection, marked, SPAN_NONE);
}

void secure_end(struct edge *edge, struct connection *connection)
{
    if (!connection->failed && !sending_pending(connection))
        tls_stream_end(edge->streams[connection->index]);
}

void secure_close(struct edge *edge, struct connection *connection)
{
    secure_end(edge, connection);
    handshakes_bury(edge->config.handshakes, edge->streams[connection->index]);
    edge->streams[connection->index] = NULL;
    connection->secure = false;
}
