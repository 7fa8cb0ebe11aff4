/* SPDX-License-Identifier: Apache-2.0 */
/* DESIGN. A websocket keeps nothing but its connection: half a frame in `in` and unsent bytes in
 * `out` are there only while there are such. Frames are parsed when they are whole, so that one
 * parser serves all. Of the connection's fields, `need` is the time of the next ping, `phase_until`
 * the time by which the peer must have said something, `refuse_status` why it ends. */
#include "edge/websocket_serve.h"

#include "edge/sending.h"
#include "edge/serve.h"
#include "edge/websocket.h"

#include <errno.h>

enum {
    READS_PER_TURN = 4,       /* of one socket; then the others */
    KERNEL_BYTES = 64 * 1024, /* unsent bytes of one socket in the kernel */
    RETRY_MIN_MS = 500,       /* a client that is sent away comes back between these */
    RETRY_SPREAD_MS = 9500,
};

static struct linger reset_at_close = { .l_onoff = 1, .l_linger = 0 };

/* The same for one slot, far apart for neighbours. */
static uint32_t spread(const struct connection *connection, uint32_t range)
{
    const uint32_t mixed = (connection->index ^ connection->generation << 16) * 2654435761u;
    return (uint32_t)((uint64_t)mixed * range >> 32);
}

static uint64_t socket_of(const struct connection *connection)
{
    return edge_socket(connection_token(connection, 0));
}

void websocket_start(struct edge *edge, struct connection *connection)
{
    connection->phase = PHASE_WEBSOCKET;
    connection->blocked = true; /* what follows is no request */
    connection->refuse_status = EDGE_SOCKET_LEFT;
    connection->phase_until = edge_deadline(edge, edge->config.silence_ms);
    /* The bound on what waits would mean little if the kernel took megabytes first. */
    const int kernel_bytes = KERNEL_BYTES;
    (void)setsockopt(connection->fd, SOL_SOCKET, SO_SNDBUF, &kernel_bytes, sizeof kernel_bytes);
}

void websocket_ended(struct edge *edge, struct connection *connection)
{
    edge->handler.gone(
        edge->handler.self, socket_of(connection), (enum edge_socket_end)connection->refuse_status);
}

/* ---- sending ---- */

/* A reset: else the kernel keeps for minutes what the peer does not read. */
static void cut(struct edge *edge, struct connection *connection, enum edge_socket_end why)
{
    connection->failed = true;
    connection->refuse_status = (uint16_t)why;
    (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &reset_at_close, sizeof reset_at_close);
    serve_mark_dirty(edge, connection);
}

/* After what waits already. */
static bool send_later(struct edge *edge, struct connection *connection, struct span frame)
{
    struct buffer *out = &connection->out;
    const uint32_t waiting = out->data == NULL ? 0 : out->size - connection->out_at;
    if (waiting + frame.size > EDGE_SOCKET_WAITING_MAX)
        return false;
    if (waiting > 0)
        memmove(out->data, out->data + connection->out_at, waiting);
    out->size = waiting;
    connection->out_at = 0;
    if (!buffer_grow(&edge->buffers, out, waiting + frame.size, BUFFER_FAVOURED))
        return false;
    memcpy(out->data + waiting, frame.data, frame.size);
    out->size = waiting + (uint32_t)frame.size;
    return true;
}

static bool send_frame(struct edge *edge, struct connection *connection, struct span frame)
{
    if (connection->failed || connection->finishing)
        return false;
    if (!sending_pending(connection)) {
        sending_start(edge, connection, frame, SPAN_NONE);
        if (sending_pending(connection) || connection->failed)
            serve_mark_dirty(edge, connection); /* its deadline has changed */
    } else if (!send_later(edge, connection, frame)) {
        cut(edge, connection, EDGE_SOCKET_SLOW);
    }
    return !connection->failed;
}

static void send_control(struct edge *edge, struct connection *connection,
    enum websocket_opcode opcode, struct span payload)
{
    char bytes[WEBSOCKET_HEAD_MAX + WEBSOCKET_CONTROL_MAX];
    struct text frame = text_in(bytes, sizeof bytes);
    websocket_frame(&frame, opcode, payload);
    (void)send_frame(edge, connection, text_span(&frame)); /* a socket that fails is closed soon */
}

