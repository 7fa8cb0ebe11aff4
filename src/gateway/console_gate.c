/* SPDX-License-Identifier: Apache-2.0 */
/* gateway/console_gate.c: signing in to the console, and requests to the admin API that show a session
 * instead of a key.
 *
 * The session is a cookie that scripts can't read and that other sites can't send (HttpOnly,
 * SameSite=Strict). Over TLS it is also Secure and has the prefix __Host-, so that no other host of the
 * shop's domain can set it. A page of another origin of the same site could still send it, so each request
 * with a session, and each sign-in, must have the header Stampede-Console, which such a page can't add
 * without our leave (CORS), and what the browser says about its origin must be this server. */
#include "gateway/console_gate.h"

#include "base/json_write.h"
#include "funnel/limits.h"
#include "funnel/token.h"
#include "gateway/admin_gate.h"
#include "gateway/anomaly_notes.h"
#include "gateway/console_password.h"
#include "gateway/console_sessions.h"
#include "gateway/exchange.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "gateway/settings.h"

#include <string.h>

#define COOKIE "stampede-console"
static const char strange[] = "This request did not come from a page of this server.";

/* The value of a header that has no place in http_request; the first one. */
static struct span header_find(const struct http_request *request, struct span wanted)
{
    struct span lines = http_header_lines(request), line, name;
    while (span_take_until(&lines, '\n', &line)) {
        line.size -= line.size > 0; /* the CR */
        if (span_take_until(&line, ':', &name) && span_equal_ignoring_case(name, wanted))
            return span_trim(line, SPAN(" \t"));
    }
    return SPAN_NONE;
}

/* The one that only this host can have set goes first. */
struct span console_cookie(const struct http_request *request, bool *secure)
{
    struct span lines = http_header_lines(request), line, name, pair, id = SPAN_NONE;
    *secure = false;
    while (span_take_until(&lines, '\n', &line)) {
        line.size -= line.size > 0;
        if (!span_take_until(&line, ':', &name) || !span_equal_ignoring_case(name, SPAN("cookie")))
            continue;
        while (span_take_until(&line, ';', &pair)) {
            struct span value = span_trim(pair, SPAN(" \t"));
            if (!span_take_until(&value, '=', &name))
                continue;
            const bool host = span_equal(name, SPAN("__Host-" COOKIE));
            if (host || (span_equal(name, SPAN(COOKIE)) && !*secure)) {
                id = value;
                *secure = host;
            }
        }
    }
    return id;
}

/* "https://shop.example" names the host "shop.example". */
static bool origin_is(struct span origin, struct span host)
{
    const size_t scheme = span_starts_with(origin, SPAN("https://")) ? 8 : 7;
    return origin.size > scheme && (scheme == 8 || span_starts_with(origin, SPAN("http://")))
        && span_equal_ignoring_case(span_of(origin.data + scheme, origin.size - scheme), host);
}

/* Whether it came from a page of ours, as far as the browser says. */
static bool from_our_page(const struct http_request *request)
{
    const struct span site = header_find(request, SPAN("sec-fetch-site"));
    if (header_find(request, SPAN("stampede-console")).size == 0)
        return false;
    if (site.size > 0)
        return span_equal(site, SPAN("same-origin"));
    return request->origin.data == NULL || origin_is(request->origin, request->host);
}

bool console_session_shown(const struct http_request *request)
{
    bool secure;
    return request->authorization.data == NULL && console_cookie(request, &secure).size > 0;
}

/* NULL: no session, or its key is gone. */
static const struct admin_key *session_key(struct exchange *exchange, uint64_t *ends_ms)
{
    struct routes *routes = exchange->routes;
    uint8_t hash[HASH_SHA256_BYTES];
    bool secure;
    const struct span id = console_cookie(exchange->request, &secure);
    if (!console_sessions_find(routes->shared.console, id, edge_now_ms(routes->edge), hash, ends_ms))
        return NULL;
    const struct admin_key *key = admin_keys_find_hash(routes->admin, hash);
    if (key == NULL)
        console_sessions_end(routes->shared.console, id);
    return key;
}

const struct admin_key *console_key(struct exchange *exchange)
{
    uint64_t ends_ms;
    if (!from_our_page(exchange->request)) {
        reply_problem(exchange, PROBLEM_ORIGIN, strange);
        return NULL;
    }
    const struct admin_key *key = session_key(exchange, &ends_ms);
    if (key == NULL)
        admin_refuse(exchange, false);
    return key;
}

/* The cookie's attributes. An empty id takes it away. */
static void cookie_write(struct text *out, bool secure, struct span id)
{
    text_literal(out, "Cache-Control: no-store\r\nSet-Cookie: ");
    text_string(out, secure ? "__Host-" COOKIE "=" : COOKIE "=");
    text_add(out, id);
    text_literal(out, "; Path=/; HttpOnly; SameSite=Strict");
    text_string(out, secure ? "; Secure" : "");
    text_string(out, id.size == 0 ? "; Max-Age=0\r\n" : "\r\n");
    invariant(!out->overflow);
}

