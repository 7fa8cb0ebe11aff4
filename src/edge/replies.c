/* SPDX-License-Identifier: Apache-2.0 */
/* edge/replies.c: the answers of one connection, in the order of its requests. */
#include "edge/replies.h"

#include "edge/http_reply.h"
#include "edge/sending.h"

void replies_flush(struct edge *edge, struct connection *connection)
{
    if (edge->out.size + edge->body.size > 0 && !connection->failed)
        sending_start(edge, connection, text_span(&edge->out), edge->body);
    edge->out.size = 0;
    edge->body = SPAN_NONE;
}

static void render_refusal(struct edge *edge, struct connection *connection, int status, const char *why)
{
    size_t from = edge->out.size;
    edge->handler.refuse(edge->handler.self, status, why, &edge->out);
    invariant(!edge->out.overflow);
    if (connection->refuse_head)
        http_reply_cut_body(&edge->out, from);
    if (connection->secure)
        secure_mark(edge, from);
    edge->counts.refused++;
    connection->refuse_status = 0;
    connection->finishing = true;
    connection->linger = true;
}

void replies_check(struct edge *edge, struct connection *connection, size_t from, bool head_only)
{
    if (__builtin_expect(edge->out.overflow, 0)) {
        edge->out.overflow = false;
        edge->out.size = from;
        edge->body = SPAN_NONE;
        render_refusal(edge, connection, 500, "the answer is too long");
    } else if (connection->secure) {
        secure_mark(edge, from);
    }
    if (__builtin_expect(head_only, 0)) {
        http_reply_cut_body(&edge->out, from);
        edge->body = SPAN_NONE;
    }
}

static void replies_render(struct edge *edge, struct connection *connection,
    const struct edge_answer *answer, bool head_only, bool closing)
{
    size_t from = edge->out.size;
    edge->handler.render(edge->handler.self, answer, closing, &edge->out);
    replies_check(edge, connection, from, head_only);
}

bool replies_have_room(struct edge *edge, struct connection *connection)
{
    if (edge->out.size >= EDGE_OUT_FLUSH || edge->body.size > 0)
        replies_flush(edge, connection);
    return !connection->failed && !sending_pending(connection);
}

void replies_render_ready(struct edge *edge, struct connection *connection)
{
    while (connection_owes(connection) > 0 && replies_have_room(edge, connection)) {
        struct reply *reply = connection_oldest(connection);
        if (reply->state == REPLY_WAITING)
            return;
        bool last = connection->finishing && connection->refuse_status == 0
            && connection_owes(connection) == 1;
        if (reply->state == REPLY_ANSWERED) {
            replies_render(edge, connection, &reply->answer, reply->head_only, last);
        } else {
            size_t from = edge->out.size;
            text_add(&edge->out, span_of(reply->bytes.data, reply->bytes.size));
            replies_check(edge, connection, from, reply->head_only);
        }
        connection_paid(&edge->table, connection);
        connection->blocked = false;
    }
    if (connection->refuse_status != 0 && connection_owes(connection) == 0
        && replies_have_room(edge, connection))
        render_refusal(edge, connection, connection->refuse_status, connection->refuse_why);
}