/* Says why, then no more; the peer's own close need not be waited for. */
static void send_close(struct edge *edge, struct connection *connection, enum websocket_code code,
    struct span reason, enum edge_socket_end why)
{
    char bytes[WEBSOCKET_HEAD_MAX + WEBSOCKET_CONTROL_MAX];
    struct text frame = text_in(bytes, sizeof bytes);
    if (connection->failed || connection->finishing)
        return;
    connection->refuse_status = (uint16_t)why;
    websocket_frame_close(&frame, code, reason);
    (void)send_frame(edge, connection, text_span(&frame));
    connection->finishing = true;
    connection->linger = true;
    serve_mark_dirty(edge, connection);
}

void websocket_drain(struct edge *edge, struct connection *connection)
{
    char bytes[32];
    struct text reason = text_in(bytes, sizeof bytes);
    text_format(&reason, "retry_ms=%u", RETRY_MIN_MS + spread(connection, RETRY_SPREAD_MS));
    send_close(edge, connection, WEBSOCKET_GOING_AWAY, text_span(&reason), EDGE_SOCKET_DRAINED);
}

/* ---- receiving ---- */

static const char *refusal_reason(enum websocket_code code)
{
    switch ((int)code) {
    case WEBSOCKET_TOO_LONG:
        return "message too long";
    case WEBSOCKET_UNSUPPORTED:
        return "only short whole text messages";
    case WEBSOCKET_BAD_DATA:
        return "not UTF-8";
    default:
        return "bad frame";
    }
}

/* One more: were there too many? Each may cost an answer, and thousands fit into one read. */
static bool messages_exceed(const struct edge *edge, struct connection *connection)
{
    if (edge->now - connection->messages_from >= EDGE_SOCKET_MESSAGES_MS) {
        connection->messages_from = edge->now;
        connection->messages = 0;
    }
    return ++connection->messages > EDGE_SOCKET_MESSAGES_MAX;
}

/* Gently, unless it does not read either: a close would wait after what it leaves unread. */
static void flooder_end(struct edge *edge, struct connection *connection)
{
    if (sending_pending(connection))
        cut(edge, connection, EDGE_SOCKET_SLOW);
    else
        send_close(edge, connection, WEBSOCKET_POLICY, SPAN("too many messages"), EDGE_SOCKET_BAD_FRAME);
}

static void message_handle(
    struct edge *edge, struct connection *connection, const struct websocket_message *message)
{
    connection->phase_until = edge_deadline(edge, edge->config.silence_ms);
    if (messages_exceed(edge, connection))
        flooder_end(edge, connection);
    else if (message->opcode == WEBSOCKET_TEXT)
        edge->handler.message(edge->handler.self, socket_of(connection), message->payload);
    else if (message->opcode == WEBSOCKET_PING)
        send_control(edge, connection, WEBSOCKET_PONG, message->payload);
    else if (message->opcode == WEBSOCKET_CLOSE)
        send_close(edge, connection, message->code, SPAN_NONE, EDGE_SOCKET_LEFT);
}

/* How many bytes are done with. */
static size_t frames_handle(struct edge *edge, struct connection *connection, struct span data)
{
    size_t at = 0;
    while (at < data.size && !connection->failed && !connection->finishing) {
        struct websocket_message message;
        size_t bytes = 0;
        switch (websocket_parse(
            edge->websocket, span_of(data.data + at, data.size - at), &message, &bytes)) {
        case WEBSOCKET_PARTIAL:
            return at;
        case WEBSOCKET_REFUSED:
            send_close(edge, connection, message.code,
                span_from_string(refusal_reason(message.code)), EDGE_SOCKET_BAD_FRAME);
            return data.size;
        case WEBSOCKET_WHOLE:
            at += bytes;
            message_handle(edge, connection, &message);
            break;
        }
    }
    return connection->failed || connection->finishing ? data.size : at;
}