static void session_write(struct text *body, const struct admin_key *key, uint64_t ends_ms)
{
    json_object_begin(body, NULL);
    json_text(body, "name", key->name);
    json_text(body, "role", admin_role_name(key->right.role));
    json_u64(body, "ends_ms", ends_ms);
    json_u64(body, "idle_ms", CONSOLE_IDLE_MS);
    json_object_end(body);
    invariant(!body->overflow);
}

void console_session_begin(struct routes *routes, const struct admin_key *key,
    const struct console_sign_in *sign_in, struct text *head, struct text *body)
{
    const uint64_t now_ms = edge_now_ms(routes->edge);
    char id[CONSOLE_ID_CHARS];
    console_sessions_end(routes->shared.console, sign_in->replaced);
    console_sessions_begin(routes->shared.console, key->hash, now_ms, id);
    cookie_write(head, sign_in->secure, span_of(id, sizeof id));
    session_write(body, key, now_ms + CONSOLE_LIFE_MS);
}

/* The key of who signs in: shown, or behind the invitation that is shown. NULL: answered. */
static const struct admin_key *sign_in_key(struct exchange *exchange)
{
    struct routes *routes = exchange->routes;
    uint8_t hash[HASH_SHA256_BYTES];
    struct span token;
    if (exchange->request->authorization.data == NULL
        || !token_bearer(exchange->request->authorization, &token)
        || !span_starts_with(token, SPAN(CONSOLE_INVITE_PREFIX)))
        return admin_key_shown(exchange);
    if (admin_must_wait(exchange))
        return NULL;
    const struct admin_key *key = NULL;
    if (console_sessions_accept(routes->shared.console, token, edge_now_ms(routes->edge), hash))
        key = admin_keys_find_hash(routes->admin, hash);
    if (key == NULL)
        admin_refuse(exchange, true);
    return key;
}

static enum edge_verdict sign_in(struct exchange *exchange)
{
    char lines[CONSOLE_HEAD_BYTES], bytes[CONSOLE_BODY_BYTES];
    struct text head = text_in(lines, sizeof lines), body = text_in(bytes, sizeof bytes);
    bool secure;
    const struct console_sign_in sign_in = { .replaced = console_cookie(exchange->request, &secure),
        .secure = edge_is_secure(exchange->routes->edge)
            || span_starts_with(exchange->request->origin, SPAN("https://")) };
    struct span credentials;
    if (console_password_shown(exchange->request, &credentials))
        return console_password_sign_in(exchange, credentials, &sign_in);
    const struct admin_key *key = sign_in_key(exchange);
    if (key == NULL)
        return EDGE_REPLIED;
    console_session_begin(exchange->routes, key, &sign_in, &head, &body);
    return reply_bytes(exchange, 201, SPAN("application/json"), text_span(&head), text_span(&body));
}

static enum edge_verdict sign_out(struct exchange *exchange)
{
    char lines[CONSOLE_HEAD_BYTES];
    bool secure;
    struct text head = text_in(lines, sizeof lines);
    console_sessions_end(exchange->routes->shared.console, console_cookie(exchange->request, &secure));
    cookie_write(&head, secure, SPAN_NONE);
    return reply_bytes(exchange, 204, SPAN_NONE, text_span(&head), SPAN_NONE);
}

/* Asked by the page before anybody has signed in: no refusal, but it counts against the address. */
static enum edge_verdict nobody_reply(struct exchange *exchange)
{
    struct routes *routes = exchange->routes;
    if (routes_address_banned(exchange))
        return EDGE_REPLIED;
    const uint32_t wait_ms =
        limits_address(routes->shared.limits, exchange->request->client, edge_now_ms(routes->edge));
    return wait_ms != 0
        ? reply_too_fast(exchange, wait_ms)
        : reply_bytes(exchange, 204, SPAN_NONE, SPAN("Cache-Control: no-store\r\n"), SPAN_NONE);
}

enum edge_verdict console_session_request(struct exchange *exchange)
{
    const enum http_method method = exchange->request->method;
    uint64_t ends_ms;
    if (method != HTTP_GET && method != HTTP_POST && method != HTTP_DELETE)
        return reply_problem(exchange, PROBLEM_METHOD, NULL);
    if (!from_our_page(exchange->request))
        return reply_problem(exchange, PROBLEM_ORIGIN, strange);
    if (method == HTTP_POST)
        return sign_in(exchange);
    if (method == HTTP_DELETE)
        return sign_out(exchange);
    const struct admin_key *key = session_key(exchange, &ends_ms);
    if (key == NULL)
        return nobody_reply(exchange);
    char bytes[CONSOLE_BODY_BYTES];
    struct text body = text_in(bytes, sizeof bytes);
    session_write(&body, key, ends_ms);
    return reply_json(exchange, 200, &body, false);
}
