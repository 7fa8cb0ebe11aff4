/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/sessions.h"

#include "funnel/session_rules.h"
#include "funnel/switches.h"
#include "funnel/token.h"
#include "gateway/anomaly_notes.h"
#include "gateway/exchange.h"
#include "gateway/reply.h"
#include "gateway/routes_state.h"
#include "gateway/settings.h"

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

bool sessions_refuse_new(const struct routes *routes)
{
    return switch_value(routes->shared.switches, SWITCH_REFUSE_NEW) != 0;
}
