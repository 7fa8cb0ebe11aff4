/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/push_request.c: GET /v1/push: checks a request for a push connection and accepts it. */
#include "api/query.h"
#include "edge/websocket.h"
#include "funnel/token.h"
#include "gateway/anomaly_notes.h"
#include "gateway/exchange.h"
#include "gateway/push.h"
#include "gateway/push_subscription.h"
#include "gateway/reply.h"
#include "gateway/sessions.h"

static const struct span protocol = SPAN("stampede.v1");
static const struct span bearer_prefix = SPAN("bearer.");

/* A page of our own or of an origin that the configuration names; programs send none. */
static bool origin_is_allowed(const struct exchange *exchange)
{
    const struct http_request *request = exchange->request;
    struct span origin = request->origin;
    if (origin.data == NULL || exchange->to.cors != 0)
        return true;
    if (span_starts_with(origin, SPAN("https://")))
        origin = span_of(origin.data + 8, origin.size - 8);
    else if (span_starts_with(origin, SPAN("http://")))
        origin = span_of(origin.data + 7, origin.size - 7);
    else
        return false;
    return origin.size > 0 && span_equal_ignoring_case(origin, request->host);
}

/* Browsers can't set headers here: the session travels as a protocol name. */
static bool session_read(
    struct exchange *exchange, struct span protocols, struct span *chosen, struct session *session)
{
    struct span name, token = SPAN_NONE;
    *chosen = SPAN_NONE;
    if (exchange->request->authorization.data != NULL
        && !token_bearer(exchange->request->authorization, &token))
        token = SPAN(""); /* there, and no good */
    while (websocket_protocol_take(&protocols, &name)) {
        if (span_equal(name, protocol))
            *chosen = protocol;
        else if (token.data == NULL && span_starts_with(name, bearer_prefix))
            token = span_of(name.data + bearer_prefix.size, name.size - bearer_prefix.size);
    }
    if (token.data == NULL) {
        reply_problem(exchange, PROBLEM_SESSION_REQUIRED,
            "Send the session as the protocol bearer.<session>, or as Authorization: Bearer.");
        return false;
    }
    if (session_good(exchange->routes, token, session))
        return true;
    routes_watch_failed(exchange);
    reply_problem(exchange, PROBLEM_SESSION_INVALID, NULL);
    return false;
}

static enum edge_verdict reply_upgrade_required(struct exchange *exchange)
{
    return reply_refusal(exchange,
        &(struct problem_answer){ .problem = PROBLEM_UPGRADE,
            .headers = SPAN("Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n") });
}

static bool query_watch(struct exchange *exchange, struct push_watch *watch)
{
    const struct span list = query_value(exchange->request->query, "watch");
    *watch = (struct push_watch){ .count = 0 };
    if (list.data == NULL || push_watch_list(list, watch))
        return true;
    reply_problem(exchange, PROBLEM_BAD_QUERY, "watch must be 1 to 8 item numbers, separated by commas.");
    return false;
}

/* ?room=N: a sale that is public. */
static bool query_room(struct exchange *exchange, sale_id *room)
{
    const struct span value = query_value(exchange->request->query, "room");
    *room = 0;
    if (value.data == NULL || (span_to_u32(value, room) == STATUS_OK && *room != 0))
        return true;
    reply_problem(exchange, PROBLEM_BAD_QUERY, "room must be the number of a sale.");
    return false;
}

enum edge_verdict push_request(struct exchange *exchange)
{
    struct websocket_offer offer;
    struct session session;
    struct push_watch watch;
    struct span chosen;
    sale_id room;
    if (exchange->head_only)
        return reply_problem(exchange, PROBLEM_METHOD, NULL);
    if (!origin_is_allowed(exchange))
        return reply_problem(exchange, PROBLEM_ORIGIN, NULL);
    switch (websocket_offer_read(exchange->request, &offer)) {
    case WEBSOCKET_NOT_ASKED:
    case WEBSOCKET_OTHER_VERSION:
        return reply_upgrade_required(exchange);
    case WEBSOCKET_MALFORMED:
        return reply_problem(exchange, PROBLEM_MALFORMED, "The upgrade to WebSocket is not well-formed.");
    case WEBSOCKET_WELCOME:
        break;
    }
    if (!session_read(exchange, offer.protocols, &chosen, &session)
        || routes_banned(exchange, session.user) || !query_watch(exchange, &watch)
        || !query_room(exchange, &room))
        return EDGE_REPLIED;
    if (offer.protocols.data != NULL && chosen.data == NULL)
        return reply_problem(exchange, PROBLEM_MALFORMED, "Offer the protocol stampede.v1.");
    if (exchange->to.closing || push_is_full(exchange->routes))
        return reply_problem(exchange, PROBLEM_TOO_POPULAR, NULL);
    websocket_accept(exchange->out, &offer, chosen);
    push_add(exchange, &session, &watch, room);
    return EDGE_UPGRADED;
}
