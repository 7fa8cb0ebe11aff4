/* SPDX-License-Identifier: Apache-2.0 */
/* edge/serve.c: what happens on one connection. The answers themselves are edge/replies.c's.
 *
 * DESIGN. serve() is the only driver, called when a socket is ready and when something that a
 * connection waited for has come. It renders the replies that are ready, starts requests from
 * the bytes at hand, receives more, and sends once at the end. Answers collect in the edge's one
 * out buffer, which belongs to the connection being served. Whatever can't go on is kept with
 * the connection: half a request or one that must wait in `in`, unsent bytes in `out` and
 * `body`. While bytes are unsent nothing new is started or rendered: a client that does not read
 * stops being served. The last step, serve_settle(), looks at what the connection is waiting for, and
 * sets the one deadline that goes with it. */
#include "edge/serve.h"

#include "edge/body_limit.h"
#include "edge/client.h"
#include "edge/evict.h"
#include "edge/http_chunked.h"
#include "edge/http_parse.h"
#include "edge/linger.h"
#include "edge/quick.h"
#include "edge/replies.h"
#include "edge/sending.h"
#include "edge/websocket_serve.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

void serve_mark_dirty(struct edge *edge, struct connection *connection)
{
    if (connection->dirty)
        return;
    connection->dirty = true;
    invariant(edge->dirty_count < edge->table.count);
    edge->dirty[edge->dirty_count++] = connection->index;
}

void serve_close(struct edge *edge, struct connection *connection)
{
    if (connection->phase == PHASE_WEBSOCKET)
        websocket_ended(edge, connection);
    client_left(edge, connection);
    if (__builtin_expect(connection->secure, 0))
        secure_close(edge, connection);
    close(connection->fd); /* takes it out of the epoll set */
    connection_close(&edge->table, connection);
    edge->counts.closed++;
}

bool serve_is_idle(const struct connection *connection)
{
    return connection_owes(connection) == 0 && connection->in.size == 0
        && !sending_pending(connection) && connection->refuse_status == 0 && !connection->finishing
        && connection->phase != PHASE_WEBSOCKET;
}

void serve_send_now(struct edge *edge, struct connection *connection, struct span response)
{
    connection_paid(&edge->table, connection);
    connection->blocked = false;
    if (__builtin_expect(connection->secure, 0))
        secure_answer(edge, connection, response);
    else
        sending_start(edge, connection, response, SPAN_NONE);
    serve_mark_dirty(edge, connection);
}

void serve_refuse(struct edge *edge, struct connection *connection, int status, const char *why)
{
    (void)edge;
    connection->refuse_status = (uint16_t)status;
    connection->refuse_why = why;
    connection->finishing = true;
    connection->linger = true;
    connection->phase = PHASE_NONE;
}

/* ---- requests ---- */

static bool may_start(const struct connection *connection)
{
    return !connection->finishing && !connection->failed && !connection->blocked
        && !sending_pending(connection);
}

bool serve_answer_now(struct edge *edge, struct connection *connection, enum edge_verdict verdict,
    const struct edge_reply *given, size_t from, bool head_only, bool closing)
{
    if (verdict == EDGE_ANSWERED) {
        edge->handler.render(edge->handler.self, &given->answer, closing, &edge->out);
    } else if (verdict == EDGE_REPLIED) {
        edge->body = given->body;
    } else {
        invariant(!closing && !head_only);
        replies_flush(edge, connection); /* from here on, nothing goes through `out` */
        websocket_start(edge, connection);
        return false;
    }
    if (__builtin_expect(edge->out.overflow || head_only || connection->secure, 0))
        replies_check(edge, connection, from, head_only);
    return true;
}

