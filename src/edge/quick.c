/* SPDX-License-Identifier: Apache-2.0 */
#include "edge/quick.h"

#include "edge/replies.h"
#include "edge/sending.h"
#include "edge/serve.h"

#include <errno.h>

/* The only thing to send; afterwards the connection is idle. */
static inline void send_only(struct edge *edge, struct connection *connection, struct span bytes)
{
    edge->table.deadlines[connection->index] = edge_deadline(edge, edge->config.idle_timeout_ms);
    const ssize_t sent = socket_send(connection->fd, bytes.data, bytes.size);
    if (__builtin_expect(sent == (ssize_t)bytes.size, 1))
        return;
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        connection->failed = true;
    connection->takes_more = false; /* an event will come */
    sending_keep(edge, connection, bytes, SPAN_NONE, sent < 0 ? 0 : (size_t)sent);
    serve_settle(edge, connection);
}

static inline void send_out(struct edge *edge, struct connection *connection)
{
    const struct span bytes = text_span(&edge->out);
    edge->out.size = 0;
    send_only(edge, connection, bytes);
}

/* Not only bytes of the out buffer, or not all that follows is to be idle. */
static void send_fully(struct edge *edge, struct connection *connection)
{
    replies_flush(edge, connection);
    serve_settle(edge, connection);
}

static inline void answer_send(
    struct edge *edge, struct connection *connection, const struct edge_answer *answer)
{
    if (__builtin_expect(edge->handler.ready != NULL, 1)) {
        const struct span bytes = edge->handler.ready(edge->handler.self, answer);
        if (bytes.size > 0) {
            send_only(edge, connection, bytes);
            return;
        }
    }
    edge->handler.render(edge->handler.self, answer, false, &edge->out);
    if (__builtin_expect(!edge->out.overflow, 1)) {
        send_out(edge, connection);
    } else {
        replies_check(edge, connection, 0, false);
        send_fully(edge, connection);
    }
}

void quick_start(struct edge *edge, struct connection *connection, const struct http_request *request)
{
    struct edge_reply given;
    given.body = SPAN_NONE;
    given.timed = EDGE_NOT_TIMED;
    uint64_t token = connection_token(connection, connection->sequence_next);
    edge->counts.requests++;
    enum edge_verdict verdict =
        edge->handler.request(edge->handler.self, request, token, false, &edge->out, &given);
    if (verdict == EDGE_DEFERRED) {
        struct reply *reply = connection_owe(connection, edge->now);
        edge->table.deadlines[connection->index] = edge_deadline(edge, edge->config.request_timeout_ms);
        reply->timed = given.timed;
        reply->since_ns = edge->turn_ns;
        invariant(edge->out.size == 0 && reply->state == REPLY_WAITING);
        return;
    }
    connection->sequence_next++;
    connection->sequence_done++;
    if (__builtin_expect(verdict == EDGE_ANSWERED, 1)) {
        answer_send(edge, connection, &given.answer);
        return;
    }
    const bool plain = serve_answer_now(edge, connection, verdict, &given, 0, false, false);
    if (__builtin_expect(plain && edge->body.size == 0 && !connection->finishing, 1))
        send_out(edge, connection);
    else
        send_fully(edge, connection);
}

bool quick_answer(struct edge *edge, struct connection *connection, const struct edge_answer *answer)
{
    if (connection_owes(connection) != 1 || connection->queue.data != NULL || edge->draining
        || connection->single.head_only || connection->readable || !connection_is_calm(connection)
        || edge->out.size != 0)
        return false;
    connection->sequence_done++;
    answer_send(edge, connection, answer);
    return true;
}
