/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/reply.c: how an edge answers: bytes, JSON, problems; and who is asking. */
#include "api/problems.h"
#include "edge/http_reply.h"
#include "funnel/token.h"
#include "gateway/gateway_parts.h"

struct span cors_headers(const struct routes *routes, uint8_t cors, char out[ORIGIN_BYTES_MAX + 64])
{
    if (cors == 0 || cors > routes->settings->origin_count)
        return SPAN_NONE;
    struct text text = text_in(out, ORIGIN_BYTES_MAX + 64);
    text_literal(&text, "Access-Control-Allow-Origin: ");
    text_string(&text, routes->settings->origins[cors - 1]);
    text_literal(&text, "\r\nVary: Origin\r\n");
    return text_span(&text);
}

enum edge_verdict reply_bytes(
    struct exchange *exchange, int status, struct span type, struct span headers, struct span body)
{
    char origin[ORIGIN_BYTES_MAX + 64], lines[512];
    struct text head = text_in(lines, sizeof lines);
    text_add(&head, headers);
    const struct span cors = cors_headers(exchange->routes, exchange->cors, origin);
    text_add(&head, cors);
    if (cors.size == 0 && exchange->routes->settings->origin_count > 0)
        text_literal(&head, "Vary: Origin\r\n"); /* another page would have got another answer */
    invariant(!head.overflow);
    http_reply(exchange->out, status, type, text_span(&head), body, exchange->closing);
    return EDGE_REPLIED;
}

enum edge_verdict reply_json(struct exchange *exchange, int status, const struct text *body, bool cacheable)
{
    if (body->overflow)
        return reply_problem(exchange, PROBLEM_INTERNAL, NULL);
    return reply_bytes(exchange, status, SPAN("application/json"),
        cacheable ? SPAN("Cache-Control: no-cache\r\n") : SPAN("Cache-Control: no-store\r\n"),
        text_span(body));
}

enum edge_verdict reply_problem(struct exchange *exchange, enum problem problem, const char *detail)
{
    char bytes[1024], lines[128];
    struct text body = text_in(bytes, sizeof bytes), head = text_in(lines, sizeof lines);
    if (problem == PROBLEM_METHOD) {
        const char *allow = routes_allow(exchange->request->path);
        if (allow == NULL)
            problem = PROBLEM_NOT_FOUND;
        else
            text_format(&head, "Allow: %s\r\n", allow);
    }
    problem_body(&body, problem, detail != NULL ? detail : exchange_detail(exchange, problem), SPAN_NONE);
    if (problem_texts[problem].status == 503)
        text_format(&head, "Retry-After: %u\r\n", retry_after_s(exchange->routes));
    text_add(&head, problem_header(problem));
    return reply_bytes(exchange, problem_texts[problem].status, SPAN("application/problem+json"),
        text_span(&head), text_span(&body));
}

enum edge_verdict reply_too_fast(struct exchange *exchange, uint32_t wait_ms)
{
    struct routes *routes = exchange->routes;
    const struct edge_answer answer = {
        .kind = PROBLEM_TOO_FAST, .flags = exchange->chinese ? ANSWER_CHINESE : 0, .a = wait_ms
    };
    char origin[ORIGIN_BYTES_MAX + 64];
    answer_render(&answer, &routes->keys, cors_headers(routes, exchange->cors, origin),
        exchange->closing, exchange->out);
    return EDGE_REPLIED;
}

bool session_good(const struct routes *routes, struct span token, struct session *session)
{
    return session_verify(&routes->keys, token, edge_now_ms(routes->edge), session) == TOKEN_OK
        && session_counts(&routes->settings->sessions, routes->door.bans, session);
}

bool session_of(struct exchange *exchange, struct session *session)
{
    struct span token;
    if (exchange->request->authorization.data == NULL) {
        reply_problem(exchange, PROBLEM_SESSION_REQUIRED, NULL);
        return false;
    }
    if (!token_bearer(exchange->request->authorization, &token)
        || !session_good(exchange->routes, token, session)) {
        routes_watch_failed(exchange);
        reply_problem(exchange, PROBLEM_SESSION_INVALID, NULL);
        return false;
    }
    return true;
}

user_id session_user(struct exchange *exchange)
{
    struct session session;
    return session_of(exchange, &session) ? session.user : 0;
}

channel_index exchange_channel(const struct exchange *exchange)
{
    struct session session;
    struct span token;
    const struct span authorization = exchange->request->authorization;
    return authorization.data != NULL && token_bearer(authorization, &token)
            && session_good(exchange->routes, token, &session)
        ? session.channel
        : 0;
}