static void start_request(
    struct edge *edge, struct connection *connection, const struct http_request *request)
{
    bool alone = connection_owes(connection) == 0;
    bool closing = !request->keep_alive || edge->draining;
    bool head_only = request->method == HTTP_HEAD;
    uint64_t token = connection_token(connection, connection->sequence_next);
    struct reply *reply = connection_owe(connection, edge->now);
    struct edge_reply given;
    given.body = SPAN_NONE;
    given.timed = EDGE_NOT_TIMED;
    reply->head_only = head_only;
    connection->phase = PHASE_NONE;
    connection->continued = connection->favoured = false;
    if (closing)
        connection->finishing = true;
    edge->counts.requests++;
    size_t from = edge->out.size;
    enum edge_verdict verdict =
        edge->handler.request(edge->handler.self, request, token, closing, &edge->out, &given);
    if (verdict == EDGE_DEFERRED) {
        reply->timed = given.timed;
        reply->since_ns = edge->turn_ns;
        invariant(edge->out.size == from);
        return;
    }
    if (!alone) {
        invariant(verdict == EDGE_ANSWERED && edge->out.size == from);
        reply->state = REPLY_ANSWERED;
        reply->answer = given.answer;
        return;
    }
    connection_paid(&edge->table, connection);
    (void)serve_answer_now(edge, connection, verdict, &given, from, head_only, closing);
}

/* The request is not all there: from when on it is late, and whether its sender waits for a
 * word. */
static void note_partial(struct edge *edge, struct connection *connection,
    const struct http_request *request, size_t need)
{
    bool head_done = request->head_bytes > 0;
    connection->need = (uint32_t)need;
    if (head_done && connection->phase != PHASE_BODY) {
        connection->phase = PHASE_BODY;
        connection->favoured =
            edge->handler.favours != NULL && edge->handler.favours(edge->handler.self, request);
        connection->phase_until = edge_deadline(edge, edge->config.body_timeout_ms);
    } else if (connection->phase == PHASE_NONE) {
        connection->phase = PHASE_HEAD;
        connection->phase_until = edge_deadline(edge, edge->config.head_timeout_ms);
    }
    if (!head_done || !request->expect_continue || connection->continued)
        return;
    if (connection_owes(connection) > 0) {
        connection->need = 0; /* look again when it is its turn */
        return;
    }
    text_literal(&edge->out, "HTTP/1.1 100 Continue\r\n\r\n");
    connection->continued = true;
}

/* Starts what can be started; how many bytes are done with. */
static size_t handle_bytes(struct edge *edge, struct connection *connection, char *data, size_t size)
{
    size_t at = 0;
    struct http_request request;
    struct http_refusal refusal;
    connection->need = 0;
    if (__builtin_expect(connection->phase == PHASE_PROXY, 0)
        && !client_told(edge, connection, span_of(data, size), &at))
        return at;
    while (at < size && replies_have_room(edge, connection) && may_start(connection)) {
        size_t bytes;
        enum http_parse_result result = http_parse(
            span_of(data + at, size - at), edge->config.body_max, &request, &bytes, &refusal);
        if (__builtin_expect(result == HTTP_PARSE_PARTIAL, 0)
            && body_limit_rest_fits(edge, &request, bytes)) {
            note_partial(edge, connection, &request, bytes);
            return at;
        }
        if (__builtin_expect(result == HTTP_PARSE_REFUSED, 0)) {
            serve_refuse(edge, connection, refusal.status, refusal.why);
            connection->refuse_head = span_starts_with(span_of(data + at, size - at), SPAN("HEAD "));
            return size;
        }
        if (__builtin_expect(result == HTTP_PARSE_PARTIAL, 0)) {
            serve_refuse(edge, connection, 413, "body too long for this address");
            return size;
        }
        if (connection_owes(connection) > 0
            && (!edge->handler.overlaps(edge->handler.self, &request)
                || !connection_may_owe_more(&edge->table, connection))) {
            connection->blocked = true;
            break;
        }
        if (__builtin_expect(request.chunked, 0)) {
            char *encoded = data + at + request.head_bytes;
            request.body = span_of(encoded, http_chunked_decode(encoded, request.body.size));
        }
        if (!body_limit_fits(edge, &request, request.body.size)) {
            serve_refuse(edge, connection, 413, "body too long for this address");
            return size;
        }
        at += bytes;
        client_of_request(edge, connection, &request);
        start_request(edge, connection, &request);
    }
    return at;
}

/* ---- receiving ---- */

/* Space for the bytes of an unfinished request: what has come, not what was announced, so that an
 * announcement costs nothing. Another unfinished request may have to give way. */
static bool in_grow(struct edge *edge, struct connection *connection, size_t bytes)
{
    const enum buffer_use use = connection->favoured ? BUFFER_FAVOURED : BUFFER_REQUEST;
    return buffer_grow(&edge->buffers, &connection->in, bytes, use)
        || (evict_for_buffer(edge, connection, bytes)
            && buffer_grow(&edge->buffers, &connection->in, bytes, use));
}

