/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/console_password.h"

#include "base/base64.h"
#include "funnel/limits.h"
#include "gateway/admin_gate.h"
#include "gateway/console_gate.h"
#include "gateway/exchange.h"
#include "gateway/password_checks.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "gateway/settings.h"

#include <string.h>

enum { CREDENTIALS_BYTES_MAX = ADMIN_NAME_MAX + 1 + PASSWORD_BYTES_MAX, ONE_WAITS_MS = 1000 };

bool console_password_shown(const struct http_request *request, struct span *credentials)
{
    static const struct span scheme = SPAN("basic ");
    const struct span shown = request->authorization;
    if (shown.size <= scheme.size || !span_equal_ignoring_case(span_of(shown.data, scheme.size), scheme))
        return false;
    *credentials = span_of(shown.data + scheme.size, shown.size - scheme.size);
    return true;
}

/* What is to be checked. A name that no user has is checked as long as any other, so that the time does not
 * tell which names there are. */
static struct password_check check_make(
    struct exchange *exchange, struct span name, const struct console_sign_in *sign_in)
{
    struct password_check check = {
        .to = exchange->to, .client = *exchange->request->client, .secure = sign_in->secure
    };
    const struct admin_key *key = admin_keys_find_password(exchange->routes->admin, name);
    if (key != NULL) {
        check.known = true;
        memcpy(check.salt, key->salt, sizeof check.salt);
        memcpy(check.expected, key->hash, sizeof check.expected);
    }
    if (sign_in->replaced.size == sizeof check.replaced) {
        memcpy(check.replaced, sign_in->replaced.data, sizeof check.replaced);
        check.replaced_size = sizeof check.replaced;
    }
    return check;
}

/* Each password costs the server a good part of a second, so unlike a key it counts against the rate of its
 * address before it is looked at. */
static bool must_wait(struct exchange *exchange)
{
    struct routes *routes = exchange->routes;
    const struct address *client = exchange->request->client;
    const uint64_t now_ms = edge_now_ms(routes->edge);
    const uint32_t wait_ms = password_checks_wait_ms(routes->shared.passwords, client, now_ms);
    if (wait_ms != 0) {
        admin_wait(exchange, wait_ms);
        return true;
    }
    const uint32_t fast_ms = limits_address(routes->shared.limits, client, now_ms);
    if (fast_ms != 0)
        reply_too_fast(exchange, fast_ms);
    return fast_ms != 0;
}

enum edge_verdict console_password_sign_in(
    struct exchange *exchange, struct span credentials, const struct console_sign_in *sign_in)
{
    char bytes[CREDENTIALS_BYTES_MAX];
    size_t size = sizeof bytes;
    struct span name, password;
    if (must_wait(exchange))
        return EDGE_REPLIED;
    if (base64_standard_decode(credentials, bytes, &size) != STATUS_OK)
        return admin_refuse(exchange, false);
    password = span_of(bytes, size);
    enum password_place place = PASSWORD_FULL;
    const bool shaped = span_take_until(&password, ':', &name) && password.size <= PASSWORD_BYTES_MAX;
    if (shaped) {
        const struct password_check check = check_make(exchange, name, sign_in);
        place = password_checks_add(
            exchange->routes->shared.passwords, exchange->routes->index, &check, password);
    }
    explicit_bzero(bytes, sizeof bytes);
    if (!shaped)
        return admin_refuse(exchange, false);
    if (place == PASSWORD_WAITS)
        return EDGE_DEFERRED;
    return place == PASSWORD_FULL ? admin_busy(exchange) : reply_too_fast(exchange, ONE_WAITS_MS);
}

static void check_answer(struct routes *routes, const struct password_check *check, bool right)
{
    char lines[CONSOLE_HEAD_BYTES], bytes[CONSOLE_BODY_BYTES];
    struct text head = text_in(lines, sizeof lines), body = text_in(bytes, sizeof bytes);
    const struct console_sign_in sign_in = { .replaced = span_of(check->replaced, check->replaced_size),
        .secure = check->secure };
    /* The file may have been read anew meanwhile. */
    const struct admin_key *key = right ? admin_keys_find_hash(routes->admin, check->expected) : NULL;
    if (key == NULL) {
        admin_refuse_later(routes, &check->to, &check->client);
        return;
    }
    console_session_begin(routes, key, &sign_in, &head, &body);
    complete_bytes(routes, &check->to, 201, SPAN("application/json"), text_span(&head), text_span(&body));
}

void console_passwords_turn(struct routes *routes)
{
    struct password_check check;
    bool right;
    while (password_checks_take(routes->shared.passwords, routes->index, &check, &right))
        check_answer(routes, &check, right);
}