/* The beginning of a frame stays with the connection. `data` is its own buffer or the edge's. */
static void rest_keep(struct edge *edge, struct connection *connection, const char *data, size_t rest)
{
    struct buffer *in = &connection->in;
    if (rest == 0) {
        buffer_give(&edge->buffers, in);
        return;
    }
    invariant(rest < WEBSOCKET_FRAME_MAX && data != NULL);
    if (in->data == NULL && !buffer_take(&edge->buffers, in, WEBSOCKET_FRAME_MAX)) {
        cut(edge, connection, EDGE_SOCKET_SLOW);
        return;
    }
    memmove(in->data, data, rest);
    in->size = (uint32_t)rest;
}

static void bytes_handle(struct edge *edge, struct connection *connection, const char *data, size_t size)
{
    const size_t done = frames_handle(edge, connection, span_of(data, size));
    rest_keep(edge, connection, data + done, size - done);
}

static void receive(struct edge *edge, struct connection *connection)
{
    const size_t have = connection->in.size;
    if (have > 0)
        memcpy(edge->in, connection->in.data, have);
    const size_t room = EDGE_IN_BYTES - have;
    const ssize_t got = connection_receive(edge, connection, edge->in + have, room);
    if (got <= 0) {
        connection->readable = got < 0 && errno == EINTR;
        connection->ended |= got == 0;
        connection->failed |= got < 0 && errno != EINTR && errno != EAGAIN;
        return;
    }
    if ((size_t)got < room && !connection->hung_up)
        connection->readable = false;
    bytes_handle(edge, connection, edge->in, have + (size_t)got);
}

/* ---- the whole ---- */

void websocket_serve(struct edge *edge, struct connection *connection)
{
    if (sending_pending(connection) && !connection->failed)
        sending_continue(edge, connection);
    if (connection->blocked) { /* bytes that came with the request are not looked at yet */
        connection->blocked = false;
        if (connection->in.size > 0)
            bytes_handle(edge, connection, connection->in.data, connection->in.size);
    }
    for (int i = 0; i < READS_PER_TURN && connection->readable && !connection->ended
         && !connection->failed && !connection->finishing;
         i++)
        receive(edge, connection);
    websocket_settle(edge, connection);
}

static uint32_t sooner(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0 ? a : b;
}

void websocket_settle(struct edge *edge, struct connection *connection)
{
    uint32_t *deadline = &edge->table.deadlines[connection->index];
    if (connection->need == 0)
        connection->need = edge_deadline(edge, 1 + spread(connection, edge->config.ping_ms));
    if (connection->failed) {
        serve_close(edge, connection);
        return;
    }
    if (sending_pending(connection)) {
        *deadline = connection->send_until;
    } else if (connection->finishing) {
        serve_finish(edge, connection);
        return;
    } else if (connection->ended) {
        serve_close(edge, connection);
        return;
    } else {
        *deadline = sooner(connection->need, connection->phase_until);
    }
    if ((connection->readable || (connection->blocked && connection->in.size > 0)) && !connection->finishing)
        serve_mark_dirty(edge, connection);
}

bool websocket_expired(struct edge *edge, struct connection *connection)
{
    if (sending_pending(connection)) {
        connection->refuse_status = EDGE_SOCKET_SLOW;
        return false;
    }
    if (edge_deadline_passed(edge, connection->phase_until)) {
        connection->refuse_status = EDGE_SOCKET_SILENT;
        serve_close(edge, connection);
        return true;
    }
    connection->need = edge_deadline(edge, edge->config.ping_ms);
    send_control(edge, connection, WEBSOCKET_PING, SPAN_NONE);
    websocket_settle(edge, connection);
    return true;
}

/* ---- for the handler ---- */

bool edge_socket_send(struct edge *edge, uint64_t socket, struct span frame)
{
    thread_owner_check(edge->owner);
    struct connection *connection = connection_find_websocket(&edge->table, socket);
    return connection != NULL && send_frame(edge, connection, frame);
}

void edge_socket_close(struct edge *edge, uint64_t socket, int code, const char *reason)
{
    thread_owner_check(edge->owner);
    struct connection *connection = connection_find_websocket(&edge->table, socket);
    if (connection != NULL)
        send_close(edge, connection, (enum websocket_code)code, span_from_string(reason),
            EDGE_SOCKET_LEFT);
}