static void in_refuse(struct edge *edge, struct connection *connection)
{
    buffer_give(&edge->buffers, &connection->in);
    serve_refuse(edge, connection, 503, "Too many requests arrive at once. Try again shortly.");
}

/* Bytes that were not handled stay with the connection. `data` is its own buffer or the edge's. */
static void keep_bytes(
    struct edge *edge, struct connection *connection, char *data, size_t size, size_t done)
{
    size_t rest = size - done;
    struct buffer *in = &connection->in;
    if (rest == 0 || connection->finishing || connection->failed) {
        if (rest > 0)
            connection->linger = true;
        buffer_give(&edge->buffers, in);
        return;
    }
    invariant(data != NULL);
    if (data == in->data) {
        memmove(in->data, in->data + done, rest);
    } else if (in_grow(edge, connection, rest)) {
        memcpy(in->data, data + done, rest);
    } else {
        in_refuse(edge, connection);
        return;
    }
    in->size = (uint32_t)rest;
}

static void handle_kept(struct edge *edge, struct connection *connection)
{
    struct buffer *in = &connection->in;
    if (in->size == 0 || in->size < connection->need || !may_start(connection))
        return;
    size_t size = in->size;
    size_t done = handle_bytes(edge, connection, in->data, size);
    keep_bytes(edge, connection, in->data, size, done);
}

/* What follows from a recv: `got` bytes came after those that the connection had; there was
 * room for more. */
static void received(struct edge *edge, struct connection *connection, char *data, size_t room, ssize_t got)
{
    struct buffer *in = &connection->in;
    bool own = in->data != NULL;
    size_t have = own ? in->size : 0;
    invariant(data != NULL);
    if (got <= 0) {
        connection->readable = false;
        if (got == 0)
            connection->ended = true;
        else if (errno == EINTR)
            connection->readable = true;
        else if (errno != EAGAIN)
            connection->failed = true;
        return;
    }
    if ((size_t)got < room && !connection->hung_up)
        connection->readable = false; /* a short read: drained */
    size_t size = have + (size_t)got;
    if (own)
        in->size = (uint32_t)size;
    bool worth_it = size >= connection->need;
    if (connection->phase == PHASE_HEAD && size < HTTP_HEAD_MAX) /* byte by byte must not cost the square */
        worth_it = memchr(data + have, '\n', (size_t)got) != NULL;
    size_t done = worth_it ? handle_bytes(edge, connection, data, size) : 0;
    keep_bytes(edge, connection, data, size, done);
}

static void receive(struct edge *edge, struct connection *connection)
{
    struct buffer *in = &connection->in;
    bool own = in->data != NULL;
    size_t have = own ? in->size : 0;
    if (own && have == buffer_capacity(&edge->buffers, in) && !in_grow(edge, connection, have + 1)) {
        in_refuse(edge, connection);
        return;
    }
    char *data = own ? in->data : edge->in;
    size_t room = own ? buffer_capacity(&edge->buffers, in) - have : EDGE_IN_BYTES;
    received(edge, connection, data, room, connection_receive(edge, connection, data + have, room));
}

/* ---- the whole ---- */

void serve_finish(struct edge *edge, struct connection *connection)
{
    bool unread = connection->linger || connection->in.size > 0 || connection->readable;
    if (connection->ended || !unread) {
        serve_close(edge, connection);
        return;
    }
    linger_start(edge, connection);
}

void serve_settle(struct edge *edge, struct connection *connection)
{
    uint32_t *deadline = &edge->table.deadlines[connection->index];
    if (connection->failed) {
        serve_close(edge, connection);
    } else if (sending_pending(connection)) {
        *deadline = connection->send_until;
        if (connection->takes_more)
            serve_mark_dirty(edge, connection); /* no event will come: the others, then this one again */
    } else if (connection_owes(connection) > 0) {
        uint32_t until = connection_oldest(connection)->started_ms + edge->config.request_timeout_ms;
        *deadline = until == 0 ? 1 : until;
    } else if (connection->finishing) {
        serve_finish(edge, connection);
    } else if (connection->ended) {
        serve_close(edge, connection);
    } else if (connection->phase == PHASE_WEBSOCKET) {
        websocket_settle(edge, connection);
    } else if (connection->phase != PHASE_NONE) {
        *deadline = connection->phase_until;
    } else if (edge->draining && !connection->readable) {
        serve_close(edge, connection);
    } else {
        *deadline = edge_deadline(edge, edge->config.idle_timeout_ms);
    }
}

/* Everything that a connection can be in the middle of. */
static __attribute__((noinline)) void serve_fully(struct edge *edge, struct connection *connection)
{
    if (connection->lingering) {
        linger_on(edge, connection);
        return;
    }
    if (connection->phase == PHASE_WEBSOCKET) {
        websocket_serve(edge, connection);
        return;
    }
    edge->serving = connection;
    if (__builtin_expect(sending_pending(connection), 0))
        sending_continue(edge, connection);
    if (!sending_pending(connection) && !connection->failed) {
        uint64_t requests_max = edge->counts.requests + EDGE_REQUESTS_PER_TURN;
        replies_render_ready(edge, connection);
        handle_kept(edge, connection);
        while (connection->readable && may_start(connection) && edge->counts.requests < requests_max)
            receive(edge, connection);
        replies_render_ready(edge, connection); /* a refusal that needs no waiting */
        replies_flush(edge, connection);
        if (connection->readable && may_start(connection))
            serve_mark_dirty(edge, connection);
    }
    edge->serving = NULL;
    serve_settle(edge, connection);
}

/* ---- the usual case ---- */

/* Nearly every event is one whole request on a connection that has nothing else going on: one
 * recv, one answer, one send. Whatever else it was, serve_fully() goes on with what was received. */
static void serve_quick(struct edge *edge, struct connection *connection)
{
    struct http_request request;
    struct http_refusal refusal;
    size_t bytes;
    ssize_t got = socket_receive(connection->fd, edge->in, EDGE_IN_BYTES);
    if (__builtin_expect(got > 0 && got < EDGE_IN_BYTES, 1)) {
        enum http_parse_result result = http_parse(
            span_of(edge->in, (size_t)got), edge->config.body_max, &request, &bytes, &refusal);
        if (__builtin_expect(result == HTTP_PARSE_COMPLETE && bytes == (size_t)got
                    && request.keep_alive && !request.chunked && request.method != HTTP_HEAD,
                1)) {
            connection->readable = false;
            client_of_request(edge, connection, &request);
            quick_start(edge, connection, &request);
            return;
        }
    }
    received(edge, connection, edge->in, EDGE_IN_BYTES, got);
    serve_fully(edge, connection);
}

void serve(struct edge *edge, struct connection *connection)
{
    if (__builtin_expect(!edge->draining && connection->readable && connection_owes(connection) == 0
                && connection_is_calm(connection),
            1))
        serve_quick(edge, connection);
    else
        serve_fully(edge, connection);
}

void serve_expired(struct edge *edge, struct connection *connection)
{
    if (connection->phase == PHASE_WEBSOCKET && !connection->lingering
        && websocket_expired(edge, connection))
        return;
    edge->counts.timed_out++;
    bool waits_for_us = connection_owes(connection) > 0;
    bool is_partial = connection->phase != PHASE_NONE;
    if (sending_pending(connection)) { /* a reset: else the kernel keeps the unread megabytes for minutes */
        const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
        (void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
        serve_close(edge, connection);
        return;
    }
    if (connection->lingering || (!waits_for_us && !is_partial)) {
        serve_close(edge, connection);
        return;
    }
    connection_forgive(&edge->table, connection);
    connection->refuse_head = !waits_for_us
        && span_starts_with(span_of(connection->in.data, connection->in.size), SPAN("HEAD "));
    buffer_give(&edge->buffers, &connection->in);
    if (waits_for_us)
        serve_refuse(edge, connection, 504,
            "There was no answer in time. The change may have been made. Repeat the request with "
            "the same Idempotency-Key, or read the present state first.");
    else
        serve_refuse(edge, connection, 408, "the request did not arrive in time");
    serve(edge, connection);
}

void serve_drain(struct edge *edge, struct connection *connection)
{
    if (connection->phase == PHASE_WEBSOCKET)
        websocket_drain(edge, connection);
    else if (connection_owes(connection) > 0 || sending_pending(connection))
        connection->finishing = true;
    serve(edge, connection);
}
